import { expect, test } from 'vitest'
import { createDriver } from '../../leader/execution/driver.ts'
import { createScriptedBackend } from '../../leader/execution/scripted/scripted.ts'
import type { RunPort } from '../../leader/session/run-port.ts'
import { type RunPlace, RunSlots } from '../../leader/session/runs/run-slots.ts'
import { RunOver } from '../../leader/session/runs/session-run.ts'
import { SettledInteractions, SteeringBell } from '../../leader/session/runs/signals.ts'
import type { Reply } from '../../leader/transport/host-port.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'

async function open(options: Parameters<typeof SessionWorld.inMemory>[0] = {}): Promise<SessionWorld> {
  const world = await SessionWorld.inMemory(options)
  await world.create(SESSION)
  return world
}

function stop(world: SessionWorld, sessionId: string, turnId: string, runId: string): Promise<Reply> {
  return world.call('turn.stop', { sessionId, turnId, runId })
}

async function statusOf(world: SessionWorld, sessionId: string, turnId: string): Promise<string> {
  return (await world.ok('turn.query', { sessionId, turnId })).status
}

test('E9 places are given in order, left once however often, and given up while waiting', () => {
  const slots = new RunSlots(2)
  const started: string[] = []
  const take = (name: string): RunPlace => slots.take(() => started.push(name))
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(take) as [RunPlace, RunPlace, RunPlace, RunPlace, RunPlace]
  expect(started).toEqual(['a', 'b'])
  expect([a.isWaiting, c.isWaiting, slots.taken, slots.waiting]).toEqual([false, true, 2, 3])
  c.leave()
  c.leave()
  expect([slots.taken, slots.waiting]).toEqual([2, 2])
  a.leave()
  a.leave()
  expect([started, slots.taken, slots.waiting]).toEqual([['a', 'b', 'd'], 2, 1])
  for (const place of [b, d, e]) place.leave()
  expect([started, slots.taken, slots.waiting]).toEqual([['a', 'b', 'd', 'e'], 0, 0])
})

test('E9 every way a turn can go gives its place back', async () => {
  const world = await SessionWorld.inMemory({ places: 2 })
  const ids = Array.from({ length: 8 }, (_, number) => `s-${number}`)
  for (const id of ids) await world.create(id)
  // Two run, six wait.
  for (const id of ids) await world.ok('turn.start', { sessionId: id, turnId: `t-${id}`, content: { text: 'go' } })
  expect([world.slots.taken, world.slots.waiting]).toEqual([2, 6])
  // One that waits is stopped again and again: nothing of it stays.
  for (let again = 0; again < 5; again++) {
    const turnId = again === 0 ? 't-s-7' : `t-again-${again}`
    if (again > 0) await world.ok('turn.start', { sessionId: 's-7', turnId, content: { text: 'go' } })
    const { runId } = await world.ok('turn.query', { sessionId: 's-7', turnId })
    expect(await stop(world, 's-7', turnId, runId)).toMatchObject({ ok: true, result: { status: 'cancelled' } })
  }
  expect([world.slots.taken, world.slots.waiting]).toEqual([2, 5])
  await world.runs.of('t-s-0').end()
  await settle()
  await world.runs.of('t-s-1').end({ kind: 'failed', failureClass: 'network' })
  await settle()
  const { runId } = world.runs.of('t-s-2').port
  expect(await stop(world, 's-2', 't-s-2', runId)).toMatchObject({ ok: true })
  await settle()
  // The place of one that fails to be stored is given to the next.
  world.store.faults.failNext('failed')
  const lost = world.runs.of('t-s-3').port.apply({ kind: 'notice', text: 'lost' })
  await expect(world.during(lost)).rejects.toBeInstanceOf(HeadwaterError)
  await world.advance(99)
  for (const id of ['s-4', 's-5', 's-6']) {
    await world.runs.of(`t-${id}`).end()
    await settle()
  }
  expect([world.slots.taken, world.slots.waiting]).toEqual([0, 0])
  const statuses = await Promise.all(ids.slice(0, 7).map(id => statusOf(world, id, `t-${id}`)))
  expect(statuses).toEqual(['completed', 'failed', 'cancelled', 'failed', 'completed', 'completed', 'completed'])
})

test('E9 T8 a stop whose turn waits for a place is kept also when the storage fails in between', async () => {
  const world = await open({ places: 0 })
  await world.ok('turn.start', { sessionId: SESSION, turnId: 't-1', content: { text: 'go' } })
  const { runId } = await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })
  await world.submit(SESSION, 'm-1')
  world.store.faults.hold()
  const stopped = stop(world, SESSION, 't-1', runId)
  await world.store.faults.held()
  world.store.faults.release()
  world.store.faults.hold()
  await Promise.resolve()
  await Promise.resolve()
  await world.store.faults.held()
  // The stop is stored; the end of the turn is not.
  world.store.faults.failNext('failed')
  world.store.faults.release()
  expect(await world.during(stopped)).toMatchObject({
    ok: true,
    result: { status: 'cancelled', abortSource: 'user_stop' },
  })
  expect(world.slots.waiting).toBe(0)
})

test('T11 a run that cannot even be begun fails, and its place is free', async () => {
  const startRun = (): never => {
    throw new Error('no backend can be started')
  }
  const world = await open({ env: { startRun } })
  await world.ok('turn.start', { sessionId: SESSION, turnId: 't-1', content: { text: 'go' } })
  await settle()
  expect(await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({
    status: 'failed',
    failureClass: 'backend_error',
  })
  expect(world.slots.taken).toBe(0)
})

test('T7 a start waits for the clean-up of the run that ended, and then runs', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  run.cleansUpSlowly = true
  await run.end()
  const start = world.call('turn.start', { sessionId: SESSION, turnId: 't-2', content: { text: 'next' } })
  const message = world.submit(SESSION, 'm-1')
  await settle()
  expect(world.runs.started).toHaveLength(1)
  expect(await statusOf(world, SESSION, 't-1')).toBe('completed')
  run.cleanUp()
  expect(await start).toMatchObject({ ok: true, result: { turn: { status: 'running' } } })
  expect(await message).toMatchObject({ ok: true, result: { disposition: 'followup' } })
  expect(world.runs.started).toHaveLength(2)
})

test('T12 Q7 a successor that is admitted during the clean-up starts after it, once', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  run.cleansUpSlowly = true
  await world.submit(SESSION, 'm-1')
  await run.end()
  await settle()
  expect(world.runs.started).toHaveLength(1)
  expect(await world.ok('session.get', { sessionId: SESSION })).toMatchObject({ session: { status: 'running' } })
  run.cleanUp()
  await settle()
  expect(world.runs.started).toHaveLength(2)
  expect(world.runs.started[1]?.port.admission.userMessageId).toBe('m-1')
})

test('T9 what a run was told before its end counts, what it says after is refused and changes nothing', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  const call = { toolCallId: 'c-1', name: 'n', title: 't', status: 'in_progress' as const, input: null }
  void run.port.apply({ kind: 'tool_start', ...call })
  void run.text('before')
  const end = run.end()
  const late = [
    run.port.apply({ kind: 'notice', text: 'late' }),
    run.text('late'),
    run.port.pullSteering(),
    run.port.openInteraction({ kind: 'question', questions: [{ question: 'late?', options: [] }] }),
  ]
  for (const promise of late) await expect(promise).rejects.toBeInstanceOf(RunOver)
  await end
  const { revision } = (await world.loop(SESSION)).core.durable
  await world.advance(99)
  const { entries } = await world.ok('transcript.page', { sessionId: SESSION, limit: 10 })
  expect(entries.map(entry => entry.kind)).toEqual(['user', 'tool', 'assistant'])
  expect(entries[1]).toMatchObject({ status: 'unknown' })
  expect((await world.loop(SESSION)).core.durable.revision).toBe(revision)
  await run.port.end({ kind: 'failed', failureClass: 'second' })
  expect(await statusOf(world, SESSION, 't-1')).toBe('completed')
})

test('I2 A7 nobody is left waiting for an interaction that was refused, answered by a mode, or whose run is over', async () => {
  const settled = new SettledInteractions()
  const outcome = { kind: 'closure', reason: 'expired', at: 1 } as const
  const first = settled.expect('i-1')
  void settled.expect('i-2')
  void settled.expect('i-3')
  settled.settle('i-1', outcome)
  expect(await first).toBe(outcome)
  settled.forget('i-2')
  expect(settled.size).toBe(1)
  settled.clear()
  expect(settled.size).toBe(0)
})

test('Q5 A7 all who wait for a steer share one promise; it rings once for all, and after the run never', async () => {
  const bell = new SteeringBell()
  expect(bell.rings).toBe(bell.rings)
  const rung: string[] = []
  void bell.rings.then(() => rung.push('first'))
  bell.ring()
  void bell.rings.then(() => rung.push('second'))
  await settle()
  expect(rung).toEqual(['first'])
  bell.clear()
  bell.ring()
  await settle()
  expect(rung).toEqual(['first'])
})

test('X15 a run is told the process of an earlier epoch until one of its own epoch is recorded', async () => {
  const world = await open()
  const process = { pid: 1, processGroup: 1, startTicks: 2, bootId: 'b', mark: 'm' }
  const run = await world.start(SESSION, 't-1')
  expect(run.port.formerProcess).toBeNull()
  await run.port.apply({ kind: 'process', process })
  await run.end()
  expect((await world.start(SESSION, 't-2')).port.formerProcess).toBeNull()

  const next = await SessionWorld.after(world)
  const recovered = await next.start(SESSION, 't-3')
  expect(recovered.port.formerProcess).toEqual(process)
  await recovered.end()
  const again = await next.start(SESSION, 't-4')
  expect(again.port.formerProcess).toEqual(process)
  await again.port.apply({ kind: 'process', process: { ...process, pid: 9 } })
  await again.end()
  expect((await next.start(SESSION, 't-5')).port.formerProcess).toBeNull()
})

function cutOffHere(): never {
  throw new Error('the process ends here')
}

test('X13 X1 recovery is the same wherever and however often it is cut off', async () => {
  const world = await open()
  const run = await world.start(SESSION, 't-1')
  await world.submit(SESSION, 'm-1')
  await run.port.openInteraction({ kind: 'question', questions: [{ question: 'q', options: [] }] })
  await world.during(run.text('some text'))
  const ends: unknown[] = []
  for (let epochNumber = 2; epochNumber < 6; epochNumber++) {
    // The first two are cut off: before the recovery is stored, and after.
    if (epochNumber === 2) {
      const cutOff = { crash: cutOffHere }
      await SessionWorld.after(world, { epochNumber, env: cutOff }).catch(() => {})
    } else {
      const next = await SessionWorld.after(world, { epochNumber })
      const { state } = await next.onDisk(SESSION)
      ends.push([state.revision, state.root?.snapshot, state.queue, state.interactions, state.transcript])
    }
  }
  expect(ends[1]).toEqual(ends[0])
  expect(ends[2]).toEqual(ends[0])
  const types = (await world.ledger(SESSION)).flatMap(record => record.events.map(e => e.type))
  expect(types.filter(type => type === 'run_failed')).toHaveLength(1)
  expect(types.filter(type => type === 'interaction_closed')).toHaveLength(1)
  expect(types.filter(type => type === 'queue_entries_parked')).toHaveLength(1)
})

test('T9 E7 a real driver whose session loses a batch ends its backend and the run as storage', async () => {
  const clock = new FakeClock()
  const artifacts = { put: async () => ({ hash: 'sha256:0' }) }
  const backends = new Map([['scripted', createScriptedBackend({ clock })]])
  const startRun = createDriver({ backends, artifacts, clock })
  const ports: RunPort[] = []
  const world = await open({
    env: {
      startRun: port => {
        ports.push(port)
        return startRun(port)
      },
    },
  })
  await world.ok('turn.start', { sessionId: SESSION, turnId: 't-1', content: { text: 'a long reply '.repeat(20) } })
  for (let tick = 0; tick < 5; tick++) {
    await clock.advance(45)
    await world.advance(66)
  }
  world.store.faults.failNext('failed')
  for (let tick = 0; tick < 5; tick++) {
    await clock.advance(45)
    await world.advance(66)
  }
  expect(await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({
    status: 'failed',
    failureClass: 'storage',
  })
  expect(clock.timers).toBe(0)
  expect(world.slots.taken).toBe(0)
  await world.onDisk(SESSION)
})
