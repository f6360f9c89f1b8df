import type { LedgerRecord } from '../../../../schema/events.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import type { TimelineKind } from '../../../view/timeline/event-table.ts'
import { timelineRow } from '../../../view/timeline/row.ts'
import { StepTimes, type TimedRow } from '../../../view/timeline/step-times.ts'
import { newestRecord, type Page, recordsThrough } from '../../exchange/leader-source.ts'

/** A record with its row in the timeline. */
export interface InspectedRecord {
  readonly record: LedgerRecord
  readonly row: TimedRow
}

/** What of a ledger is read. `newest` absent: all of it; `kind` absent: records of every kind. */
export interface Wanted {
  readonly sessionId: string
  readonly newest?: number
  readonly kind?: TimelineKind
}

/** A ledger on its way: each record once, in order, and in the end what all steps took. */
export interface ReadTimeline {
  readonly times: StepTimes
  /** Its records are there before this one; they are not read. */
  readonly skipped: number
  readonly records: AsyncIterable<InspectedRecord>
}

/** Reads a ledger page by page; of all of it no more than a page is in memory. Source: L1, experience 9.1. */
export async function readTimeline(
  connection: LeaderConnection,
  { sessionId, newest, kind }: Wanted,
  signal: AbortSignal,
): Promise<ReadTimeline> {
  const page: Page = (after, limit) => connection.request('ledger.page', { sessionId, after, limit }, { signal })
  const { revision } = await newestRecord(page)
  const skipped = newest === undefined ? 0 : Math.max(0, revision - newest)
  const times = new StepTimes()
  async function* records(): AsyncGenerator<InspectedRecord> {
    for await (const record of recordsThrough(page, revision, skipped)) {
      const row = times.add(timelineRow(record))
      if (kind === undefined || row.kinds.includes(kind)) yield { record, row }
    }
  }
  return { times, skipped, records: records() }
}
