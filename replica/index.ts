import type { OfflineOptions } from './cache/node/open-offline.ts'
import type { OfflineReader } from './cache/offline-reader.ts'

export type { OfflineOptions } from './cache/node/open-offline.ts'
export type { OfflineReader } from './cache/offline-reader.ts'
export type {
  CatalogSubscription,
  ConnectOptions,
  ConnectResult,
  LeaderConnection,
  RequestOptions,
  SessionSubscription,
  SpawnOptions,
  SubscriptionFrame,
  TextDelta,
  VersionRange,
} from './client/types.ts'
export { ReplicaOperationError, ReplicaProtocolError, ReplicaSubscriptionError } from './client/types.ts'
export { connectLeader } from './connect-leader.ts'

/**
 * Opens what this user's replicas saw of a root, without any leader. Throws ReplicaOperationError `not_found` where nothing was ever seen.
 * Source: O1, O2.
 */
export async function openOffline(options: OfflineOptions = {}): Promise<OfflineReader> {
  const node = await import('./cache/node/open-offline.ts')
  return node.openOffline(options)
}
