import type { Line } from '../text/line.ts'
import { highlighted } from './highlight.ts'
import { gapBefore } from './window/row-source.ts'
import { type Ground, slicesOf, type WindowState } from './window/window.ts'

/** What stands left and right of the text: the bar of the marked row, the mark of a row, and one free column at the end. */
export const MARGIN_COLUMNS = 4

const UNMARKED: Line = [{ text: ' ' }]
const MARKED: Line = [{ text: '▌', tone: 'accent' }]
const INDENT: Line = [{ text: '  ' }]

/** How it is shown. `barAt` is the row with the bar, −1 for none; `query` what is searched for, '' for nothing. */
export interface Emphasis {
  readonly barAt: number
  readonly query: string
}

/** What is on the screen, as rows of it. */
export function viewLines(state: WindowState, ground: Ground, { barAt, query }: Emphasis): Line[] {
  const { source } = ground
  const lowerQuery = query.toLowerCase()
  return slicesOf(state, ground).flatMap(({ index, from, to }) => {
    const { mark, lines } = source.layoutAt(index)
    const gap = gapBefore(source.rows, index)
    return Array.from({ length: to - from }, (_, step): Line => {
      const at = from + step - gap
      if (at < 0) return []
      const bar = index === barAt ? MARKED : UNMARKED
      return [...bar, ...(at === 0 ? [mark] : INDENT), ...highlighted(lines[at] ?? [], lowerQuery)]
    })
  })
}
