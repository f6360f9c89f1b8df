import { PROTOCOL, VERSION } from '../../schema/version.ts'
import { ReplicaConnection } from './connection.ts'
import type { LinkOptions } from './link/link.ts'
import type { ConnectResult } from './types.ts'

/**
 * Connects with everything given: resolves when the leader is ready, or to why it is not; never rejects. An abort counts as `unavailable`
 * and has no effect any more once connected. Source: E3, W3.
 */
export async function connectWith(options: LinkOptions, signal?: AbortSignal): Promise<ConnectResult> {
  if (signal?.aborted) return { kind: 'unavailable', reason: 'aborted' }
  const connection = new ReplicaConnection(options)
  const abort = (): void => void connection.close()
  signal?.addEventListener('abort', abort, { once: true })
  connection.start()
  const outcome = await connection.first
  signal?.removeEventListener('abort', abort)
  if (outcome.kind === 'ready') return { kind: 'connected', connection }
  switch (outcome.cause) {
    case 'unauthorized':
      return { kind: 'unauthorized' }
    case 'draining':
      return { kind: 'draining' }
    case 'incompatible': {
      const leader = outcome.leader ?? { min: 0, max: 0, version: 'unknown' }
      return { kind: 'incompatible', leader, replica: { ...options.who.protocol, version: VERSION } }
    }
    case 'closed':
      return { kind: 'unavailable', reason: 'aborted' }
    case 'lost':
      return { kind: 'unavailable', reason: outcome.reason }
  }
}

/** The range of protocols this build offers unless told otherwise. */
export const OFFERED_PROTOCOL: { readonly min: number; readonly max: number } = PROTOCOL
