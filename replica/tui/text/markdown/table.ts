import type { Tokens } from 'marked'
import { LIMITS } from '../../../../schema/limits.ts'
import { linesOf } from '../clean.ts'
import type { Line, Span } from '../line.ts'
import { lineWidth, widthOf } from '../measure.ts'
import { indented, wrapLine } from '../wrap.ts'
import { inlineLines } from './inline.ts'

const BETWEEN: Span = { text: ' │ ', tone: 'dim' }
const CROSS = '─┼─'

/** A column is not made narrower than this, unless its longest word is. */
const NARROW = 20

/** What is in a cell: rows before wrapping. */
type Cell = readonly Line[]

/** A table fitted to a width: cells are wrapped, and where there is no room for columns each row is told as a list of its cells. */
export function tableLines(token: Tokens.Table, columns: number): Line[] {
  const count = token.header.length
  if (count * (token.rows.length + 1) > LIMITS.markdownTableCells) {
    return linesOf(token.raw.trimEnd()).flatMap(line => wrapLine(line, columns))
  }
  const head = token.header.map(({ text }): Cell => inlineLines(text, { bold: true }))
  const rows = token.rows.map(row => row.map(({ text }): Cell => inlineLines(text)))
  const widths = widthsFor([head, ...rows], columns - BETWEEN.text.length * (count - 1))
  if (widths === null) return listed(head, rows, columns)
  const rule = { text: widths.map(width => '─'.repeat(width)).join(CROSS), tone: 'dim' } as const
  const lay = (row: readonly Cell[]): Line[] => laidOut(row, widths, token.align)
  return [...lay(head), [rule], ...rows.flatMap(lay)]
}

/** A width for each column, or null if there is no room for all of them. */
function widthsFor(rows: readonly (readonly Cell[])[], room: number): number[] | null {
  const count = rows[0]?.length ?? 0
  const widest = (of: (line: Line) => number, column: number): number =>
    rows.reduce((most, row) => (row[column] ?? []).reduce((max, line) => Math.max(max, of(line)), most), 1)
  const natural = Array.from({ length: count }, (_, column) => widest(lineWidth, column))
  const least = natural.map((width, column) => Math.min(width, NARROW, widest(longestWord, column)))
  const spare = room - sum(least)
  if (spare < 0) return null
  const wanted = sum(natural) - sum(least)
  if (wanted <= spare) return natural
  return least.map((width, column) => width + Math.floor((((natural[column] as number) - width) * spare) / wanted))
}

function longestWord(line: Line): number {
  const text = line.map(span => span.text).join('')
  return text.split(' ').reduce((longest, word) => Math.max(longest, widthOf(word)), 1)
}

function laidOut(row: readonly Cell[], widths: readonly number[], align: Tokens.Table['align']): Line[] {
  const cells = widths.map((width, column) => (row[column] ?? []).flatMap(line => wrapLine(line, width)))
  const height = cells.reduce((most, lines) => Math.max(most, lines.length), 1)
  return Array.from({ length: height }, (_, index) =>
    cells.flatMap((lines, column): Line => {
      const isLast = column === cells.length - 1
      const cell = placed(lines[index] ?? [], widths[column] as number, align[column] ?? 'left')
      return isLast ? withoutEnd(cell) : [...cell, BETWEEN]
    }),
  )
}

function placed(line: Line, width: number, align: 'left' | 'right' | 'center'): Line {
  const spare = Math.max(0, width - lineWidth(line))
  const before = align === 'right' ? spare : align === 'center' ? Math.floor(spare / 2) : 0
  return [...pad(before), ...line, ...pad(spare - before)]
}

/** Spaces at the end of a row help nobody who copies it. */
function withoutEnd(line: Line): Line {
  return line.at(-1)?.text.trim() === '' ? line.slice(0, -1) : line
}

function pad(columns: number): Line {
  return columns === 0 ? [] : [{ text: ' '.repeat(columns) }]
}

function listed(head: readonly Cell[], rows: readonly (readonly Cell[])[], columns: number): Line[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [[]]),
    ...row.flatMap((cell, column): Line[] => {
      const name = (head[column] ?? []).flat()
      const [first = [], ...rest] = cell
      const lines = [[...name, { text: ': ', bold: true }, ...first], ...rest]
      return indented(
        lines.flatMap(line => wrapLine(line, columns - 2)),
        [],
        [{ text: '  ' }],
      )
    }),
  ])
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
