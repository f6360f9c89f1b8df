import type { ConnectOptions, ConnectResult } from './client/types.ts'

/**
 * Connects to the leader of a data root on this machine, or of a URL; with `spawn` one is started where none runs.
 * `connected` means that the leader is ready. Copies of what is shown are kept for reading offline unless `cache` is false.
 * Source: E3, W3, O1.
 */
export async function connectLeader(options: ConnectOptions): Promise<ConnectResult> {
  const node = await import('./client/node/connect-leader.ts')
  if (options.cache === false) return node.connectLeader(options)
  const { openCopies } = await import('./cache/node/open-copies.ts')
  return node.connectLeader(options, openCopies(options))
}
