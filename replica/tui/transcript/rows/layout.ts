import type { Place } from '../../../view/command-text.ts'
import type { Line, Span } from '../../text/line.ts'
import type { LexedMarkdown } from '../../text/markdown/lex.ts'

/** How much of a row is shown: 0 what is told at once, then more with each step. */
export type FoldLevel = 0 | 1 | 2

/** A row as rows of the screen. */
export interface RowLayout {
  /** What stands before the first line, two columns wide; the others are indented by as much. */
  readonly mark: Span
  readonly lines: readonly Line[]
  /** How many levels there are: 1 for a row that is shown whole anyway. */
  readonly levels: number
  /** The blocks of a message, so that the next piece of it can go on from there. */
  readonly lexed?: LexedMarkdown
}

/** How a row is laid out. `columns` is what its text may take. */
export interface LayoutFrame {
  readonly columns: number
  readonly level: FoldLevel
  readonly place: Place
}
