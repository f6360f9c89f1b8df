import { expect, test } from 'vitest'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'
import { waitFor } from '../support/wait-for.ts'

/** A leader whose session `s` runs turn t1. It is killed by starting the next one on its disk. */
async function running(): Promise<SessionWorld> {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await world.start('s', 't1')
  return world
}

async function typesAfter(world: SessionWorld, revision: number): Promise<readonly (readonly string[])[]> {
  return (await world.ledger('s')).slice(revision).map(record => record.events.map(event => event.type))
}

const queueOf = async (world: SessionWorld): Promise<readonly QueueEntry[]> =>
  (await world.loop('s')).core.durable.queue.map(record => record.entry)

const entriesOf = async (world: SessionWorld): Promise<readonly TranscriptEntry[]> =>
  (await world.ok('transcript.page', { sessionId: 's', limit: 200 })).entries

/** One more leader on the same disk: nothing must change any more. */
async function expectSettled(world: SessionWorld): Promise<void> {
  const ledger = await world.ledger('s')
  const next = await SessionWorld.after(world, { epochNumber: 3 })
  expect(await next.ledger('s')).toEqual(ledger)
  expect(next.runs.started).toEqual([])
  await next.onDisk('s')
}

const turn = (world: SessionWorld, turnId = 't1') => world.ok('turn.query', { sessionId: 's', turnId })
const failed = { status: 'failed', failureClass: 'app_restarted', terminalEventId: expect.any(String) }

test('X1 L4 a killed run fails once; what it had streamed is sealed and kept', async () => {
  const world = await running()
  const text = world.runs.of('t1').text('half a sen')
  await world.during(text)
  const { revision } = (await world.loop('s')).core.durable
  const next = await SessionWorld.after(world)
  expect(await turn(next)).toMatchObject(failed)
  expect(await typesAfter(next, revision)).toEqual([['text_sealed', 'run_failed', 'turn_settled']])
  expect(await entriesOf(next)).toMatchObject([{ kind: 'user' }, { kind: 'assistant', text: 'half a sen' }])
  expect(next.runs.started).toEqual([])
  await expectSettled(next)
})

test('X8 I5 I6 a question that was pending is closed as host_restarted and can be read', async () => {
  const world = await running()
  const request = { kind: 'question' as const, questions: [{ question: 'Which?', options: [] }] }
  const { interactionId } = await world.runs.of('t1').port.openInteraction(request)
  expect(await turn(world)).toMatchObject({ status: 'waiting_for_user' })
  const next = await SessionWorld.after(world)
  expect(await turn(next)).toMatchObject(failed)
  expect(await next.ok('interaction.list', {})).toMatchObject({ interactions: [] })
  expect(await next.ok('interaction.query', { interactionId })).toMatchObject({
    status: 'closed',
    revision: 2,
    outcome: { kind: 'closure', reason: 'host_restarted' },
  })
  const answer = { kind: 'question' as const, answers: [null] }
  expect((await next.refused('interaction.answer', { interactionId, answer })).code).toBe('already_resolved')
  expect((await entriesOf(next)).at(-1)).toMatchObject({ kind: 'interaction', interactionId })
  await expectSettled(next)
})

test('X10 Q1 Q9 what waited is parked in order, what was delivered is not repeated, nothing runs by itself', async () => {
  const world = await running()
  const { port } = world.runs.of('t1')
  for (const id of ['s1', 's2']) await world.submit('s', id, 'current_turn')
  await port.pullSteering()
  await port.apply({ kind: 'ack', entryIds: ['s1'] })
  await world.submit('s', 'f1')
  await world.submit('s', 's3', 'current_turn')
  const next = await SessionWorld.after(world)
  expect((await queueOf(next)).map(entry => [entry.entryId, entry.state])).toEqual([
    ['s2', 'parked'],
    ['f1', 'parked'],
    ['s3', 'parked'],
  ])
  const parked = (await next.ledger('s')).flatMap(r => r.events).filter(e => e.type === 'queue_entries_parked')
  expect(parked.map(event => event.payload.reason)).toEqual(['leader_restarted'])
  const steers = (await entriesOf(next)).filter(entry => entry.kind === 'user' && entry.isSteering === true)
  expect(steers.map(entry => entry.id)).toEqual(['s1'])
  await settle()
  expect(next.runs.started).toEqual([])
  await expectSettled(next)
  await next.ok('queue.resume', { sessionId: 's' })
  await waitFor(() => next.runs.started.length === 1)
  expect(next.runs.started[0]?.port.admission.sourceMessages.map(m => m.messageId)).toEqual(['s2', 's3', 'f1'])
})

test('X14 an end while the leader stops parks what waits, and leaves nothing to recover', async () => {
  const world = await running()
  await world.submit('s', 'f1')
  world.isDraining = true
  await world.runs.of('t1').end()
  expect(await queueOf(world)).toMatchObject([{ state: 'parked' }])
  const { revision } = (await world.loop('s')).core.durable
  const next = await SessionWorld.after(world)
  expect(await typesAfter(next, revision)).toEqual([])
})

test('X11 a call without an outcome is unknown', async () => {
  const world = await running()
  const call = { toolCallId: 'c1', name: 'edit', title: 'Edit', status: 'in_progress', input: null } as const
  await world.runs.of('t1').port.apply({ kind: 'tool_start', ...call })
  const next = await SessionWorld.after(world)
  expect((await entriesOf(next)).at(-1)).toMatchObject({ kind: 'tool', toolCallId: 'c1', status: 'unknown' })
  await expectSettled(next)
})

test('X3 E9 a turn that waited for a place is resumed under its run id, with one message', async () => {
  const world = await SessionWorld.inMemory({ places: 0 })
  await world.create('s')
  const { runId } = (await world.ok('turn.start', { sessionId: 's', turnId: 't1', content: { text: 'x' } })).turn
  expect(await turn(world)).toMatchObject({ status: 'admitted' })
  const next = await SessionWorld.after(world)
  expect(await turn(next)).toEqual({ sessionId: 's', turnId: 't1', runId, status: 'running' })
  expect(next.runs.started.map(run => run.port.runId)).toEqual([runId])
  expect((await entriesOf(next)).map(entry => entry.kind)).toEqual(['user'])
  await next.runs.of('t1').end()
  await expectSettled(next)
})

test('X13 killed again and again while a turn waits for its place: the same turn, the same run', async () => {
  let world = await SessionWorld.inMemory({ places: 0 })
  await world.create('s')
  const { runId } = (await world.ok('turn.start', { sessionId: 's', turnId: 't1', content: { text: 'x' } })).turn
  const ledger = await world.ledger('s')
  for (let epochNumber = 2; epochNumber < 5; epochNumber++) {
    world = await SessionWorld.after(world, { epochNumber, places: 0 })
    expect(await world.ledger('s')).toEqual(ledger)
  }
  world = await SessionWorld.after(world, { epochNumber: 5 })
  expect(await turn(world)).toMatchObject({ runId, status: 'running' })
})

test('A5 X1 a stop whose end was lost with its leader is answered by what became of the turn', async () => {
  const world = await running()
  const run = world.runs.of('t1')
  run.ignoresStops = true
  const { runId } = run.port
  void world.call('turn.stop', { sessionId: 's', turnId: 't1', runId })
  await waitFor(() => run.stops.length === 1)
  const next = await SessionWorld.after(world)
  const ended = await turn(next)
  expect(ended).toMatchObject(failed)
  expect(await next.ok('turn.stop', { sessionId: 's', turnId: 't1', runId })).toEqual(ended)
})

test('V4 X13 the state that recovery leaves is the first of its epoch', async () => {
  const world = await running()
  const next = await SessionWorld.after(world)
  const { core } = await next.loop('s')
  expect(core.baseRevision).toBe(core.durable.revision)
})
