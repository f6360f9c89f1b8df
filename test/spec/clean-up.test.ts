import { expect, test } from 'vitest'
import type { SessionLoop } from '../../leader/session/session-loop.ts'
import type { Reply } from '../../leader/transport/host-port.ts'
import type { PuppetRun } from '../support/session/puppet-runs.ts'
import { SessionWorld } from '../support/session/session-world.ts'
import { waitFor } from '../support/wait-for.ts'

interface Stage {
  readonly world: SessionWorld
  readonly loop: SessionLoop
  /** The run of the ended turn t1. */
  readonly first: PuppetRun
}

/** A session whose turn t1 has ended, while its run still cleans up. */
async function cleaningUp(before: (world: SessionWorld) => Promise<unknown> = async () => {}): Promise<Stage> {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  const first = await world.start('s', 't1')
  first.cleansUpSlowly = true
  await before(world)
  await first.end()
  return { world, loop: await world.loop('s'), first }
}

const start = (world: SessionWorld, turnId: string): Promise<Reply> =>
  world.call('turn.start', { sessionId: 's', turnId, content: { text: `prompt of ${turnId}` } })

const started = ({ world }: Stage): readonly string[] => world.runs.started.map(run => run.port.turnId)

test('T7 a start waits for the clean-up of the ended turn, and then runs', async () => {
  const stage = await cleaningUp()
  const { world, loop, first } = stage
  expect(loop.core.durable.root?.snapshot.status).toBe('completed')
  let isAnswered = false
  const second = start(world, 't2').finally(() => {
    isAnswered = true
  })
  await waitFor(() => loop.runs.waitingForCleanup === 1)
  await world.ok('session.update', { sessionId: 's', expectedRevision: 2, patch: { title: 'T' } })
  expect([isAnswered, started(stage)]).toEqual([false, ['t1']])
  first.cleanUp()
  expect(await second).toMatchObject({
    ok: true,
    result: { kind: 'started', turn: { turnId: 't2', status: 'running' } },
  })
  expect(started(stage)).toEqual(['t1', 't2'])
})

test('T7 T5 of several starts that wait one wins, the others are busy and leave nothing', async () => {
  const { world, loop, first } = await cleaningUp()
  const waiting = ['t2', 't3', 't4'].map(turnId => start(world, turnId))
  await waitFor(() => loop.runs.waitingForCleanup === 3)
  first.cleanUp()
  const replies = await Promise.all(waiting)
  expect(replies[0]).toMatchObject({ ok: true, result: { turn: { turnId: 't2' } } })
  for (const reply of replies.slice(1)) {
    expect(reply).toMatchObject({ ok: false, error: { code: 'session_busy', detail: { turnId: 't2' } } })
  }
  expect(loop.core.durable.root?.admission.previousRootTurnId).toBe('t1')
})

test('T7 T6 a retry of the ended turn does not wait', async () => {
  const { world } = await cleaningUp()
  expect(await start(world, 't1')).toMatchObject({ ok: true, result: { turn: { turnId: 't1', status: 'completed' } } })
})

test('T7 Q2 a message waits for the clean-up too, and starts a turn', async () => {
  const { world, loop, first } = await cleaningUp()
  const message = world.submit('s', 'm1')
  await waitFor(() => loop.runs.waitingForCleanup === 1)
  first.cleanUp()
  expect(await message).toMatchObject({ ok: true, result: { disposition: 'turn_started' } })
})

test('T12 T7 the successor is admitted at once and runs after the clean-up; a start meanwhile is busy', async () => {
  const stage = await cleaningUp(world => world.submit('s', 'm1'))
  const { world, loop, first } = stage
  const successor = await waitFor(() =>
    loop.core.durable.root?.admission.turnId === 't1' ? null : loop.core.durable.root,
  )
  expect(successor).toMatchObject({ snapshot: { status: 'admitted' }, admission: { userMessageId: 'm1' } })
  expect(await start(world, 't2')).toMatchObject({ ok: false, error: { code: 'session_busy' } })
  expect(started(stage)).toEqual(['t1'])
  first.cleanUp()
  await waitFor(() => started(stage)[1] === successor.admission.turnId)
  expect(loop.core.durable.root?.snapshot.status).toBe('running')
})

test('T8 T7 a successor that is stopped before the clean-up never runs, and has its run in the ledger', async () => {
  const stage = await cleaningUp(world => world.submit('s', 'm1'))
  const { world, loop, first } = stage
  const { admission } = await waitFor(() =>
    loop.core.durable.root?.admission.turnId === 't1' ? null : loop.core.durable.root,
  )
  const { turnId, runId } = admission
  const stopped = await world.call('turn.stop', { sessionId: 's', turnId, runId })
  expect(stopped).toMatchObject({ ok: true, result: { turnId, status: 'cancelled', abortSource: 'user_stop' } })
  expect(loop.core.durable.root?.runs).toMatchObject([{ runId, status: 'cancelled' }])
  const next = start(world, 't2')
  first.cleanUp()
  expect(await next).toMatchObject({ ok: true })
  expect(started(stage)).toEqual(['t1', 't2'])
})

test('E6 X14 what waits for a clean-up when the leader stops is refused, and leaves nothing', async () => {
  const { world, loop, first } = await cleaningUp()
  const waiting = [start(world, 't2'), world.submit('s', 'm1')]
  await waitFor(() => loop.runs.waitingForCleanup === 2)
  world.isDraining = true
  const { revision } = loop.core.state
  first.cleanUp()
  for (const reply of await Promise.all(waiting)) {
    expect(reply).toMatchObject({ ok: false, error: { code: 'host_draining' } })
  }
  expect(loop.core.state.revision).toBe(revision)
})

test('E6 a leader that stops takes no more work, but takes work back and stops turns', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  const { turnId, runId } = (await world.start('s', 't1')).port
  await world.submit('s', 'm1')
  world.isDraining = true
  expect(await world.submit('s', 'm2')).toMatchObject({ ok: false, error: { code: 'host_draining' } })
  expect(await world.ok('turn.stop', { sessionId: 's', turnId, runId })).toMatchObject({ status: 'cancelled' })
  expect((await world.refused('queue.resume', { sessionId: 's' })).code).toBe('host_draining')
  expect(await world.ok('queue.retract', { sessionId: 's', retractId: 'r' })).toMatchObject({
    retracted: [{ entryId: 'm1', state: 'parked' }],
  })
})

test('T9 what a run sends after its end is refused and changes nothing', async () => {
  const { loop, first } = await cleaningUp()
  const before = loop.core.state
  const { port } = first
  const late = [
    port.apply({ kind: 'notice', text: 'late' }),
    port.appendText('assistant', 'm', 'late'),
    port.openInteraction({ kind: 'question', questions: [{ question: 'late?', options: [] }] }),
    port.pullSteering(),
  ]
  for (const outcome of await Promise.allSettled(late)) expect(outcome.status).toBe('rejected')
  await port.end({ kind: 'failed', failureClass: 'late' })
  expect(loop.core.state).toBe(before)
})
