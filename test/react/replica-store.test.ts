import { expect, onTestFinished, test } from 'vitest'
import { connectLeader, openOffline } from '../../replica/index.ts'
import { createReplicaStore, type ReplicaStoreOptions } from '../../replica/react/replica-store.ts'
import type { Readable, ReplicaStore } from '../../replica/react/types.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

/** A store of the root as a screen would make it; closed when the test ends. */
function storeOf(root: string, options: Partial<ReplicaStoreOptions> = {}): ReplicaStore {
  const store = createReplicaStore({
    connect: signal => connectLeader({ root, surface: 'tui', signal }),
    openOffline: () => openOffline({ root }).catch(() => null),
    ...options,
  })
  onTestFinished(() => store.close())
  return store
}

/** Reads on, and keeps what was seen. */
function reading<T>(readable: Readable<T>): { readonly seen: T[]; stop(): void } {
  const seen = [readable.getSnapshot()]
  const stop = readable.subscribe(() => seen.push(readable.getSnapshot()))
  onTestFinished(stop)
  return { seen, stop }
}

const isLive = ({ freshness }: { freshness: { state: string } }): boolean => freshness.state === 'live'

async function talked(leader: TestLeader, sessionId: string, text = 'hello'): Promise<void> {
  await leader.create(sessionId)
  await leader.startTurn(sessionId, `${sessionId}-turn`, text)
  await leader.ended(sessionId, `${sessionId}-turn`)
}

test('experience 10.1 a store finds its leader, shows sessions and the catalog, and follows what happens', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  await talked(leader, 'two')
  const store = storeOf(leader.root)
  expect(store.link.getSnapshot().kind).toBe('connecting')
  const [catalog, one, two] = [reading(store.catalog), reading(store.session('one')), reading(store.session('two'))]
  await waitFor(() => isLive(store.session('one').getSnapshot()) && isLive(store.session('two').getSnapshot()))
  await waitFor(() => isLive(store.catalog.getSnapshot()))
  expect(store.link.getSnapshot().kind).toBe('connected')
  expect(store.catalog.getSnapshot().rows?.map(row => row.sessionId)).toEqual(['two', 'one'])
  expect(store.session('one').getSnapshot().projection?.rootTurn?.status).toBe('completed')
  const before = store.session('two').getSnapshot()
  await leader.startTurn('one', 'next', 'again')
  await waitFor(() => store.session('one').getSnapshot().projection?.rootTurn?.turnId === 'next')
  expect(store.session('two').getSnapshot()).toBe(before)
  for (const { seen } of [catalog, one, two] as { seen: unknown[] }[]) expect(new Set(seen).size).toBe(seen.length)
})
