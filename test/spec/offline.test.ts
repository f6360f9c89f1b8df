import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MemoryCache } from '../../replica/cache/memory-cache.ts'
import { CacheWriter } from '../../replica/cache/writer.ts'
import { connectLeader, type LeaderConnection, openOffline } from '../../replica/index.ts'
import { LIMITS } from '../../schema/limits.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

async function connect(root: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root, surface: 'tui', reconnect: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${result.kind}`)
  return result.connection
}

async function talk(leader: TestLeader, turns: number): Promise<void> {
  await leader.create('session-1')
  for (let i = 1; i <= turns; i++) {
    await leader.startTurn('session-1', `turn-${i}`, `message ${i} 🦊`)
    await leader.ended('session-1', `turn-${i}`)
  }
}

test('O1 O2 what a replica showed last is read without a leader, dated, and its commands say offline', async () => {
  const leader = await startTestLeader()
  await talk(leader, 2)
  const connection = await connect(leader.root)
  const session = await connection.openSessionSubscription({ sessionId: 'session-1' })
  const catalog = await connection.openCatalog()
  await waitFor(() => (catalog.current.length === 1 && session.freshness.state === 'live' ? true : null), {
    what: 'both documents',
  })
  await connection.close()
  const { current } = session
  await leader.close()
  const reader = await openOffline({ root: leader.root })
  const { freshness, ...projection } = (await reader.session('session-1')) ?? expect.fail('the copy is not there')
  expect(projection).toEqual(current)
  expect(freshness.state).toBe('offline')
  expect(freshness.asOf).toBeGreaterThan(0)
  const rows = await reader.catalog()
  expect([...rows]).toEqual([...catalog.current])
  expect(rows.freshness.state).toBe('offline')
  expect(Object.isFrozen(rows[0])).toBe(true)
  expect(await reader.session('session-2')).toBeNull()
  await expect(
    connection.startTurn({ sessionId: 'session-1', turnId: 't', content: { text: 'x' } }),
  ).rejects.toMatchObject({ code: 'offline' })
  await reader.close()
})

test('O1 the transcript is readable as far back as this replica has read, and no gap is shown', async () => {
  const leader = await startTestLeader()
  await leader.create('session-1')
  await leader.startTurn('session-1', 'turn-1', '/hold')
  for (let i = 0; i < 80; i++)
    await leader.submit('session-1', `steer-${i}`, 'current_turn', `steer ${i} ${'x'.repeat(4_000)}`)
  const turn = await leader.ok('turn.query', { sessionId: 'session-1', turnId: 'turn-1' })
  await waitFor(async () => {
    const { queue } = await currentOf(leader)
    return queue.steering.length === 0 ? true : null
  })
  await leader.ok('turn.stop', { sessionId: 'session-1', turnId: turn.turnId, runId: turn.runId })
  const connection = await connect(leader.root)
  const session = await connection.openSessionSubscription({ sessionId: 'session-1' })
  const { firstSeq } = session.current.transcript
  expect(firstSeq).toBeGreaterThan(20)
  const near = await connection.transcript('session-1', { before: firstSeq, limit: 5 })
  // A page that does not follow on to what is shown: kept, but not shown until the gap is read.
  await connection.transcript('session-1', { before: 6, limit: 3 })
  await connection.close()
  await leader.close()
  const reader = await openOffline({ root: leader.root })
  const page = await reader.transcript('session-1')
  expect(page.firstSeq).toBe(near.firstSeq)
  expect(page.entries.slice(0, 5)).toEqual(near.entries)
  expect(page.hasMore).toBe(true)
  expect(page.entries.map(e => e.seq)).toEqual(page.entries.map((_, i) => page.firstSeq + i))
  const older = await reader.transcript('session-1', { before: firstSeq, limit: 2 })
  expect(older.entries).toEqual(near.entries.slice(-2))
})

async function currentOf(leader: TestLeader) {
  const connection = await connect(leader.root)
  const session = await connection.openSessionSubscription({ sessionId: 'session-1' })
  await connection.close()
  return session.current
}

test('O2 a root that is away is read under its path; one that was never seen is not found', async () => {
  const leader = await startTestLeader()
  await talk(leader, 1)
  await currentOf(leader)
  await leader.close()
  rmSync(leader.root, { recursive: true })
  const reader = await openOffline({ root: leader.root })
  expect((await reader.session('session-1'))?.rootTurn?.status).toBe('completed')
  await expect(openOffline({ root: `${leader.root}-other` })).rejects.toMatchObject({ code: 'not_found' })
})

test('O1 a connection with cache: false keeps nothing', async () => {
  const leader = await startTestLeader()
  await talk(leader, 1)
  const result = await connectLeader({ root: leader.root, surface: 'tui', cache: false })
  if (result.kind !== 'connected') throw new Error('not connected')
  await result.connection.openSessionSubscription({ sessionId: 'session-1' })
  await result.connection.close()
  expect(readdirSync(join(process.env.XDG_CACHE_HOME ?? '', '..'))).toContain('cache')
  expect(readdirSync(process.env.XDG_CACHE_HOME ?? '')).toEqual([])
})

test('O1 a copy is written at most once in two seconds, the newest state wins, and flushing writes it at once', async () => {
  const leader = await startTestLeader()
  await talk(leader, 1)
  const projection = await currentOf(leader)
  let nowMs = 0
  let due: (() => void) | undefined
  const clock = {
    now: () => nowMs,
    after: (_delayMs: number, run: () => void) => {
      due = run
      return () => {
        due = undefined
      }
    },
  }
  const memory = new MemoryCache(LIMITS.cacheBytes)
  let writes = 0
  const counting = Object.assign(Object.create(memory) as MemoryCache, {
    read: memory.read.bind(memory),
    write: (...args: Parameters<MemoryCache['write']>) => {
      writes += 1
      return memory.write(...args)
    },
  })
  const writer = new CacheWriter(counting, clock)
  const asOf = { state: 'live', asOf: 5 } as const
  const key = { rootId: 'r', kind: 'session', id: 'session-1' } as const
  for (let i = 1; i <= 40; i++) {
    writer.session('r', { ...projection, revision: i }, asOf)
    nowMs += 100
    due?.()
  }
  await waitFor(() => (writes >= 2 ? true : null), { what: 'the writes that were due' })
  expect(writes).toBe(2)
  await writer.flush()
  expect(writes).toBe(3)
  expect((await memory.read<{ revision: number }>(key))?.value.revision).toBe(40)
})

test('O3 the copy of a session that is no more goes; history of a session that went back is not shown', async () => {
  const memory = new MemoryCache(LIMITS.cacheBytes)
  const writer = new CacheWriter(memory, { now: () => 0, after: () => () => {} })
  const page = { entries: [], firstSeq: 0, lastSeq: 0, hasMore: false }
  const notice = (seq: number) => ({
    seq,
    id: `n${seq}`,
    turnId: 't',
    at: 1,
    kind: 'notice' as const,
    text: String(seq),
  })
  const place = { hostEpoch: 'e', sessionId: 'session-1' }
  writer.history('r', { ...place, revision: 50 }, { ...page, entries: [notice(1), notice(2)] })
  writer.history('r', { ...place, revision: 20 }, { ...page, entries: [notice(3)] })
  await writer.flush()
  const key = { rootId: 'r', kind: 'history', id: 'session-1' } as const
  expect((await memory.read(key))?.value).toEqual({ revision: 20, entries: [notice(3)] })
  writer.removed('r', 'session-1')
  await writer.flush()
  expect(await memory.read(key)).toBeNull()
})
