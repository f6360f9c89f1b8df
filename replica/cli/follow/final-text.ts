import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TextEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'

/** Reads a page of history: entries before `before`, oldest first. */
export type ReadPage = LeaderConnection['transcript']

/** The answer of a turn. `isCut`: it was longer than is kept, the beginning is missing. */
export interface FinalText {
  readonly text: string
  readonly isCut: boolean
}

/**
 * The text the assistant gave in a turn: pieces of one message joined, different messages separated by a blank line. What has left the
 * live transcript is read page by page. Source: L2, L3, interfaces 5.
 */
export async function finalText(projection: SessionProjection, turnId: string, readPage: ReadPage): Promise<FinalText> {
  const { sessionId } = projection.session
  const pieces: TextEntry[] = []
  let chars = 0
  let page: SessionProjection['transcript'] = projection.transcript
  for (;;) {
    for (const entry of page.entries.toReversed()) {
      if (entry.kind !== 'assistant' || entry.turnId !== turnId) continue
      pieces.push(entry)
      chars += entry.text.length
      if (chars > LIMITS.finalTextChars) return { text: joinPieces(pieces.reverse()), isCut: true }
    }
    if (!page.hasMore || page.entries.length === 0 || isBefore(page.entries, turnId)) break
    page = await readPage(sessionId, { before: page.firstSeq, limit: LIMITS.transcriptPageEntries })
  }
  return { text: joinPieces(pieces.reverse()), isCut: false }
}

/** True when these entries reach back to the turn's first: its own message, or anything older. */
function isBefore(entries: readonly TranscriptEntry[], turnId: string): boolean {
  const first = entries[0]
  if (first === undefined) return true
  const hasStart = entries.some(entry => entry.turnId === turnId && entry.kind === 'user' && entry.isSteering !== true)
  return hasStart || (first.turnId !== turnId && entries.some(entry => entry.turnId === turnId))
}

/** Pieces in order, as one text. */
export function joinPieces(pieces: readonly Pick<TextEntry, 'messageId' | 'text'>[]): string {
  let text = ''
  let last: string | undefined
  for (const piece of pieces) {
    if (last !== undefined && piece.messageId !== last) text += '\n\n'
    text += piece.text
    last = piece.messageId
  }
  return text
}
