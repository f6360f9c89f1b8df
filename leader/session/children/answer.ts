import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { SessionState } from '../../domain/state.ts'
import { readTranscriptBefore } from '../history.ts'
import type { SessionLoop } from '../session-loop.ts'

/** A piece of one message. */
interface Piece {
  readonly messageId: string
  readonly text: string
}

/**
 * The text a turn has answered so far, as far as it is durable: pieces of one message joined, messages separated by an empty line. Of an
 * answer over the limit the end is kept. Source: T13, A2.
 */
export async function readAnswer(loop: SessionLoop, turnId: string): Promise<string> {
  const { core } = loop
  const { state, openBlocks } = core
  await core.flushText()
  const open = openBlocks
    .filter(({ meta }) => meta.turnId === turnId && meta.kind === 'assistant')
    .map(({ meta, text }) => ({ messageId: meta.messageId, text }))
  const sealed = await readPieces(loop, state, turnId)
  const text = join([...sealed, ...open])
  return text.length <= LIMITS.childAnswerChars ? text : text.slice(-LIMITS.childAnswerChars).toWellFormed()
}

async function readPieces(loop: SessionLoop, state: SessionState, turnId: string): Promise<readonly Piece[]> {
  const { store } = loop.core.env
  const newestFirst: Piece[] = []
  let chars = 0
  for (let before: number | undefined; chars < LIMITS.childAnswerChars; ) {
    const page = await readTranscriptBefore(store, state, before, LIMITS.transcriptPageEntries)
    for (const entry of page.entries.toReversed()) {
      if (entry.turnId !== turnId || entry.kind !== 'assistant') continue
      newestFirst.push(entry)
      chars += entry.text.length
    }
    if (!page.hasMore || isOlder(page.entries, turnId)) break
    before = page.firstSeq
  }
  return newestFirst.reverse()
}

/** True when these entries reach back to before the turn. */
function isOlder(entries: readonly TranscriptEntry[], turnId: string): boolean {
  return entries[0]?.turnId !== turnId
}

function join(pieces: readonly Piece[]): string {
  let text = ''
  let last: string | undefined
  for (const piece of pieces) {
    if (last !== undefined && piece.messageId !== last) text += '\n\n'
    text += piece.text
    last = piece.messageId
  }
  return text
}
