import type { LeaderConnection } from '../../../replica/client/types.ts'
import { readLedger } from './ledger.ts'

/** What differs between two leaders that did the same: times, epochs, chains of hashes, who looks on. */
const INCIDENTAL = new Set([
  'at',
  'admittedAt',
  'createdAt',
  'endedAt',
  'epochNumber',
  'generation',
  'hash',
  'hostEpoch',
  'lastActivityAt',
  'presence',
  'presenceCount',
  'prevHash',
  'projectionRevision',
  'since',
  'startedAt',
])
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g

/** A session's whole ledger and projection in a form that can be compared across roots: ids that were drawn are numbered instead. */
export async function endState(connection: LeaderConnection, sessionId: string): Promise<unknown> {
  const subscription = await connection.openSessionSubscription({ sessionId })
  const projection = subscription.snapshot
  await subscription.close()
  const ledger = await readLedger(connection, sessionId)
  const text = JSON.stringify({ projection, ledger }, (key, value) => (INCIDENTAL.has(key) ? undefined : value))
  const numbers = new Map<string, string>()
  const named = text.replace(UUID, id => {
    const known = numbers.get(id) ?? `id-${numbers.size + 1}`
    numbers.set(id, known)
    return known
  })
  return JSON.parse(named)
}
