import type { TranscriptEntry, TranscriptPage } from '../../schema/entities/transcript.ts'
import { utf8Bytes } from '../../schema/text.ts'
import type { SessionState } from '../domain/state.ts'
import type { StoreReader } from '../log/store.ts'
import { PageRoom } from './page-room.ts'
import { decodeJson } from './record.ts'
import { type SegmentRow, sortable } from './rows.ts'

/**
 * The newest `limit` entries before `before` (or the newest at all), fewer where a page has no room for them: the live ones first, then
 * sealed segments from the youngest to the oldest, those of a fork's source after its own. Reads only the segments it needs. Source: L3.
 */
export async function readTranscriptBefore(
  store: StoreReader,
  state: SessionState,
  before: number | undefined,
  limit: number,
): Promise<TranscriptPage> {
  const end = before ?? Number.MAX_SAFE_INTEGER
  const room = new PageRoom()
  const newestFirst: TranscriptEntry[] = []
  /** Takes entries from the last on; false when the page is full. */
  const take = (entries: readonly TranscriptEntry[]): boolean => {
    for (const entry of entries.toReversed()) {
      if (entry.seq >= end) continue
      if (newestFirst.length >= limit || !room.take(utf8Bytes(JSON.stringify(entry)))) return false
      newestFirst.push(entry)
    }
    return newestFirst.length < limit
  }
  const firstLive = state.transcript[0]?.entry.seq ?? state.nextSeq
  let cursor = sortable(Math.min(end, firstLive))
  let hasRoom = take(state.transcript.map(l => l.entry))
  let { sessionId } = state
  while (hasRoom && (newestFirst.at(-1)?.seq ?? Math.min(end, firstLive)) > 1) {
    const [row] = await store.rows('segment', sessionId, { after: cursor, limit: 1, reverse: true })
    if (row === undefined) break
    const segment = decodeJson<SegmentRow>(row.value)
    if ('entries' in segment) {
      cursor = row.id
      hasRoom = take(segment.entries)
    } else {
      // A fork goes on in the session it was made from, never further down than it was made. Source: S6.
      sessionId = segment.sourceSessionId
      cursor = sortable(Math.min(end, segment.through + 1))
    }
  }
  const entries = newestFirst.reverse()
  const firstSeq = entries[0]?.seq ?? 0
  return { entries, firstSeq, lastSeq: entries.at(-1)?.seq ?? 0, hasMore: firstSeq > 1 }
}
