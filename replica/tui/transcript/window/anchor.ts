import type { TranscriptRow } from '../../../view/transcript/row.ts'
import type { Line } from '../../text/line.ts'
import type { RowLayout } from '../rows/layout.ts'
import { gapBefore, indexOf, keyOf, type Position, type RowKey, type RowSource } from './row-source.ts'

/** A place in the text, whatever comes around it and however wide the screen is: a line of a row as it was laid out when it was looked at. */
export interface Anchor {
  readonly key: RowKey
  readonly layout: RowLayout
  /** Line of the layout; −1 for the empty line before the row. */
  readonly line: number
}

/** What tells one place of a text from another at every width: marks, rules and indents are none. */
const LETTERS = /[\p{L}\p{N}]/gu
const counted = new WeakMap<RowLayout, readonly number[]>()

/** The anchor at a position; null without rows. */
export function anchorAt(source: RowSource, { index, offset }: Position): Anchor | null {
  const row = source.rows[index]
  if (row === undefined) return null
  return { key: keyOf(row), layout: source.layoutAt(index), line: offset - gapBefore(source.rows, index) }
}

/** Where the text of an anchor is now. */
export function positionOf(source: RowSource, anchor: Anchor): Position {
  const index = Math.max(0, indexOf(source.rows, anchor.key))
  const row = source.rows[index]
  if (row === undefined) return { index: 0, offset: 0 }
  const line = lineNow(anchor, row, source.layoutAt(index))
  return { index, offset: Math.max(0, line + gapBefore(source.rows, index)) }
}

function lineNow({ key, layout, line }: Anchor, row: TranscriptRow, now: RowLayout): number {
  const hasGrownAbove = row.seq < key.seq
  if (now === layout || (line <= 0 && !hasGrownAbove)) return Math.min(line, now.lines.length - 1)
  if (!hasGrownAbove && isUnchangedUpTo(line, layout.lines, now.lines)) return line
  return lineOfText({ layout, line, hasGrownAbove }, now)
}

/** The line where the text of a line is now. Empty lines above a text stay above it. */
function lineOfText(
  {
    layout,
    line,
    hasGrownAbove,
  }: { readonly layout: RowLayout; readonly line: number; readonly hasGrownAbove: boolean },
  now: RowLayout,
): number {
  let texted = Math.max(0, line)
  while (texted < layout.lines.length - 1 && layout.lines[texted]?.length === 0) texted += 1
  const before = lettersOf(layout)
  const letters = lettersOf(now)
  const added = hasGrownAbove ? (letters.at(-1) as number) - (before.at(-1) as number) : 0
  let found = lineOf(letters, (before[texted] as number) + added)
  for (let empty = texted - line; empty > 0 && now.lines[found - 1]?.length === 0; empty--) found -= 1
  return found
}

/** True if the lines down to this one are the same objects. The nearest one with text tells it, since lines only change from some line on. */
function isUnchangedUpTo(line: number, before: readonly Line[], now: readonly Line[]): boolean {
  let at = line
  while (at > 0 && before[at]?.length === 0 && now[at]?.length === 0) at -= 1
  return before[at] !== undefined && before[at] === now[at]
}

/** For each line the letters before it, and at last all of them. */
function lettersOf(layout: RowLayout): readonly number[] {
  const known = counted.get(layout)
  if (known !== undefined) return known
  const letters = [0]
  let sum = 0
  for (const line of layout.lines) {
    for (const { text } of line) sum += text.match(LETTERS)?.length ?? 0
    letters.push(sum)
  }
  counted.set(layout, letters)
  return letters
}

/** The last line that begins at or before so many letters. */
function lineOf(letters: readonly number[], wanted: number): number {
  let low = 0
  let high = letters.length - 2
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((letters[middle] as number) <= wanted) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}
