import { expect, test } from 'vitest'
import type { LogStore } from '../../leader/log/log-store.ts'
import { openMemoryStore } from '../../leader/log/memory-store.ts'
import type { StoreHealth } from '../../leader/log/store.ts'
import { recoverSessions } from '../../leader/recovery.ts'
import type { Reply } from '../../leader/transport/host-port.ts'
import { LIMITS } from '../../schema/limits.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'

async function open(): Promise<SessionWorld> {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  return world
}

function rename(world: SessionWorld, title: string, operationId = title, expectedRevision = 1): Promise<Reply> {
  return world.call('session.update', { sessionId: SESSION, operationId, expectedRevision, patch: { title } })
}

function codeOf(reply: Reply): string {
  return reply.ok ? 'ok' : reply.error.code
}

function watchHealth(world: SessionWorld): StoreHealth[] {
  const seen: StoreHealth[] = []
  world.store.on('health', health => seen.push(health))
  return seen
}

/** Lets the batch that hangs be stored, and waits for the next one to hang. */
async function passOne(world: SessionWorld): Promise<void> {
  world.store.faults.release()
  world.store.faults.hold()
  await Promise.resolve()
  await Promise.resolve()
  await world.store.faults.held()
}

/** The storage is given up, as when the disk shows neither the state before a failed batch nor the one after. */
function breakStorage(world: SessionWorld): void {
  const refusal = { kind: 'failed', code: 'storage_fault', message: 'the storage failed' } as const
  ;(world.store as unknown as LogStore).setHealth('fault', refusal)
}

test('E7 what is not known is told as outcome_unknown after a second, can be asked for again, and is true once it is known', async () => {
  const world = await open()
  const health = watchHealth(world)
  const socket = await world.join(SESSION)
  socket.look()
  world.store.faults.keepUnknown()
  world.store.faults.failNext('unknown_stored')
  const first = rename(world, 'kept')
  await world.advance(LIMITS.outcomeWaitMs - 100)
  const waiting = rename(world, 'later')
  await world.advance(200)
  expect(codeOf(await first)).toBe('outcome_unknown')
  // Not decided yet when the second was over: nothing of it is stored.
  expect(codeOf(await waiting)).toBe('persistence_failed')
  expect(codeOf(await rename(world, 'kept'))).toBe('outcome_unknown')
  expect(codeOf(await rename(world, 'new'))).toBe('persistence_failed')
  expect(await world.ok('session.get', { sessionId: SESSION })).toMatchObject({ session: { title: '', revision: 1 } })
  expect((await world.ok('transcript.page', { sessionId: SESSION, limit: 10 })).entries).toEqual([])
  expect(world.host.faults).toEqual([{ code: 'storage_fault', kind: 'recovering' }])
  expect(socket.look().filter(kind => kind !== 'awareness')).toEqual([])

  world.store.faults.learn()
  await settle()
  expect(socket.look()).toEqual(['update'])
  expect(await rename(world, 'kept')).toMatchObject({ ok: true, result: { kind: 'committed' } })
  expect(codeOf(await rename(world, 'new', 'new', 2))).toBe('ok')
  expect(health).toEqual(['recovering', 'ok'])
  expect(world.host.faults).toEqual([])
  expect((await world.onDisk(SESSION)).state.header).toMatchObject({ title: 'new', revision: 3 })
})

test('E7 P12 A2 while it is not known whether a change of the plan is stored, no page shows a part of it', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  const { proposalId } = await run.port.submitPlan({
    title: 'Plan',
    steps: [{ id: 'a', title: 'A', description: 'Do A' }],
  })
  await run.end()
  const query = { kind: 'list_start' as const, sessionId: SESSION }
  const wish = { kind: 'approve_proposal' as const, proposalId, expectedRevision: 1, expectedStoreVersion: 1 }
  for (const failure of ['unknown_absent', 'unknown_stored'] as const) {
    world.store.faults.keepUnknown()
    world.store.faults.failNext(failure)
    const approved = world.call('plan.control', { sessionId: SESSION, operationId: failure, ...wish })
    await world.advance(LIMITS.outcomeWaitMs + 100)
    expect(codeOf(await approved)).toBe('outcome_unknown')
    const page = await world.call('plan.query', query)
    if (failure === 'unknown_stored') expect(codeOf(page)).toBe('outcome_unknown')
    else expect(page).toMatchObject({ ok: true, result: { storeVersion: 1, items: [{ kind: 'proposal' }] } })
    world.store.faults.learn()
    await settle()
  }
  expect(await world.ok('plan.query', query)).toMatchObject({
    storeVersion: 2,
    items: [{ proposal: { status: 'approved' } }, { execution: { status: 'active' } }],
  })
})

test('E7 a turn whose admission was unknown runs when that turns out to be stored, though its sender got no answer', async () => {
  const world = await open()
  world.store.faults.keepUnknown()
  world.store.faults.failNext('unknown_stored')
  const start = world.call('turn.start', { sessionId: SESSION, turnId: 't-1', content: { text: 'go' } })
  await world.advance(LIMITS.outcomeWaitMs + 100)
  expect(codeOf(await start)).toBe('outcome_unknown')
  expect(world.runs.started).toEqual([])
  world.store.faults.learn()
  await world.advance(33)
  expect(world.runs.started.map(({ port }) => port.turnId)).toEqual(['t-1'])
  const again = await world.call('turn.start', { sessionId: SESSION, turnId: 't-1', content: { text: 'go' } })
  expect(again).toMatchObject({ ok: true, result: { turn: { turnId: 't-1', status: 'running' } } })
  expect(world.runs.started).toHaveLength(1)
})

test('E7 a receipt that moved nothing is looked for: a command that changed nothing is answered truly too', async () => {
  const world = await open()
  const unarchive = (operationId: string): Promise<Reply> =>
    world.call('session.unarchive', { sessionId: SESSION, operationId })
  for (const [failure, code] of [
    ['unknown_stored', 'ok'],
    ['unknown_absent', 'outcome_unknown'],
  ] as const) {
    world.store.faults.failNext(failure)
    expect(codeOf(await world.during(unarchive(failure)))).toBe(code)
    expect(codeOf(await unarchive(failure))).toBe('ok')
  }
})

test.each(['full', 'failed', 'unknown_stored', 'unknown_absent'] as const)(
  'X13 E8 A9 recovery that ends as %s is done when the storage is well; nobody is damaged by it',
  async failure => {
    const world = await open()
    await world.start(SESSION, 't-1')
    const store = await openMemoryStore({ disk: world.store.disk })
    const next = new SessionWorld({ store, epochNumber: 2 })
    store.faults.failNext(failure)
    let isDone = false
    const recovering = recoverSessions(next.sessions, () => {}).finally(() => {
      isDone = true
    })
    await next.advance(LIMITS.outcomeWaitMs)
    if (failure === 'full') {
      expect(isDone).toBe(false)
      store.faults.freeSpace()
    }
    expect(await next.during(recovering)).toEqual({ recovered: 1, quarantined: 0 })
    expect(next.sessions.faults).toEqual([])
    expect(await next.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({
      status: 'failed',
      failureClass: 'app_restarted',
    })
    await next.onDisk(SESSION)
  },
)

test('E8 a full disk refuses, is read meanwhile, and the session goes on by itself when there is space', async () => {
  const world = await open()
  const health = watchHealth(world)
  world.store.faults.failNext('full')
  expect(codeOf(await world.during(rename(world, 'one')))).toBe('storage_full')
  expect(codeOf(await rename(world, 'one'))).toBe('storage_full')
  expect(codeOf(await rename(world, 'two'))).toBe('storage_full')
  expect(codeOf(await world.submit(SESSION, 'm-1'))).toBe('storage_full')
  expect(codeOf(await world.call('session.create', { sessionId: 's-2', cwd: '/', backend: 'scripted' }))).toBe(
    'storage_full',
  )
  expect(await world.ok('session.get', { sessionId: SESSION })).toMatchObject({ session: { title: '' } })
  expect(world.host.faults).toEqual([{ code: 'storage_full' }])
  expect(world.host.readiness).toBe('storage full')
  world.store.faults.freeSpace()
  expect(codeOf(await rename(world, 'one'))).toBe('ok')
  expect(codeOf(await world.call('session.create', { sessionId: 's-2', cwd: '/', backend: 'scripted' }))).toBe('ok')
  expect(health).toEqual(['full', 'ok'])
  expect(world.host.faults).toEqual([])
})

test('E7 T11 a run whose events were lost ends failed, class storage, exactly once; the next turn runs', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  world.store.faults.failNext('failed')
  const notice = run.port.apply({ kind: 'notice', text: 'lost' })
  await expect(world.during(notice)).rejects.toMatchObject({ code: 'persistence_failed' })
  await world.during(run.done)
  expect(run.stops).toEqual(['storage'])
  expect(await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({
    status: 'failed',
    failureClass: 'storage',
  })
  const ends = (await world.ledger(SESSION)).flatMap(record => record.events).filter(e => /^run_(f|c)/.test(e.type))
  expect(ends.map(e => e.type)).toEqual(['run_failed'])
  await world.start(SESSION, 't-2')
  expect(world.slots.taken).toBe(1)
})

test('E7 E8 a run’s end that cannot be stored is tried again until there is space', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  world.store.faults.failNext('full')
  const end = run.end()
  await world.advance(500)
  expect(await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({ status: 'running' })
  world.store.faults.freeSpace()
  await world.during(end)
  expect(await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({
    status: 'failed',
    failureClass: 'storage',
  })
  expect(world.slots.taken).toBe(0)
})

test('E7 a run of which nothing was lost goes on, with the text that was not flushed yet', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  await world.during(run.text('one '))
  // The client's command fails; the text gathers while the session is loaded again.
  world.store.faults.hold()
  const lost = rename(world, 'lost', 'lost', 2)
  await world.store.faults.held()
  const text = run.text('two ')
  world.store.faults.failNext('failed')
  world.store.faults.release()
  await settle()
  expect(codeOf(await world.during(lost))).toBe('persistence_failed')
  await world.during(text)
  await world.during(run.text('three'))
  await run.end()
  expect(await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({ status: 'completed' })
  const { entries } = await world.ok('transcript.page', { sessionId: SESSION, limit: 10 })
  expect(entries.filter(e => e.kind === 'assistant')).toMatchObject([{ text: 'one two three' }])
})

test('E9 E8 a turn whose start cannot be stored is answered as admitted and starts when there is space', async () => {
  const world = await open()
  world.store.faults.hold()
  const start = world.call('turn.start', { sessionId: SESSION, turnId: 't-1', content: { text: 'go' } })
  await world.store.faults.held()
  // The admission is stored; the batch after it is the run's start.
  await passOne(world)
  world.store.faults.failNext('full')
  world.store.faults.release()
  expect(await world.during(start)).toMatchObject({ ok: true, result: { turn: { status: 'admitted' } } })
  expect(world.slots.taken).toBe(0)
  world.store.faults.freeSpace()
  await world.advance(33)
  expect(world.runs.started.map(({ port }) => port.turnId)).toEqual(['t-1'])
  expect(world.slots.taken).toBe(1)
})

test('Q7 E8 entries that could not be handed on for want of space are handed on when there is some', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  expect(codeOf(await world.submit(SESSION, 'm-1'))).toBe('ok')
  world.store.faults.hold()
  const end = run.end()
  await world.store.faults.held()
  await passOne(world)
  world.store.faults.failNext('full')
  world.store.faults.release()
  await world.during(end)
  await world.advance(100)
  expect(world.runs.started).toHaveLength(1)
  world.store.faults.freeSpace()
  await world.advance(33)
  expect(world.runs.started).toHaveLength(2)
  expect(world.runs.started[1]?.port.admission.userMessageId).toBe('m-1')
})

test('E7 a storage that is given up is read-only: whoever waits is told, reading goes on, the fault is seen', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  run.ignoresStops = true
  const stop = world.call('turn.stop', { sessionId: SESSION, turnId: 't-1', runId: run.port.runId })
  const update = rename(world, 'kept', 'kept', 2)
  await world.advance(33)
  expect(codeOf(await update)).toBe('ok')
  breakStorage(world)
  expect(codeOf(await world.during(stop))).toBe('storage_fault')
  expect(codeOf(await rename(world, 'new', 'new', 3))).toBe('storage_fault')
  expect(codeOf(await rename(world, 'kept', 'kept', 2))).toBe('ok')
  expect(await world.ok('session.get', { sessionId: SESSION })).toMatchObject({ session: { title: 'kept' } })
  expect(world.host.faults).toEqual([{ code: 'storage_fault', kind: 'fault' }])
  await expect(world.during(run.end())).rejects.toThrow()
  expect(world.slots.taken).toBe(0)
})

test('E7 A2 a session that cannot be loaded again falls back to what was durable, under another generation', async () => {
  const world = await open()
  const socket = await world.join(SESSION)
  const generation = socket.awareness.at(-1)?.generation
  world.store.faults.hold()
  const lost = rename(world, 'never durable', 'op-1')
  await world.store.faults.held()
  const { document } = world.store
  world.store.document = () => Promise.reject(new Error('the disk does not answer'))
  world.store.faults.failNext('failed')
  world.store.faults.release()
  expect(codeOf(await world.during(lost))).toBe('outcome_unknown')
  expect(socket.closed?.code).toBe(4410)
  expect(codeOf(await rename(world, 'never durable', 'op-1'))).toBe('session_damaged')
  world.store.document = document
  const again = await world.join(SESSION)
  expect(again.awareness.at(-1)?.generation).not.toBe(generation)
  expect(Buffer.concat(again.messages).includes('never durable')).toBe(false)
  expect(await world.ok('session.get', { sessionId: SESSION })).toMatchObject({ session: { title: '' } })
})

test('A1 a session that another leader took is read-only here; one that came back is loaded again', async () => {
  const world = await open()
  const loop = await world.loop(SESSION)
  world.store.faults.takeSession(SESSION, 'another', 'http://127.0.0.1:1')
  await world.advance(33)
  expect(loop.core.fault).toBe('storage_fault')
  expect(codeOf(await rename(world, 'refused'))).toBe('storage_fault')
  expect(world.host.faults).toEqual([{ code: 'storage_fault', sessionId: SESSION }])

  const other = await open()
  const quiet = await other.loop(SESSION)
  other.store.faults.takeSession(SESSION, 'another', 'http://127.0.0.1:1')
  other.store.faults.returnSession(SESSION)
  await other.advance(33)
  expect(quiet.core.fault).toBeNull()
  expect(codeOf(await rename(other, 'taken'))).toBe('ok')
})
