import { afterEach, expect, test } from 'vitest'
import { LeaderProvider } from '../../../replica/react/hooks/leader-provider.tsx'
import type { App } from '../../../replica/tui/app/app-context.ts'
import { TasksScreen } from '../../../replica/tui/screens/tasks.tsx'
import { widthOf } from '../../../replica/tui/text/measure.ts'
import type { Task } from '../../../schema/entities/task.ts'
import { SessionStage } from '../../support/react/session-stage.ts'
import { RenderedPart } from '../../support/tui/render-part.tsx'
import { waitFor } from '../../support/wait-for.ts'

const parts: RenderedPart[] = []
afterEach(() => {
  for (const part of parts.splice(0)) part.close()
})

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
  task('T1.1', { status: 'completed', completionEvidence: 'all 12 tests are green' }),
  task('T1.2', { status: 'blocked', blockedReason: 'no key' }),
  task('T2', { status: 'failed', failureReason: 'no disk' }),
]

function tasksScreen(items: readonly Task[], { columns = 80, rows = 12 } = {}) {
  const stage = new SessionStage()
  stage.set({ tasks: { revision: '1', items } })
  const did: string[] = []
  const app: Partial<App> = {
    store: stage.store,
    tell: text => void did.push(text),
    copy: text => void did.push(`copy ${text}`),
    back: () => void did.push('back'),
    go: route => void did.push(`go ${route.name}`),
    show: overlay => void did.push(`show ${overlay?.kind}`),
  }
  const part = new RenderedPart(
    <LeaderProvider store={stage.store}>
      <TasksScreen sessionId={stage.sessionId} columns={columns} rows={rows} />
    </LeaderProvider>,
    { columns, app },
  )
  parts.push(part)
  const trimmed = () => part.rows.map(row => row.trimEnd()).filter(row => row !== '')
  return {
    part,
    stage,
    did,
    trimmed,
    set: (next: readonly Task[]) => stage.set({ tasks: { revision: '2', items: next } }),
  }
}

test('K1 experience 6.4 tasks are a tree with state in words, owner and reason, and the screen says that it is to be read', async () => {
  const { part, trimmed } = tasksScreen(ITEMS)
  await part.seen('T2')
  expect(trimmed()).toEqual([
    ' 4 tasks: 1 in progress, 1 blocked, 1 failed, 1 done · read only',
    expect.stringMatching(/^ › T1 \[>\] Do T1 +in progress · alice$/),
    expect.stringMatching(/^ {5}T1\.1 \[x\] Do T1\.1 +done$/),
    expect.stringMatching(/^ {5}T1\.2 \[\?\] Do T1\.2 +blocked: no key$/),
    expect.stringMatching(/^ {3}T2 \[!\] Do T2 +failed: no disk$/),
  ])
})

test('experience 6.4 Enter unfolds what shows that a task is done, and folds it again', async () => {
  const { part } = tasksScreen(ITEMS, { columns: 40 })
  await part.seen('T2')
  expect(part.text).not.toContain('green')
  part.press('down')
  await part.seen('› ')
  await waitFor(() => part.rows.some(row => /› +T1\.1/.test(row)))
  part.press('enter')
  await part.seen(/evidence: all 12 tests[\s\S]*green/)
  part.press('enter')
  await waitFor(() => !part.text.includes('green'))
})

test('experience 6.4 f goes through the states, / picks by text, esc shows all again and then goes back', async () => {
  const { part, did } = tasksScreen(ITEMS)
  await part.seen('T2')
  part.press('f')
  await part.seen('only in progress')
  expect(part.text).not.toContain('T2')
  part.press('f')
  await part.seen('only blocked')
  await part.seen(/T1 .*\n.*T1\.2/)
  part.press('esc')
  await part.seen('T2')
  part.press('/')
  await part.seen(' / ')
  part.press(...'green')
  await part.seen('/ green')
  await waitFor(() => !part.text.includes('T2'))
  part.press(...'zzz')
  await part.seen('No task is like that')
  part.press('esc')
  await part.seen('T2')
  part.press('esc', 'p', 'i', 'L', 's')
  expect(did).toEqual(['back', 'go plan', 'go inspector', 'go list', 'show switcher'])
})

test('experience 6.4 the marked task stays marked and in its place while others come and change', async () => {
  const many = Array.from({ length: 30 }, (_, i) => task(`T${i + 2}`))
  const { part, set } = tasksScreen(many, { rows: 6 })
  await part.seen('T2 ')
  part.press('G')
  await part.seen(/› T31 /)
  part.press('up', 'up')
  await part.seen(/› T29 /)
  const row = part.rows.findIndex(text => text.includes('›'))
  set([
    task('T1'),
    task('T1.1'),
    ...many.map(each => (each.key === 'T29' ? { ...each, status: 'in_progress' as const } : each)),
  ])
  await part.seen(/› T29 \[>\]/)
  expect(part.rows.findIndex(text => text.includes('›'))).toBe(row)
})

test('Z6 experience 6.4 nothing in a task reaches the terminal as a command or leaves its row', async () => {
  const evil = 'a\u001b[2J\u009b31m\nb\u202e\u0007c'
  const wide = '漢字'.repeat(60)
  const hostile = [
    task('T1', { subject: evil, owner: evil, status: 'blocked', blockedReason: evil }),
    task('T2', { subject: wide, owner: wide, status: 'completed', completionEvidence: evil }),
    task('T1.1.1.1.1.1.1.1.1.1.1.1', { subject: wide, status: 'failed', failureReason: wide }),
  ]
  for (const columns of [80, 40]) {
    const { part } = tasksScreen(hostile, { columns, rows: 40 })
    await part.seen('T2')
    part.press('enter')
    await part.seen('why: ')
    part.press('down')
    await part.seen(/› T2/)
    part.press('enter')
    await part.seen('evidence: ')
    expect(part.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    expect(part.rows.map(row => widthOf(row)).filter(width => width > columns)).toEqual([])
  }
})

test('K1 experience 6.4 without tasks the screen says so', async () => {
  const { part } = tasksScreen([], { columns: 40 })
  await part.seen('The agent has written down')
  expect(part.rows.map(row => row.trim()).filter(row => row !== '')).toEqual([
    'no tasks · read only',
    'The agent has written down no tasks.',
  ])
})
