import { terminalLine } from '../../view/terminal-text.ts'

/** A column: its heading, and whether it may be shortened to fit the terminal. */
export interface Column {
  readonly heading: string
  readonly canShrink?: boolean
}

/** Least width a shortened column keeps. Unit: columns. */
const LEAST_WIDTH = 8

/**
 * Rows for stdout: aligned under headings and cut to the width of a terminal, tab-separated without headings anywhere else.
 * Cells are sanitised. Source: Z6, experience 4.1.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[], width?: number): string {
  const cells = rows.map(row => row.map(terminalLine))
  if (width === undefined) return cells.map(row => `${row.join('\t')}\n`).join('')
  const all = [columns.map(column => column.heading), ...cells]
  const widths = shrink(
    columns,
    columns.map((_, i) => Math.max(...all.map(row => textWidth(row[i] ?? '')))),
    width,
  )
  return all
    .map(
      row =>
        `${row
          .map((cell, i) => pad(cell, widths[i]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function shrink(columns: readonly Column[], widths: readonly number[], width: number): number[] {
  const over = widths.reduce((sum, each) => sum + each + 2, -2) - width
  const shrinking = columns.flatMap((column, i) => (column.canShrink ? [i] : []))
  const result = [...widths]
  let left = over
  for (const i of shrinking.sort((a, b) => widths[b]! - widths[a]!)) {
    if (left <= 0) break
    const take = Math.min(left, Math.max(0, result[i]! - LEAST_WIDTH))
    result[i]! -= take
    left -= take
  }
  return result
}

function pad(cell: string, width: number): string {
  const own = textWidth(cell)
  return own <= width
    ? cell + ' '.repeat(width - own)
    : `${cut(cell, width - 1)}…${' '.repeat(Math.max(0, width - 1 - textWidth(cut(cell, width - 1))))}`
}

function cut(text: string, width: number): string {
  let used = 0
  let result = ''
  for (const char of text) {
    used += charWidth(char.codePointAt(0)!)
    if (used > width) break
    result += char
  }
  return result
}

/** Width of one line in a terminal. Unit: columns. */
export function textWidth(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char.codePointAt(0)!)
  return width
}

function charWidth(point: number): number {
  if (point < 0x300) return 1
  if (/\p{Mark}|\u200b|\u200d|\u200e|\u200f|\ufe0f/u.test(String.fromCodePoint(point))) return 0
  const isWide =
    (point >= 0x1100 && point <= 0x115f) ||
    (point >= 0x2e80 && point <= 0xa4cf && point !== 0x303f) ||
    (point >= 0xac00 && point <= 0xd7a3) ||
    (point >= 0xf900 && point <= 0xfaff) ||
    (point >= 0xfe30 && point <= 0xfe6f) ||
    (point >= 0xff00 && point <= 0xff60) ||
    (point >= 0xffe0 && point <= 0xffe6) ||
    (point >= 0x1f300 && point <= 0x1faff) ||
    (point >= 0x20000 && point <= 0x3fffd)
  return isWide ? 2 : 1
}
