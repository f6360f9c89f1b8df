import type { Row, RowFinder } from './rows.ts'

/** The rows of a text that are shown. `top`: the offset at which they begin, to be given back the next time. */
export interface Viewport {
  readonly rows: readonly Row[]
  readonly top: number
  /** Which of the rows has the cursor. */
  readonly cursorRow: number
  readonly hasAbove: boolean
  readonly hasBelow: boolean
}

/** At most `room` rows with the cursor's among them, moving as little as possible from the last `top`. */
export function viewportOf(
  finder: RowFinder,
  { cursor, top, room }: { readonly cursor: number; readonly top: number; readonly room: number },
): Viewport {
  const cursorsRow = finder.at(cursor)
  let first = cursorsRow
  for (let count = 1; count < room && first.from > top; count++) first = finder.above(first) ?? first
  const rows = [first]
  while (rows.length < room) {
    const next = finder.below(rows.at(-1) as Row)
    if (next === null) break
    rows.push(next)
  }
  while (rows.length < room) {
    const before = finder.above(rows[0] as Row)
    if (before === null) break
    rows.unshift(before)
  }
  return {
    rows,
    top: (rows[0] as Row).from,
    cursorRow: rows.findIndex(row => row.from === cursorsRow.from),
    hasAbove: (rows[0] as Row).from > 0,
    hasBelow: finder.below(rows.at(-1) as Row) !== null,
  }
}
