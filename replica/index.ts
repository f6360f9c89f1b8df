import type { ConnectOptions, ConnectResult } from './client/types.ts'

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

/**
 * Connects to the leader of a data root on this machine, or of a URL; with `spawn` one is started where none runs.
 * `connected` means that the leader is ready. Source: E3, W3.
 */
export async function connectLeader(options: ConnectOptions): Promise<ConnectResult> {
  const node = await import('./client/node/connect-leader.ts')
  return node.connectLeader(options)
}
