import fc from 'fast-check'
import { expect, test } from 'vitest'
import { headLine, rowLine } from '../../replica/tui/screens/list-lines.ts'
import { lineWidth } from '../../replica/tui/text/measure.ts'
import { sessionRows } from '../../replica/view/session-list.ts'
import type { CatalogRow } from '../../schema/entities/projection.ts'

const NOW = 10_000_000

function row(sessionId: string, over: Partial<CatalogRow> = {}): CatalogRow {
  return {
    sessionId,
    title: sessionId,
    status: 'idle',
    isArchived: false,
    lastActivityAt: NOW - 60_000,
    queueCount: 0,
    pendingCount: 0,
    revision: 1,
    ...over,
  }
}

const childOf = (sessionId: string) => ({ sessionId, turnId: 't', agentId: 'a', agentName: 'Helper' })

test('experience 6.4 who waits for a person comes first, then who was active last', () => {
  const rows = [
    row('old', { lastActivityAt: NOW - 500_000 }),
    row('new', { lastActivityAt: NOW - 1_000 }),
    row('asks', { pendingCount: 2, lastActivityAt: NOW - 900_000 }),
  ]
  const shown = sessionRows(rows, { now: NOW })
  expect(shown.map(({ sessionId }) => sessionId)).toEqual(['asks', 'new', 'old'])
  expect(shown[0]).toMatchObject({ state: 'waits for you', tone: 'warn', waiting: 2, activity: '15m' })
})

test('T13 children stand below their parent, also where a list names a parent that is not there or itself', () => {
  const rows = [
    row('grandchild', { parent: childOf('child') }),
    row('child', { parent: childOf('top') }),
    row('top', { lastActivityAt: NOW - 900_000 }),
    row('stray', { parent: childOf('gone') }),
    row('self', { parent: childOf('self') }),
  ]
  const shown = sessionRows(rows, { now: NOW })
  expect(shown.map(({ sessionId, depth }) => [sessionId, depth])).toEqual([
    ['stray', 0],
    ['self', 0],
    ['top', 0],
    ['child', 1],
    ['grandchild', 2],
  ])
})

test('experience 7.2 a filter finds by title, archived ones only where they are looked for', () => {
  const rows = [
    row('a', { title: 'Fix login bug' }),
    row('b', { title: 'Release' }),
    row('c', { title: 'Login page', isArchived: true }),
  ]
  expect(sessionRows(rows, { now: NOW, filter: 'login' }).map(({ sessionId }) => sessionId)).toEqual(['a'])
  expect(
    sessionRows(rows, { now: NOW, filter: 'login', showArchived: true }).map(({ sessionId }) => sessionId),
  ).toEqual(['c'])
})

test('Z6 experience 7.3 whatever a title holds, a row is as wide as the screen and has no control character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.integer({ min: 40, max: 200 }),
      fc.boolean(),
      (title, columns, isMarked) => {
        const [shown] = sessionRows([row('s', { title: `\u001b[31m${title}\u202e界` })], { now: NOW })
        const line = rowLine(shown!, columns, isMarked)
        expect(lineWidth(line)).toBeLessThanOrEqual(columns)
        expect(line.map(({ text }) => text).join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/)
      },
    ),
  )
  expect(lineWidth(headLine(80))).toBeLessThanOrEqual(80)
})
