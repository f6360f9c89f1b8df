import { expect, test } from 'vitest'
import { countWords, filterWords, nextFilter, taskRows } from '../../../replica/view/tasks/task-rows.ts'
import type { Task } from '../../../schema/entities/task.ts'

const task = (key: string, more: Partial<Task> = {}): Task => ({
  id: `id-${key}`,
  key,
  subject: `Do ${key}`,
  status: 'pending',
  createdAt: 1,
  updatedAt: 1,
  ...more,
})

const ITEMS: readonly Task[] = [
  task('T1', { status: 'in_progress', owner: 'alice' }),
  task('T1.1', { status: 'completed', completionEvidence: 'tests are green', blockedReason: 'was blocked' }),
  task('T1.2', { status: 'blocked', blockedReason: 'no key' }),
  task('T2', { status: 'failed', failureReason: 'no disk' }),
]

const keys = (rows: ReturnType<typeof taskRows>) => rows.map(({ key, isMatch }) => (isMatch ? key : `(${key})`))

test('K1 experience 6.4 tasks are a tree by their keys, each with state, owner and why it stands', () => {
  expect(taskRows(ITEMS, { filter: 'all', text: '' })).toEqual([
    expect.objectContaining({ key: 'T1', depth: 0, mark: '[>]', state: 'in progress', owner: 'alice', reason: '' }),
    expect.objectContaining({ key: 'T1.1', depth: 1, state: 'done', reason: '', evidence: 'tests are green' }),
    expect.objectContaining({ key: 'T1.2', depth: 1, mark: '[?]', state: 'blocked', reason: 'no key' }),
    expect.objectContaining({ key: 'T2', depth: 0, mark: '[!]', state: 'failed', reason: 'no disk' }),
  ])
})

test('experience 6.4 tasks are picked by state and by text, with the parents they stand below', () => {
  expect(keys(taskRows(ITEMS, { filter: 'blocked', text: '' }))).toEqual(['(T1)', 'T1.2'])
  expect(keys(taskRows(ITEMS, { filter: 'all', text: ' GREEN ' }))).toEqual(['(T1)', 'T1.1'])
  expect(keys(taskRows(ITEMS, { filter: 'failed', text: 'green' }))).toEqual([])
  expect(filterWords('blocked')).toBe('only blocked')
  expect(filterWords('all')).toBe('')
})

test('experience 6.4 the filter goes through the states that there are, and back to all', () => {
  const seen = [nextFilter('all', ITEMS)]
  for (let i = 0; i < 4; i++) seen.push(nextFilter(seen.at(-1) as (typeof seen)[number], ITEMS))
  expect(seen).toEqual(['in_progress', 'blocked', 'failed', 'completed', 'all'])
  expect(nextFilter('all', [])).toBe('all')
})

test('experience 6.4 tasks are counted by state', () => {
  expect(countWords(ITEMS)).toBe('4 tasks: 1 in progress, 1 blocked, 1 failed, 1 done')
  expect(countWords([task('T1')])).toBe('1 task: 1 to do')
  expect(countWords([])).toBe('no tasks')
})
