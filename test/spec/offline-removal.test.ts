import { expect, test } from 'vitest'
import type { CacheKey } from '../../replica/cache/contract.ts'
import { MemoryCache } from '../../replica/cache/memory-cache.ts'
import { OfflineReader } from '../../replica/cache/offline-reader.ts'
import { CacheWriter } from '../../replica/cache/writer.ts'
import { connectLeader, type LeaderConnection, openOffline } from '../../replica/index.ts'
import type { CatalogRow, SessionProjection } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import { talked } from '../support/react/screen-store.ts'
import { startTestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

const NO_CLOCK = { now: () => 0, after: () => () => {} }
const LIVE = (asOf: number) => ({ state: 'live', asOf }) as const
const PLACE = { hostEpoch: 'e', asOf: 1 }

async function connected(root: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root, surface: 'tui', reconnect: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${result.kind}`)
  return result.connection
}

/** A session as it would be shown at a revision of a build. */
function projection(id: string, generation: string, revision: number, isArchived = false): SessionProjection {
  const session = { sessionId: id, isArchived }
  return { session, hostEpoch: 'e', generation, revision, projectionRevision: 1 } as unknown as SessionProjection
}

function row(sessionId: string, lastActivityAt: number, isArchived = false): CatalogRow {
  return { sessionId, lastActivityAt, isArchived } as CatalogRow
}

test('O3 a session that was archived or deleted meanwhile takes its copies with it at the next contact', async () => {
  const leader = await startTestLeader()
  for (const id of ['kept', 'archived', 'deleted', 'opened']) await talked(leader, id)
  const first = await connected(leader.root)
  for (const sessionId of ['kept', 'archived', 'deleted', 'opened']) await first.openSessionSubscription({ sessionId })
  await first.openCatalog()
  await first.close()
  await leader.ok('session.archive', { sessionId: 'archived' })
  for (const sessionId of ['deleted', 'opened']) {
    const { revision } = (await leader.ok('session.get', { sessionId })).session
    await leader.ok('session.delete', { sessionId, expectedRevision: revision })
  }
  const before = await openOffline({ root: leader.root })
  for (const id of ['kept', 'archived', 'deleted', 'opened']) expect(await before.session(id)).not.toBeNull()

  // Only what is asked for is known: without the list, the session that is opened.
  const second = await connected(leader.root)
  await expect(second.openSessionSubscription({ sessionId: 'opened' })).rejects.toMatchObject({ code: 'not_found' })
  await second.close()
  const reader = await openOffline({ root: leader.root })
  expect(await reader.session('opened')).toBeNull()
  expect(await reader.session('deleted')).not.toBeNull()

  const third = await connected(leader.root)
  const list = await third.openCatalog()
  await waitFor(() => list.current.length === 1)
  await third.close()
  expect(await reader.session('kept')).not.toBeNull()
  for (const id of ['archived', 'deleted']) expect([id, await reader.session(id)]).toEqual([id, null])
  for (const id of ['archived', 'deleted', 'opened']) expect([id, await reader.aside(id)]).toEqual([id, null])
})

test('O3 what is archived is not kept while it is looked at, and is kept again once it is taken back', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const connection = await connected(leader.root)
  const session = await connection.openSessionSubscription({ sessionId: 'one' })
  await connection.request('session.archive', { sessionId: 'one' })
  await waitFor(() => session.current.session.isArchived)
  await connection.transcript('one')
  await connection.close()
  const reader = await openOffline({ root: leader.root }).catch(() => null)
  expect((await reader?.session('one')) ?? null).toBeNull()
  await leader.ok('session.unarchive', { sessionId: 'one' })
  const again = await connected(leader.root)
  await again.openSessionSubscription({ sessionId: 'one' })
  await again.close()
  expect(await (await openOffline({ root: leader.root })).session('one')).toMatchObject({
    session: { isArchived: false },
  })
})

test('O3 a session that only left the end of a full list keeps its copy', async () => {
  const cache = new MemoryCache(LIMITS.cacheBytes)
  const key = (id: string): CacheKey => ({ rootId: 'r', kind: 'session', id })
  const first = new CacheWriter(cache, NO_CLOCK)
  const rows = Array.from({ length: LIMITS.catalogRows }, (_, i) => row(`s${i}`, 10_000 - i))
  for (const id of ['s3', `s${LIMITS.catalogRows - 1}`]) first.session('r', projection(id, 'g', 1), LIVE(1))
  first.catalog('r', PLACE, rows)
  await first.flush()
  const second = new CacheWriter(cache, NO_CLOCK)
  second.catalog('r', PLACE, [
    row('new', 20_000),
    row('other', 20_001),
    ...rows.filter(r => r.sessionId !== 's3').slice(0, -1),
  ])
  await second.flush()
  expect(await cache.read(key('s3'))).toBeNull()
  expect(await cache.read(key(`s${LIMITS.catalogRows - 1}`))).not.toBeNull()
})

test.each([
  ['of another lineage and ahead', ['aaaaaaaa.1', 10, 5], ['bbbbbbbb.2', 7, 9], true],
  ['of another lineage with revisions this leader never had', ['aaaaaaaa.1', 7, 5], ['bbbbbbbb.2', 7, 9], false],
  ['of the same lineage, earlier, and yet ahead', ['g1', 10, 5], ['g2', 7, 9], true],
  ['of the same lineage and ahead because it is of a later time', ['g1', 10, 12], ['g1', 7, 9], false],
  ['behind, as it should be', ['g1', 5, 5], ['g2', 7, 9], false],
] as const)(
  'V6 O3 a copy %s: is it kept aside?',
  async (_what, [generation, revision, asOf], [now, has, at], isKept) => {
    const cache = new MemoryCache(LIMITS.cacheBytes)
    const earlier = new CacheWriter(cache, NO_CLOCK)
    earlier.session('r', projection('s', generation, revision), LIVE(asOf))
    await earlier.flush()
    const later = new CacheWriter(cache, NO_CLOCK)
    later.session('r', projection('s', now, has), LIVE(at))
    await later.flush()
    const reader = new OfflineReader('r', cache)
    expect(await reader.session('s')).toMatchObject({ generation: now, revision: has })
    const aside = await reader.aside('s')
    if (isKept) expect(aside).toMatchObject({ generation, revision, freshness: { state: 'offline', asOf } })
    else expect(aside).toBeNull()
  },
)

test('V6 O3 what a restored root does not have any more is kept aside, what was deleted is not', async () => {
  const cache = new MemoryCache(LIMITS.cacheBytes)
  const earlier = new CacheWriter(cache, NO_CLOCK)
  earlier.session('r', projection('lost', 'aaaaaaaa.1', 10), LIVE(5))
  earlier.catalog('r', PLACE, [row('lost', 9), row('other', 8)])
  await earlier.flush()
  const reader = new OfflineReader('r', cache)
  const later = new CacheWriter(cache, NO_CLOCK)
  later.catalog('r', PLACE, [row('other', 3)])
  await later.flush()
  expect(await reader.session('lost')).toBeNull()
  expect(await reader.aside('lost')).toMatchObject({ revision: 10, generation: 'aaaaaaaa.1' })
  later.removed('r', 'lost')
  await later.flush()
  expect(await reader.aside('lost')).toBeNull()
})
