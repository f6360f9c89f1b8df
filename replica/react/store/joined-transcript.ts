import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { HistoryView, TranscriptView } from '../types.ts'

/**
 * Older entries and the live part as one. Entries the live part has are taken from there; older ones that do not follow on to it are left out.
 * Source: experience 10.2.
 */
export function joinTranscript(projection: SessionProjection | null, history: HistoryView): TranscriptView {
  const { isLoading, failure } = history
  if (projection === null) return Object.freeze({ entries: Object.freeze([]), hasMore: false, isLoading, failure })
  const { entries: live, firstSeq, hasMore } = projection.transcript
  const older = history.entries.filter(({ seq }) => seq < firstSeq)
  const isJoined = older.at(-1)?.seq === firstSeq - 1
  return Object.freeze({
    entries: isJoined ? Object.freeze([...older, ...live]) : live,
    hasMore: isJoined ? history.hasMore : hasMore,
    isLoading,
    failure,
  })
}
