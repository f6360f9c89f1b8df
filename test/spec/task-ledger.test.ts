import { expect, onTestFinished, test } from 'vitest'
import type { RunContext } from '../../leader/index.ts'
import { SessionDocument } from '../../leader/projection/session-document.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import { connectLeader } from '../../replica/index.ts'
import type { Result } from '../../schema/commands/index.ts'
import { canonicalDigest } from '../../schema/digest.ts'
import { EMPTY_TASKS_REVISION, type TasksProjection } from '../../schema/entities/projection.ts'
import type { Task } from '../../schema/entities/task.ts'
import { LIMITS } from '../../schema/limits.ts'
import { readTasks } from '../../schema/projection/layout.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { SessionWorld } from '../support/session/session-world.ts'
import { createdState } from '../support/session-walk.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

type Query = Result<'task.ledger.query'>
type Page = Extract<Query, { kind: 'page' }>

interface Stage {
  readonly leader: TestLeader
  readonly hand: HandBackend
  readonly run: RunContext
}

/** A leader with the session `s`, whose turn `t1` the test plays. */
async function openStage(): Promise<Stage> {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', hand.kind)
  await leader.startTurn('s', 't1', 'work')
  return { leader, hand, run: (await hand.run('t1')).context }
}

async function replica(leader: TestLeader, surface: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root: leader.root, surface, cache: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${result.kind}`)
  onTestFinished(() => result.connection.close())
  return result.connection
}

const start = async (leader: TestLeader): Promise<Page> =>
  (await leader.ok('task.ledger.query', { kind: 'list_start', sessionId: 's' })) as Page
const next = ({ revision, nextCursor }: Page, cursor = nextCursor ?? '') =>
  ({ kind: 'list_continue', sessionId: 's', revision, cursor }) as const

async function createMany(run: RunContext, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => run.tasks.create({ subject: `task ${i + 1}` })))
}

test('K3 two clients, the document, a query and a restarted leader show the same list under the same revision', async () => {
  const { leader, hand, run } = await openStage()
  const [ada, bob] = await Promise.all([replica(leader, 'desktop'), replica(leader, 'tui')])
  const seenByAda = await ada.openSessionSubscription({ sessionId: 's' })
  expect(seenByAda.current.tasks).toEqual({ revision: EMPTY_TASKS_REVISION, items: [] })
  expect(await ada.queryTasks({ kind: 'list_start', sessionId: 's' })).toEqual({
    kind: 'page',
    sessionId: 's',
    revision: EMPTY_TASKS_REVISION,
    tasks: [],
    nextCursor: null,
  })
  const first = await run.tasks.create({ subject: 'first \ud800', owner: 'ada' })
  await run.tasks.create({ subject: 'second' })
  await run.tasks.create({ subject: 'part', parent: first.id })
  await run.tasks.update({ task: 'T2', status: 'in_progress' })
  const list = run.tasks.list()
  expect(list.items.map(({ key, subject, status }) => [key, subject, status])).toEqual([
    ['T1', 'first \ufffd', 'pending'],
    ['T1.1', 'part', 'pending'],
    ['T2', 'second', 'in_progress'],
  ])
  expect(list.revision).toBe(canonicalDigest(list.items))
  const seenByBob = await bob.openSessionSubscription({ sessionId: 's' })
  const shown = (tasks: TasksProjection) => waitFor(() => tasks.revision === list.revision && tasks)
  expect(await shown(seenByBob.current.tasks)).toEqual(list)
  expect(await waitFor(() => seenByAda.current.tasks.items.length === 3 && seenByAda.current.tasks)).toEqual(list)
  const page = await ada.queryTasks({ kind: 'list_start', sessionId: 's' })
  expect(page).toEqual({
    kind: 'page',
    sessionId: 's',
    revision: list.revision,
    tasks: list.items,
    nextCursor: null,
  })
  expect(await bob.queryTasks({ kind: 'list_start', sessionId: 's' })).toEqual(page)
  await leader.restart({ backends: [hand] })
  expect(await start(leader)).toEqual(page)
  await leader.startTurn('s', 't2', 'go on')
  const { context } = await hand.run('t2')
  expect(context.tasks.list()).toEqual(list)
  expect(await context.tasks.create({ subject: 'third' })).toMatchObject({ key: 'T3' })
})

test('K3 V5 a task that nobody changed is the same object in the next snapshot, and all of them are frozen', async () => {
  const { leader, run } = await openStage()
  const ada = await replica(leader, 'desktop')
  const seen = await ada.openSessionSubscription({ sessionId: 's' })
  await createMany(run, 3)
  const before = await waitFor(() => (seen.current.tasks.items.length === 3 ? seen.current.tasks : null))
  await run.tasks.update({ task: 'T2', status: 'in_progress' })
  const after = await waitFor(() => (seen.current.tasks === before ? null : seen.current.tasks))
  expect(after.items.map((task, i) => task === before.items[i])).toEqual([true, false, true])
  expect([after, after.items, ...after.items].every(Object.isFrozen)).toBe(true)
  await run.notice('something else')
  await waitFor(() => seen.current.transcript.entries.some(entry => entry.kind === 'notice'))
  expect(seen.current.tasks).toBe(after)
})

test('K3 pages of 128 give the list once; a moved list is revision_changed, a made-up cursor invalid_request', async () => {
  const { leader, run } = await openStage()
  await createMany(run, 130)
  const first = await start(leader)
  expect([first.tasks.length, first.nextCursor]).toEqual([LIMITS.taskPageTasks, expect.any(String)])
  const second = (await leader.ok('task.ledger.query', next(first))) as Page
  expect([second.revision, second.nextCursor]).toEqual([first.revision, null])
  expect([...first.tasks, ...second.tasks]).toEqual(run.tasks.list().items)
  for (const cursor of ['x', 't.', 't.nobody', 'T1', second.tasks[0]?.key ?? '']) {
    expect(await leader.refused('task.ledger.query', next(first, cursor))).toMatchObject({
      code: 'invalid_request',
      detail: { path: 'cursor' },
    })
  }
  await run.tasks.update({ task: 'T130', status: 'cancelled' })
  expect(await leader.ok('task.ledger.query', next(first))).toEqual({
    kind: 'revision_changed',
    expected: first.revision,
    actual: run.tasks.list().revision,
  })
  expect((await start(leader)).revision).toBe(run.tasks.list().revision)
})

test('K3 the pages of a list that moves meanwhile are whole: each is of one revision, or says that it moved', async () => {
  const { leader, run } = await openStage()
  await createMany(run, 140)
  const byRevision = new Map<string, readonly Task[]>([[run.tasks.list().revision, run.tasks.list().items]])
  let isMoving = true
  const move = (async () => {
    for (let i = 0; i < 60; i++) {
      const status = i % 2 === 0 ? 'in_progress' : 'cancelled'
      await run.tasks.update({ task: `T${(i >> 1) + 1}`, status })
      byRevision.set(run.tasks.list().revision, run.tasks.list().items)
    }
    isMoving = false
  })()
  const read = new Map<string, readonly Task[]>()
  let moved = 0
  while (isMoving) {
    const first = await start(leader)
    read.set(first.revision, first.tasks)
    const second: Query = await leader.ok('task.ledger.query', next(first))
    if (second.kind === 'page') read.set(second.revision, [...first.tasks, ...second.tasks])
    else moved += 1
  }
  await move
  expect(read.size + moved).toBeGreaterThan(1)
  for (const [revision, tasks] of read) expect(tasks).toEqual(byRevision.get(revision)?.slice(0, tasks.length))
})

test('K3 one task is found by its id and by its key; an unknown one is null, an unknown session not_found', async () => {
  const { leader, run } = await openStage()
  const task = await run.tasks.create({ subject: 'one' })
  const { revision } = run.tasks.list()
  const get = (taskRef: string) => leader.ok('task.ledger.query', { kind: 'get', sessionId: 's', taskRef })
  expect(await get(task.id)).toEqual({ kind: 'task', revision, task })
  expect(await get('T1')).toEqual({ kind: 'task', revision, task })
  expect(await get('T1.1')).toEqual({ kind: 'task', revision, task: null })
  expect([run.tasks.get('T1'), run.tasks.get(task.id), run.tasks.get('T2')]).toEqual([task, task, null])
  const refused = await leader.refused('task.ledger.query', { kind: 'list_start', sessionId: 'other' })
  expect(refused.code).toBe('not_found')
})

test('K3 C3 what a backend gives is checked where it gives it: each refusal is its own, and the run goes on', async () => {
  const { leader, hand, run } = await openStage()
  const { tasks } = run
  const refusal = (call: Promise<unknown>) =>
    call.then(
      value => value,
      error => [error.name, error.code, error.message],
    )
  const long = 'x'.repeat(LIMITS.taskTextChars + 1)
  expect(await refusal(tasks.create({ subject: '' }))).toMatchObject([
    'HeadwaterError',
    'invalid_request',
    expect.stringMatching(/^subject: /),
  ])
  expect(await refusal(tasks.create({ subject: long }))).toMatchObject([
    'HeadwaterError',
    'invalid_request',
    expect.stringMatching(/^subject: /),
  ])
  expect(await refusal(tasks.create({ subject: 'x', extra: 1 } as never))).toEqual([
    'HeadwaterError',
    'invalid_request',
    'extra: is not a known key',
  ])
  expect(await refusal(tasks.create(undefined as never))).toEqual([
    'HeadwaterError',
    'invalid_request',
    'must be a value of type object',
  ])
  expect(await refusal(tasks.create({ subject: 'x', owner: 1n } as never))).toEqual([
    'HeadwaterError',
    'invalid_request',
    'must be plain JSON',
  ])
  expect(await refusal(tasks.create({ subject: 'x', parent: 'T9' }))).toEqual([
    'HeadwaterError',
    'operation_conflict',
    'there is no such parent task',
  ])
  expect(await refusal(tasks.update({ task: 'T9', status: 'cancelled' }))).toEqual([
    'HeadwaterError',
    'not_found',
    'there is no such task',
  ])
  expect(await refusal(tasks.create({ subject: 'x', owner: undefined as never }))).toMatchObject({ key: 'T1' })
  expect(await refusal(tasks.update({ task: 'T1', status: 'completed', completionEvidence: 'x' }))).toEqual([
    'HeadwaterError',
    'operation_conflict',
    'T1 cannot go from pending to completed',
  ])
  // Nobody waits for this one: it must not become an unhandled rejection.
  void tasks.create({ subject: '' })
  ;(await hand.run('t1')).complete()
  expect(await leader.ended('s', 't1')).toMatchObject({ status: 'completed' })
  expect((await leader.transitions('s')).flat().filter(type => type.startsWith('task_'))).toEqual(['task_created'])
})

test('K3 T9 after a stop tasks and plans are refused with its reason, and change nothing', async () => {
  const { leader, hand, run } = await openStage()
  await run.tasks.create({ subject: 'one' })
  const { revision } = run.tasks.list()
  const { turnId, runId } = run
  await leader.ok('turn.stop', { sessionId: 's', turnId, runId })
  const reason = run.signal.reason
  const calls = [
    run.tasks.create({ subject: 'two' }),
    run.tasks.update({ task: 'T1', status: 'in_progress' }),
    run.submitPlan({ title: 'x', steps: [{ id: 'a', title: 'a', description: '' }] }),
    run.updatePlan({ executionId: 'e', steps: [{ id: 'a', status: 'pending' }] }),
  ]
  const outcomes = await Promise.allSettled(calls)
  expect(outcomes).toEqual(calls.map(() => ({ status: 'rejected', reason })))
  await (await hand.run('t1')).done.catch(() => {})
  expect((await start(leader)).revision).toBe(revision)
})

test('K3 S7 the catalog counts the tasks that are open, also after a restart', async () => {
  const { leader, hand, run } = await openStage()
  const ada = await replica(leader, 'desktop')
  const catalog = await ada.openCatalog()
  await waitFor(() => catalog.current.length === 1)
  expect(catalog.current[0]).not.toHaveProperty('tasks')
  await createMany(run, 3)
  await run.tasks.update({ task: 'T3', status: 'cancelled' })
  await waitFor(() => catalog.current[0]?.tasks?.open === 2)
  expect(catalog.current[0]?.tasks).toEqual({ open: 2, total: 3 })
  ada.close()
  await leader.restart({ backends: [hand] })
  const again = await (await replica(leader, 'desktop')).openCatalog()
  await waitFor(() => again.current.length === 1)
  expect(again.current[0]?.tasks).toEqual({ open: 2, total: 3 })
})

test.each([
  ['task after task', (i: number) => Math.floor(i / 100), 600],
  ['all of them in turn', (i: number) => i % 10, 10_000],
])(
  'K3 A7 a thousand changes of ten tasks, %s, leave a few bytes each in the document at most',
  (_, indexOf, maxBytes) => {
    const document = SessionDocument.create('generation-1')
    let state = createdState()
    document.apply(null, state)
    const become = (items: readonly Task[]): void => {
      const next = { ...state, revision: state.revision + 1, tasks: { revision: canonicalDigest(items), items } }
      document.apply(state, next)
      state = next
    }
    const times = { createdAt: 1, updatedAt: 1 }
    for (let i = 1; i <= 10; i++) {
      become([...state.tasks.items, { id: `task-${i}`, key: `T${i}`, subject: 'x', status: 'pending', ...times }])
    }
    for (let i = 0; i < 1_000; i++) {
      const index = indexOf(i)
      become(state.tasks.items.with(index, { ...(state.tasks.items[index] as Task), subject: `round ${i}` }))
    }
    expect(readTasks(document.doc)).toEqual(state.tasks)
    expect(document.stats().garbageBytes).toBeLessThan(maxBytes)
  },
)

test('K3 A2 E7 a task is shown to its run when it is on disk; one that was lost never was there', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await world.ok('turn.start', { sessionId: 's', turnId: 't1', content: { text: 'go' } })
  const { port } = world.runs.of('t1')
  world.store.faults.hold()
  const first = port.tasks.create({ subject: 'one' })
  await world.store.faults.held()
  expect(port.tasks.list().items).toEqual([])
  world.store.faults.release()
  expect(await first).toMatchObject({ key: 'T1' })
  expect(port.tasks.list().items.map(task => task.key)).toEqual(['T1'])
  world.store.faults.failNext('failed')
  await expect(port.tasks.create({ subject: 'two' })).rejects.toMatchObject({ code: 'persistence_failed' })
  expect(port.tasks.list().items.map(task => task.key)).toEqual(['T1'])
  const { state } = await world.onDisk('s')
  expect(state.tasks).toEqual(port.tasks.list())
})
