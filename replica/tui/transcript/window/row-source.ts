import { placeOf, type TranscriptRow } from '../../../view/transcript/row.ts'
import type { RowLayout } from '../rows/layout.ts'

/** The rows of a transcript; a row is laid out when its layout is asked for, which costs nothing the second time. */
export interface RowSource {
  readonly rows: readonly TranscriptRow[]
  layoutAt(index: number): RowLayout
}

/** A line of the transcript: of the row at `index` the line `offset`, where the empty line before the row counts. */
export interface Position {
  readonly index: number
  readonly offset: number
}

/** The very first line. */
export const START: Position = { index: 0, offset: 0 }

/** What stands for a row while others come and go around it. */
export interface RowKey {
  readonly seq: number
  readonly place: 0 | 1 | 2
}

/** The key of a row. */
export function keyOf(row: TranscriptRow): RowKey {
  return { seq: row.seq, place: placeOf(row) }
}

/** Where the row of a key is, or what has taken its place: a message may have grown at its beginning, a head may be gone. −1 without rows. */
export function indexOf(rows: readonly TranscriptRow[], key: RowKey): number {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const row = rows[middle] as TranscriptRow
    if (row.seq < key.seq || (row.seq === key.seq && placeOf(row) <= key.place)) low = middle
    else high = middle - 1
  }
  const isGone = key.place === 0 && rows[low]?.seq !== key.seq
  return high < 0 ? -1 : isGone && rows[low + 1]?.seq === key.seq ? low + 1 : low
}

/** Empty lines before a row: calls of tools stand together, as do a head and what comes under it. */
export function gapBefore(rows: readonly TranscriptRow[], index: number): 0 | 1 {
  const above = rows[index - 1]
  const row = rows[index]
  if (above === undefined || row === undefined || above.kind === 'turn') return 0
  return above.kind === 'tool' && row.kind === 'tool' ? 0 : 1
}

/** How many lines a row takes with the empty one before it. */
export function heightAt(source: RowSource, index: number): number {
  return gapBefore(source.rows, index) + source.layoutAt(index).lines.length
}

/** Less than zero if `a` is above `b`. */
export function compare(a: Position, b: Position): number {
  return a.index === b.index ? a.offset - b.offset : a.index - b.index
}

/** The top of a window of `height` lines whose last line is the newest one; the start if there are fewer lines. */
export function lastTop(source: RowSource, height: number): Position {
  return above(source, { index: source.rows.length, offset: 0 }, height)
}

/** The line so many lines above, or the start. */
export function above(source: RowSource, from: Position, lines: number): Position {
  let { index } = from
  let offset = from.offset - lines
  while (offset < 0) {
    if (index === 0) return START
    index -= 1
    offset += heightAt(source, index)
  }
  return { index, offset }
}

/** The line so many lines below, or the one behind the last. */
export function below(source: RowSource, from: Position, lines: number): Position {
  let { index } = from
  let offset = from.offset + lines
  while (index < source.rows.length) {
    const height = heightAt(source, index)
    if (offset < height) return { index, offset }
    offset -= height
    index += 1
  }
  return { index, offset: 0 }
}

/** How many lines `to` is below `from`, at most `most`; less than zero if it is above. */
export function distance(source: RowSource, from: Position, to: Position, most: number): number {
  if (compare(from, to) > 0) return -distance(source, to, from, most)
  let lines = to.offset - from.offset
  for (let index = from.index; index < to.index && lines < most; index++) lines += heightAt(source, index)
  return Math.min(lines, most)
}
