import type { LeaderConnection } from '../../../replica/client/types.ts'
import { ReplicaOperationError } from '../../../replica/index.ts'
import type { Result } from '../../../schema/commands/index.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { within } from '../wait-for.ts'

/** The hash of every record of a session, in order. */
export type Ledgers = ReadonlyMap<string, readonly string[]>

/** How a session was found. */
export type Found = 'equal' | 'quarantined' | 'went back' | 'missing' | 'empty' | 'never opened' | 'read in part'

/** Unit: ms. */
const OPEN_MS = 8_000

const isLate = (error: unknown): boolean => error instanceof Error && error.message.startsWith('not settled within')

/** Reads the ledgers of sessions. */
export async function readLedgers(connection: LeaderConnection, sessionIds: Iterable<string>): Promise<Ledgers> {
  const ledgers = new Map<string, readonly string[]>()
  for (const sessionId of sessionIds) ledgers.set(sessionId, await readHashes(connection, sessionId))
  return ledgers
}

async function readHashes(connection: LeaderConnection, sessionId: string): Promise<readonly string[]> {
  const hashes: string[] = []
  for (let after: number | null = 0; after !== null; ) {
    const asked = { sessionId, after, limit: LIMITS.ledgerPageRecords }
    const page: Result<'ledger.page'> = await connection.request('ledger.page', asked)
    hashes.push(...page.records.map(record => record.hash))
    after = page.nextAfter
  }
  return hashes
}

/** Compares a session with what was acknowledged of it: later records are well, fewer or others are not. */
export async function findSession(
  connection: LeaderConnection,
  sessionId: string,
  acknowledged: readonly string[],
): Promise<Found> {
  try {
    const { session } = await connection.request('session.get', { sessionId })
    if (session.status === 'damaged') return 'quarantined'
    // What cannot be opened is found damaged now.
    const opened = await within(connection.openSessionSubscription({ sessionId }), OPEN_MS, 'the session opens').catch(
      error => (isLate(error) ? null : Promise.reject(error)),
    )
    if (opened === null) return 'never opened'
    const { revision } = opened.snapshot
    await opened.close()
    const again = await connection.request('session.get', { sessionId })
    if (again.session.status === 'damaged') return 'quarantined'
    if (revision === 0) return 'empty'
    return compare(await readHashes(connection, sessionId), acknowledged)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = error instanceof ReplicaOperationError ? error.code : 'reason' in error ? String(error.reason) : ''
    if (code === 'not_found' || code === 'session_removed') return 'missing'
    if (code === 'session_damaged' || code === 'damaged') return 'quarantined'
    if (code !== '') return 'read in part'
    throw error
  }
}

/** A session that lost records may have gone on with others. */
function compare(found: readonly string[], acknowledged: readonly string[]): Found {
  if (found.length === 0) return 'empty'
  return acknowledged.every((hash, i) => found[i] === hash) ? 'equal' : 'went back'
}
