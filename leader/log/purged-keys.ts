import { headKey, receiptKey, rowKey, sessionRanges } from './keys.ts'
import type { PurgeKeep } from './store.ts'
import type { Table } from './table.ts'

/** Keys of a deleted session that go next, and whether they are all that is left beside what is kept; its head is the last. */
export async function purgedKeys(
  table: Pick<Table, 'keys'>,
  session: string,
  { receipts, segmentsThrough }: PurgeKeep,
  limit: number,
): Promise<{ readonly keys: readonly string[]; readonly isAll: boolean }> {
  const kept = new Set(receipts.map(({ operation, id }) => receiptKey(session, operation, id)))
  const segments = rowKey('segment', session, '0')
  const lastKept = segmentsThrough === null ? null : rowKey('segment', session, segmentsThrough)
  const keys: string[] = []
  for (const range of sessionRanges(session)) {
    const isSegments = segments >= range.gte && segments < range.lt
    const gte = isSegments && lastKept !== null ? `${lastKept}\0` : range.gte
    const found = await table.keys({ gte, lt: range.lt, limit: limit - keys.length + kept.size + 1 })
    const gone = found.filter(key => !kept.has(key))
    const room = limit - keys.length
    keys.push(...gone.slice(0, room))
    if (gone.length >= room) return { keys, isAll: false }
  }
  return { keys: [...keys, headKey(session)], isAll: true }
}
