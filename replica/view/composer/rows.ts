import { type FoldedText, foldLabel, isFold } from './folded-text.ts'
import { graphemesOf, lineEnd, lineStart } from './graphemes.ts'

/** How many columns a text without control characters takes. */
export type Measure = (text: string) => number

/** A row on the screen: from where to where in the text, without the newline. The last of its line, or the line goes on below. */
export interface Row {
  readonly from: number
  readonly to: number
  readonly isLast: boolean
}

/** What a character looks like: always at least one column wide, and nothing that a terminal could take for a command. Source: Z6. */
export interface Cell {
  readonly text: string
  readonly width: number
  readonly kind: 'plain' | 'fold' | 'control'
}

const TAB = '    '
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** How a character of the text is shown: a folded paste as its label, control characters as pictures of themselves. */
export function cellOf(character: string, folds: FoldedText['folds'], measure: Measure): Cell {
  if (isFold(character)) {
    const fold = folds[String.fromCodePoint(character.codePointAt(0) as number)]
    if (fold !== undefined) return { text: foldLabel(fold), width: measure(foldLabel(fold)), kind: 'fold' }
  }
  if (character === '\t') return { text: TAB, width: TAB.length, kind: 'control' }
  if (UNSHOWN.test(character)) return { text: pictureOf(character), width: 1, kind: 'control' }
  const width = measure(character)
  return width === 0 ? { text: '·', width: 1, kind: 'control' } : { text: character, width, kind: 'plain' }
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '·'
}

/** The rows of a text, found from any place in it, so that what a key costs does not depend on how long the text is. */
export interface RowFinder {
  /** The row of an offset; where a line is broken, the one that begins there. */
  at(offset: number): Row
  above(row: Row): Row | null
  below(row: Row): Row | null
  /** How many columns are between a row's beginning and an offset in it. */
  columnOf(row: Row, offset: number): number
  /** The last border of a row that is not beyond a column. */
  offsetAt(row: Row, column: number): number
  /** The characters of a row with where they are. */
  cells(row: Row): readonly (Cell & { readonly from: number; readonly to: number })[]
}

/**
 * Breaks lines to `room` columns: behind white space, wide characters and folded pastes, else where the row is full. One space may stand
 * beyond; a character that is wider than the room has a row of its own.
 */
export function rowFinder({ text, folds }: FoldedText, room: number, measure: Measure): RowFinder {
  const lines = new Map<number, readonly Row[]>()
  const rowsOf = (start: number): readonly Row[] => {
    const rows = lines.get(start) ?? brokenLine({ text, folds }, start, { room, measure })
    lines.set(start, rows)
    return rows
  }
  const cells: RowFinder['cells'] = row => {
    let at = row.from
    return [...graphemesOf(text.slice(row.from, row.to))].map(character => {
      const from = at
      at += character.length
      return { ...cellOf(character, folds, measure), from, to: at }
    })
  }
  const lastOf = (rows: readonly Row[]): Row => rows.at(-1) as Row
  const at: RowFinder['at'] = offset => {
    const rows = rowsOf(lineStart(text, offset))
    return rows.find(row => offset < row.to || row.isLast) ?? lastOf(rows)
  }
  return {
    at,
    cells,
    above(row) {
      if (row.from > lineStart(text, row.from)) return at(row.from - 1)
      return row.from === 0 ? null : lastOf(rowsOf(lineStart(text, row.from - 1)))
    },
    below(row) {
      if (!row.isLast) return at(row.to)
      return row.to >= text.length ? null : (rowsOf(row.to + 1)[0] ?? null)
    },
    columnOf: (row, offset) => cells(row).reduce((sum, cell) => (cell.from < offset ? sum + cell.width : sum), 0),
    offsetAt(row, column) {
      let used = 0
      const shown = cells(row)
      for (const cell of shown) {
        if (used + cell.width > column) return cell.from
        used += cell.width
      }
      // The end of a row that goes on is the beginning of the next one.
      return row.isLast ? row.to : (shown.at(-1)?.from ?? row.from)
    },
  }
}

function brokenLine(
  { text, folds }: FoldedText,
  start: number,
  { room, measure }: { readonly room: number; readonly measure: Measure },
): readonly Row[] {
  const rows: Row[] = []
  const end = lineEnd(text, start)
  let from = start
  let used = 0
  let at = start
  let breakAt = start
  let usedAtBreak = 0
  for (const character of graphemesOf(text.slice(start, end))) {
    const { width, kind } = cellOf(character, folds, measure)
    const limit = character === ' ' ? room + 1 : room
    while (used + width > limit && at > from) {
      const to = breakAt > from ? breakAt : at
      rows.push({ from, to, isLast: false })
      used = to === at ? 0 : used - usedAtBreak
      usedAtBreak = 0
      from = to
    }
    at += character.length
    used += width
    if (/\s/.test(character) || width > 1 || kind === 'fold') {
      breakAt = at
      usedAtBreak = used
    }
  }
  rows.push({ from, to: end, isLast: true })
  return rows
}
