import type { LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { toFailure } from '../failure.ts'
import { type EventLine, linesOfRecord } from './event-lines.ts'

/** What a session's ledger holds after a revision, as event lines: each once, in order, whatever the connection does. */
export interface LedgerTail {
  /** The revision up to which lines were given. */
  readonly revision: number
  /** Gives the lines of everything up to `revision` that were not given yet; stops early while there is no connection. */
  readTo(revision: number, emit: (line: EventLine) => Promise<void>): Promise<void>
}

/** A tail that begins after `revision`. */
export function createLedgerTail(connection: LeaderConnection, sessionId: string, revision: number): LedgerTail {
  let done = revision
  return {
    get revision() {
      return done
    },
    async readTo(wanted, emit) {
      while (done < wanted) {
        const page = await readPage(connection, sessionId, done)
        if (page === undefined || page.length === 0) return
        for (const record of page) {
          for (const line of linesOfRecord(sessionId, record)) await emit(line)
          done = record.revision
        }
      }
    },
  }
}

async function readPage(
  connection: LeaderConnection,
  sessionId: string,
  after: number,
): Promise<readonly Pick<LedgerRecord, 'revision' | 'at' | 'events'>[] | undefined> {
  try {
    const { records } = await connection.request('ledger.page', { sessionId, after, limit: LIMITS.ledgerPageRecords })
    return records
  } catch (error) {
    // Without a connection, or while the leader starts or stops, the next change asks again.
    if (PASSING.has(toFailure(error).code)) return undefined
    throw error
  }
}

const PASSING: ReadonlySet<string> = new Set([
  'offline',
  'host_not_ready',
  'host_draining',
  'outcome_unknown',
  'timeout',
])

/** True for a failure that passes by itself when the connection or the leader is back. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(toFailure(error).code)
}
