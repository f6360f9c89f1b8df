import { expect, test } from 'vitest'
import { farewellOf } from '../../replica/tui/app/farewell.ts'
import { headerLine } from '../../replica/tui/app/header-line.ts'
import { currentRoute, popRoute, pushRoute, type RouteStack } from '../../replica/tui/app/route-stack.ts'
import { statusLine } from '../../replica/tui/app/status-line.ts'
import { lineWidth } from '../../replica/tui/text/measure.ts'
import { EMPTY_TASKS_REVISION, type SessionProjection } from '../../schema/entities/projection.ts'

const SESSION: SessionProjection = {
  session: {
    sessionId: 's1',
    title: 'fix login bug',
    titleIsManual: true,
    cwd: '/srv/proj',
    backend: 'scripted',
    permissionMode: 'ask',
    collaborationMode: 'agent',
    status: 'running',
    isArchived: false,
    createdAt: 1,
    lastActivityAt: 1,
    revision: 1,
  },
  hostEpoch: 'e',
  generation: 'g',
  revision: 5,
  projectionRevision: 5,
  rootTurn: { sessionId: 's1', turnId: 't', runId: 'r', status: 'running' },
  queue: { hostEpoch: 'e', queueRevision: 0, steering: [], followup: [], parked: null },
  interactions: { pending: [] },
  plan: { storeVersion: 0, latestProposal: null, activeExecution: null, lastExecution: null, agentPlan: null },
  tasks: { revision: EMPTY_TASKS_REVISION, items: [] },
  transcript: { entries: [], firstSeq: 0, lastSeq: 0, hasMore: false },
  presence: [],
  presenceCount: 0,
}

const textOf = (line: readonly { text: string }[]): string => line.map(({ text }) => text).join('')

test('experience 1.1 7.3 leaving says that the turn keeps running, and the command that comes back', () => {
  expect(farewellOf(SESSION, { root: './my root' })).toEqual([
    'fix login bug: the turn keeps running',
    "To come back: headwater --root './my root' tui -s s1",
  ])
  const failed = {
    ...SESSION,
    rootTurn: {
      sessionId: 's1',
      turnId: 't',
      runId: 'r',
      status: 'failed',
      failureClass: 'network',
      terminalEventId: 'x',
    },
  } as const
  expect(farewellOf(failed, {})).toEqual(['fix login bug: the last turn failed', 'To come back: headwater tui -s s1'])
  expect(farewellOf(null, {})).toEqual(['To come back: headwater tui'])
})

test('experience 7.1 the header keeps its state whole when there is little room', () => {
  const parts = {
    title: 'a very long title that has no room here at all',
    waiting: 2,
    replicas: 3,
    freshness: { symbol: '●', words: 'live', tone: 'good' },
  } as const
  expect(textOf(headerLine(parts, 80))).toMatch(/^ headwater · a very long title.* 2 waiting · 3 replicas · ● live $/)
  const narrow = headerLine(parts, 44)
  expect(lineWidth(narrow)).toBe(44)
  expect(textOf(narrow)).toMatch(/… 2 waiting · 3 replicas · ● live $/)
})

test('experience 7.1 the status row says what runs, for how long, and what waits', () => {
  const line = statusLine(
    {
      ...SESSION,
      tasks: {
        revision: 'x',
        items: [{ id: '1', key: 'T1', subject: 'a', status: 'completed', createdAt: 1, updatedAt: 1 }],
      },
    } as SessionProjection,
    { columns: 80, now: 43_000, startedAt: 1_000 },
  )
  expect(textOf(line)).toMatch(/^ running 0:42 · tasks 1\/1 +\/srv\/proj $/)
})

test('experience 7.2 the way back: the same place is not remembered twice, and the list is the last', () => {
  const list = { name: 'list' } as const
  const session = { name: 'session', sessionId: 'a' } as const
  const plan = { name: 'plan', sessionId: 'a' } as const
  let stack: RouteStack = [list]
  for (const route of [session, plan, session, plan, plan]) stack = pushRoute(stack, route)
  expect(stack).toEqual([list, session, plan])
  stack = popRoute(popRoute(popRoute(popRoute(stack))))
  expect(currentRoute(stack)).toEqual(list)
  expect(popRoute([session])).toEqual([list])
})
