import type { LeaderConnection } from '../../../replica/client/types.ts'
import type { LedgerEvent, LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'

/** The whole ledger of a session, as the leader tells it. */
export async function readLedger(connection: LeaderConnection, sessionId: string): Promise<readonly LedgerRecord[]> {
  const records: LedgerRecord[] = []
  for (let after: number | null = 0; after !== null; ) {
    const limit = LIMITS.ledgerPageRecords
    const page: { records: readonly unknown[]; nextAfter: number | null } = await connection.request('ledger.page', {
      sessionId,
      after,
      limit,
    })
    records.push(...(page.records as LedgerRecord[]))
    after = page.nextAfter
  }
  return records
}

/** Events of these types, in order, with their payloads as they are stored. */
export function eventsOf(records: readonly LedgerRecord[], ...types: readonly string[]): readonly LedgerEvent[] {
  return records.flatMap(record => record.events).filter(event => types.includes(event.type))
}
