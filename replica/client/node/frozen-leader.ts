import { setTimeout as pause } from 'node:timers/promises'
import type { Input, Result } from '../../../schema/commands/index.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { Places } from '../../../schema/places.ts'
import type { Registration } from '../../../schema/wire/registration.ts'
import { findRegistrations } from './discovery.ts'
import { localEndpoint } from './endpoint.ts'

/** What every leader of every version understands. Source: M2. */
export type FrozenOperation = 'host.status' | 'host.shutdown'

const LOOK_AGAIN_MS = 25

/** Asks the leader of a registration, whatever it speaks. Undefined: it did not answer. Source: M2. */
export async function askFrozen<Op extends FrozenOperation>(
  registration: Registration,
  operation: Op,
  input: Input<Op>,
): Promise<Result<Op> | undefined> {
  try {
    const endpoint = await localEndpoint(registration.socketPath, registration.rootId)
    const answer = await endpoint.http({
      method: 'POST',
      path: `/v1/command/${operation}`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(input)),
    })
    const reply = JSON.parse(answer.body) as { ok: boolean; result?: Result<Op> }
    return reply.ok ? reply.result : undefined
  } catch {
    return undefined
  }
}

/** What became of an older leader: it is gone, or it is at work and was left alone. Null: it could not be asked. Source: M3. */
export type Replaced =
  | { readonly kind: 'gone' }
  | { readonly kind: 'busy'; readonly connections: number; readonly activeTurns: number }

/** Asks the leader of a root to end if nobody needs it, and waits until it has ended. Source: M3. */
export async function endIdleLeader(root: string, places: Places, signal?: AbortSignal): Promise<Replaced | null> {
  const [registration] = (await findRegistrations(places, root)).here
  if (registration === undefined) return null
  const status = await askFrozen(registration, 'host.status', {})
  if (status === undefined) return null
  const { connections, activeTurns, hostEpoch } = status
  if (connections > 0 || activeTurns > 0) return { kind: 'busy', connections, activeTurns }
  if (status.state !== 'draining') await askFrozen(registration, 'host.shutdown', {})
  const until = performance.now() + LIMITS.stopWaitMs
  while (performance.now() < until && signal?.aborted !== true) {
    const known = (await findRegistrations(places, root)).here
    if (!known.some(each => each.hostEpoch === hostEpoch)) return { kind: 'gone' }
    if ((await askFrozen(registration, 'host.status', {})) === undefined) return { kind: 'gone' }
    await pause(LOOK_AGAIN_MS)
  }
  return null
}
