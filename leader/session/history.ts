import type { TranscriptEntry, TranscriptPage } from '../../schema/entities/transcript.ts'
import type { SessionState } from '../domain/state.ts'
import type { StoreReader } from '../log/store.ts'
import { decodeJson } from './record.ts'
import { type SegmentRow, sortable } from './rows.ts'

/**
 * The newest `limit` entries before `before` (or the newest at all): the live ones first, then sealed segments from the youngest to the oldest.
 * Reads only the segments it needs. Source: L3.
 */
export async function readTranscriptBefore(
  store: StoreReader,
  state: SessionState,
  before: number | undefined,
  limit: number,
): Promise<TranscriptPage> {
  const end = before ?? Number.MAX_SAFE_INTEGER
  const live = state.transcript.map(l => l.entry).filter(entry => entry.seq < end)
  let entries: TranscriptEntry[] = live.slice(-limit)
  const firstLive = state.transcript[0]?.entry.seq ?? state.nextSeq
  let cursor = sortable(Math.min(end, firstLive))
  while (entries.length < limit && (entries[0]?.seq ?? Math.min(end, firstLive)) > 1) {
    const [segment] = await store.rows('segment', state.sessionId, { after: cursor, limit: 1, reverse: true })
    if (segment === undefined) break
    cursor = segment.id
    const sealed = decodeJson<SegmentRow>(segment.value).entries.filter(entry => entry.seq < end)
    entries = [...sealed.slice(-(limit - entries.length)), ...entries]
  }
  const firstSeq = entries[0]?.seq ?? 0
  return { entries, firstSeq, lastSeq: entries.at(-1)?.seq ?? 0, hasMore: firstSeq > 1 }
}
