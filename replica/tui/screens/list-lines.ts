import type { SessionRow } from '../../view/session-list.ts'
import { branchMark } from '../../view/session-tree.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import type { Line, Span } from '../text/line.ts'
import { clipText, widthOf } from '../text/measure.ts'

interface Column {
  readonly head: string
  readonly width: number
  readonly text: (row: SessionRow) => string
  readonly tone?: (row: SessionRow) => Span['tone']
}

const STATE: Column = {
  head: 'state',
  width: 20,
  text: row => (row.waiting > 1 ? `${row.state} (${row.waiting})` : row.state),
  tone: row => row.tone,
}
const WIDE: readonly Column[] = [
  STATE,
  { head: 'plan', width: 6, text: row => row.plan },
  { head: 'tasks', width: 7, text: row => row.tasks },
  { head: 'queue', width: 6, text: row => (row.queue === 0 ? '' : String(row.queue)) },
  { head: 'active', width: 11, text: row => row.activity },
]
const NARROW: readonly Column[] = [{ ...STATE, width: 13, text: row => row.state }]

/** From so many columns on all columns are shown. */
const WIDE_FROM = 76

function columnsFor(columns: number): readonly Column[] {
  return columns >= WIDE_FROM ? WIDE : NARROW
}

/** The names of the columns. */
export function headLine(columns: number): Line {
  const shown = columnsFor(columns)
  const room = titleRoom(columns, shown)
  return [
    {
      text: `   ${padded('session', room)}${shown.map(({ head, width }) => padded(head, width)).join('')}`,
      tone: 'dim',
    },
  ]
}

/** A session as a row; the marked one is told by a mark and not by colour alone. Source: experience 6.4. */
export function rowLine(row: SessionRow, columns: number, isMarked: boolean): Line {
  const shown = columnsFor(columns)
  const room = titleRoom(columns, shown)
  return [
    { text: isMarked ? ' › ' : '   ', tone: 'accent', bold: isMarked },
    { text: padded(`${branchMark(row.depth)}${terminalLine(row.title)}`, room), bold: isMarked },
    ...shown.map(({ width, text, tone }): Span => ({ text: padded(text(row), width), tone: tone?.(row) ?? 'dim' })),
  ]
}

function titleRoom(columns: number, shown: readonly Column[]): number {
  return Math.max(8, columns - 3 - shown.reduce((sum, { width }) => sum + width, 0))
}

/** A text in a column, with at least one space after it. */
function padded(text: string, width: number): string {
  const clipped = clipText(text, width - 1)
  return `${clipped}${' '.repeat(Math.max(0, width - widthOf(clipped)))}`
}
