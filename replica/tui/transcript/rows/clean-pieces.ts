import type { TextEntry } from '../../../../schema/entities/transcript.ts'
import { cleanText } from '../../text/clean.ts'

const cleaned = new WeakMap<TextEntry, string>()

/** The text of a message that came in pieces; a piece that is known is not looked at again. Source: Z6. */
export function cleanPieces(pieces: readonly TextEntry[]): string {
  return pieces.map(cleanPiece).join('')
}

function cleanPiece(piece: TextEntry): string {
  const known = cleaned.get(piece)
  if (known !== undefined) return known
  const text = cleanText(piece.text)
  cleaned.set(piece, text)
  return text
}
