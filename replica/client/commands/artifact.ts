import type { LinkedLeader } from '../link/link.ts'
import { operationError } from './errors.ts'

/** Streams an artifact's bytes with the connection's ticket. Errors: `not_found`, `offline` where the connection ends. Source: L5, Z3. */
export async function* downloadFrom(leader: LinkedLeader, hash: string): AsyncGenerator<Uint8Array> {
  const lost = () => {
    throw operationError('offline')
  }
  const headers = { authorization: `Bearer ${leader.accepted.ticket}` }
  const request = { method: 'GET' as const, path: `/v1/artifacts/${hash}`, headers }
  const { status, pieces } = await leader.endpoint.download(request).catch(lost)
  if (status === 404) throw operationError('not_found', 'there is no such artifact')
  if (status !== 200) throw operationError('internal_failure', `the leader answered ${status}`)
  const iterator = pieces[Symbol.asyncIterator]()
  try {
    for (let step = await iterator.next().catch(lost); !step.done; step = await iterator.next().catch(lost)) {
      yield step.value
    }
  } finally {
    await iterator.return?.()
  }
}
