import { LIMITS } from '../../../../schema/limits.ts'
import type { Line } from '../../text/line.ts'
import type { FoldLevel, RowLayout } from './layout.ts'

/** How much of what is folded is shown from its end. */
const TAIL_PART = 1 / 3

/** Lines of which the middle is left out while there are many, with a line that says how many. */
export function folded(lines: readonly Line[], level: FoldLevel): Pick<RowLayout, 'lines' | 'levels'> {
  if (lines.length <= LIMITS.foldedLines) return { lines, levels: 1 }
  return { lines: level === 0 ? middleLeftOut(lines) : lines, levels: 2 }
}

/** The beginning and the end of lines that are too many, and how many stand between. */
export function middleLeftOut(lines: readonly Line[]): readonly Line[] {
  if (lines.length <= LIMITS.foldedLines) return lines
  const tail = Math.floor(LIMITS.foldedLines * TAIL_PART)
  const head = LIMITS.foldedLines - tail - 1
  const left = lines.length - head - tail
  return [...lines.slice(0, head), [{ text: `… ${left} more lines`, tone: 'dim' }], ...lines.slice(-tail)]
}
