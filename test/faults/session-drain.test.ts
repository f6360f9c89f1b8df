import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { drainSessions } from '../../leader/drain.ts'
import { LIMITS } from '../../schema/limits.ts'
import { testRoot } from '../support/live/test-root.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'
import { within } from '../support/wait-for.ts'

const SCRIPT = fileURLToPath(new URL('../support/session/leader-child.ts', import.meta.url))

interface Child {
  readonly process: ChildProcess
  readonly lines: Record<string, unknown>[]
  readonly exited: Promise<[number | null, NodeJS.Signals | null]>
  /** Resolves with the line that has this key. */
  line(key: string): Promise<Record<string, unknown>>
}

/** A leader in a process that ends only by itself: nothing ends it before the deadline of the test. */
function startChild(root: string, idleGraceMs?: number): Child {
  const args = ['--import', 'tsx', SCRIPT, root, ...(idleGraceMs === undefined ? [] : [String(idleGraceMs)])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: Record<string, unknown>[] = []
  const waiting: (() => void)[] = []
  createInterface({ input: child.stdout }).on('line', text => {
    lines.push(JSON.parse(text) as Record<string, unknown>)
    for (const wake of waiting.splice(0)) wake()
  })
  const find = async (key: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const found = lines.find(line => key in line)
      if (found !== undefined) return found
      await new Promise<void>(resolve => waiting.push(resolve))
    }
  }
  return {
    process: child,
    lines,
    exited: once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
    line: key => within(find(key), 20_000, `the line ${key}`),
  }
}

async function exitOf(child: Child, deadlineMs: number): Promise<number | null> {
  const [code, signal] = await within(child.exited, deadlineMs, 'the process ends by itself')
  expect(signal).toBeNull()
  return code
}

test('E4 a leader whose clients are gone ends by itself after the grace; a turn keeps it, parked entries do not', async () => {
  const root = testRoot()
  const child = startChild(root.path, 300)
  await child.line('ready')
  const connection = await root.connect()
  const sessionId = 's-1'
  await connection.createSession({ sessionId, cwd: '/', backend: 'scripted' })
  await connection.request('turn.start', { sessionId, turnId: 't-1', content: { text: 'reply '.repeat(12) } })
  await connection.close()
  const from = performance.now()
  const code = await exitOf(child, 15_000)
  // The reply takes 8 pieces of 45 ms, and the grace comes after it.
  expect(performance.now() - from).toBeGreaterThan(600)
  expect([code, child.lines.at(-1)]).toEqual([0, { closed: 'ok' }])
  const turn = await root.offline(store => store.readTurn(sessionId, 't-1'))
  expect(turn.classification).toMatchObject({ kind: 'fact', fact: { runStatus: 'completed' } })
})

test('E6 X14 a drain with a running turn, a waiting question and a queue: true ends, nothing to recover, no handle left', async () => {
  const root = testRoot()
  const child = startChild(root.path)
  const { ready } = await child.line('ready')
  const connection = await root.connect()
  for (const [sessionId, backend, text] of [
    ['s-polite', 'polite', 'go'],
    ['s-asks', 'scripted', '/ask'],
    ['s-holds', 'scripted', '/hold'],
  ] as const) {
    await connection.createSession({ sessionId, cwd: '/', backend })
    await connection.request('turn.start', { sessionId, turnId: `t-${sessionId}`, content: { text } })
  }
  const { hostEpoch: originHostEpoch } = connection
  const message = { originHostEpoch, content: { text: 'later' }, placement: 'next_turn' as const }
  await connection.request('turn.message.submit', { ...message, sessionId: 's-holds', messageId: 'm-1' })
  child.process.kill('SIGUSR2')
  expect(await exitOf(child, 15_000)).toBe(0)
  expect(child.lines.slice(1)).toEqual([{ closed: 'ok' }, { thrice: true }])
  expect(existsSync(join(dirname(ready as string), 'leader.json'))).toBe(false)
  await root.offline(async store => {
    for (const sessionId of ['s-polite', 's-asks', 's-holds']) {
      const turn = await store.readTurn(sessionId, `t-${sessionId}`)
      expect(turn.classification).toEqual({
        kind: 'fact',
        fact: { runStatus: 'cancelled', abortSource: 'leader_shutdown' },
      })
    }
    const { queue, interactions } = await store.readSession('s-holds')
    expect(queue.parked?.reason).toBe('leader_stopped')
    expect(queue.followup.map(entry => entry.messageId)).toEqual(['m-1'])
    expect(interactions.pending).toEqual([])
    expect((await store.readSession('s-asks')).interactions.pending).toEqual([])
  })
  // Nothing to recover: the next epoch writes nothing into any of them.
  const revisions = await root.offline(async store => (await store.readSession('s-holds')).revision)
  const next = startChild(root.path)
  await next.line('ready')
  next.process.kill('SIGTERM')
  expect(await exitOf(next, 15_000)).toBe(0)
  expect(await root.offline(async store => (await store.readSession('s-holds')).revision)).toBe(revisions)
})

test('E6 T9 a backend that hangs is cut off by a close that is told not to wait', async () => {
  const root = testRoot()
  const child = startChild(root.path)
  await child.line('ready')
  const connection = await root.connect()
  await connection.createSession({ sessionId: 's-1', cwd: '/', backend: 'hanging' })
  await connection.request('turn.start', { sessionId: 's-1', turnId: 't-1', content: { text: 'go' } })
  const from = performance.now()
  child.process.kill('SIGTERM')
  // It waits for the backend; the second close does not.
  await within(connectionLost(connection), 5_000, 'the leader says that it drains').catch(() => {})
  child.process.kill('SIGHUP')
  expect(await exitOf(child, 15_000)).toBe(0)
  expect(performance.now() - from).toBeLessThan(LIMITS.stopCutoffMs)
  expect(child.lines.at(-1)).toEqual({ closed: 'ok' })
})

async function connectionLost(connection: { status(): Promise<{ state: string }> }): Promise<void> {
  for (;;) {
    const { state } = await connection.status()
    if (state === 'draining') return
  }
}

async function drain(world: SessionWorld, now = false): Promise<boolean> {
  world.isDraining = true
  world.host.moveTo('draining')
  return await world.during(drainSessions(world.sessions, world.host, now))
}

test('E6 E9 X14 a turn that waits for a place ends with the leader, and does not take the place that gets free', async () => {
  const world = await SessionWorld.inMemory({ places: 1 })
  for (const id of ['s-1', 's-2']) await world.create(id)
  await world.start('s-1', 't-1')
  await world.ok('turn.start', { sessionId: 's-2', turnId: 't-2', content: { text: 'waits' } })
  expect(await drain(world)).toBe(true)
  expect(world.runs.started).toHaveLength(1)
  for (const [sessionId, turnId] of [
    ['s-1', 't-1'],
    ['s-2', 't-2'],
  ] as const) {
    const { state } = await world.onDisk(sessionId)
    expect(state.root?.snapshot).toMatchObject({ turnId, status: 'cancelled', abortSource: 'leader_shutdown' })
  }
  expect([world.slots.taken, world.slots.waiting]).toEqual([0, 0])
})

test('E6 X14 commands under way when the leader begins to stop are finished or refused, and leave nothing undone', async () => {
  const world = await SessionWorld.inMemory()
  for (const id of ['s-1', 's-2', 's-3']) await world.create(id)
  const run = await world.start('s-1', 't-1')
  world.store.faults.hold()
  // Decided before the drain, durable after it began; and not decided yet.
  const admitted = world.call('turn.start', { sessionId: 's-2', turnId: 't-2', content: { text: 'go' } })
  await world.store.faults.held()
  const { lane } = await world.loop('s-3')
  lane.pause()
  const waiting = world.call('turn.start', { sessionId: 's-3', turnId: 't-3', content: { text: 'go' } })
  const queued = world.submit('s-1', 'm-1')
  await settle()
  const drained = drain(world)
  await settle()
  lane.resume()
  world.store.faults.release()
  expect(await drained).toBe(true)
  expect(await admitted).toMatchObject({ ok: true, result: { turn: { turnId: 't-2', status: 'cancelled' } } })
  expect(await waiting).toMatchObject({ ok: false, error: { code: 'host_draining' } })
  expect(await queued).toMatchObject({ ok: true })
  expect(run.stops).toEqual(['leader_shutdown'])
  for (const id of ['s-1', 's-2', 's-3']) expect((await world.onDisk(id)).active).toBeNull()
  expect((await world.onDisk('s-1')).state.queue).toMatchObject([{ entry: { messageId: 'm-1', state: 'parked' } }])
  expect(await world.refused('session.get', { sessionId: 's-1' })).toMatchObject({ code: 'host_draining' })
})

test('E6 E8 a drain that cannot be stored is not clean, and says which session it was', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s-1')
  await world.create('s-2')
  await world.start('s-1', 't-1')
  await world.ok('session.archive', { sessionId: 's-2' })
  // The storage is lost for good while the leader drains.
  world.store.faults.takeSession('s-1', 'another', 'http://127.0.0.1:1')
  await world.advance(33)
  expect(await drain(world, true)).toBe(false)
  expect(world.logged.filter(line => line.message.includes('brought to an end'))).toMatchObject([
    { fields: { session_id: 's-1' } },
  ])
})
