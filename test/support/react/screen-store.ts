import { onTestFinished } from 'vitest'
import { connectLeader, openOffline } from '../../../replica/index.ts'
import { createReplicaStore, type ReplicaStoreOptions } from '../../../replica/react/replica-store.ts'
import type { Readable, ReplicaStore } from '../../../replica/react/types.ts'
import type { TestLeader } from '../start-test-leader.ts'

/** A store of the root as a screen would make it; closed when the test ends. */
export function storeOf(root: string, options: Partial<ReplicaStoreOptions> = {}): ReplicaStore {
  const store = createReplicaStore({
    connect: signal => connectLeader({ root, surface: 'tui', signal }),
    openOffline: () => openOffline({ root }).catch(() => null),
    ...options,
  })
  onTestFinished(() => store.close())
  return store
}

/** Reads on until the test ends or `stop`, and keeps what was seen. */
export function reading<T>(readable: Readable<T>): { readonly seen: T[]; stop(): void } {
  const seen = [readable.getSnapshot()]
  const stop = readable.subscribe(() => seen.push(readable.getSnapshot()))
  onTestFinished(stop)
  return { seen, stop }
}

/** True for a view that is live. */
export function isLive(readable: Readable<{ readonly freshness: { readonly state: string } }>): boolean {
  return readable.getSnapshot().freshness.state === 'live'
}

/** Makes a session with one turn that has ended. */
export async function talked(leader: TestLeader, sessionId: string, text = 'hello'): Promise<void> {
  await leader.create(sessionId)
  await leader.startTurn(sessionId, `${sessionId}-turn`, text)
  await leader.ended(sessionId, `${sessionId}-turn`)
}
