import type { Line, Span } from '../text/line.ts'
import { clipLine, clipText, lineWidth, widthOf } from '../text/measure.ts'

/** Columns of a card that its border takes. */
export const BORDER_COLUMNS = 4

const SINGLE = { left: '┌', right: '┐', across: '─', down: '│', lowLeft: '└', lowRight: '┘' } as const
const DOUBLE = { left: '╔', right: '╗', across: '═', down: '║', lowLeft: '╚', lowRight: '╝' } as const

/**
 * Lines in a border, which is double where the keys are. `title` stands in the upper border and `foot` in the
 * lower one; their last parts are left out where they do not fit. Source: experience 7.1.
 */
export function boxLines({
  title,
  foot,
  lines,
  columns,
  hasKeys,
}: {
  readonly title: readonly string[]
  readonly foot: readonly string[]
  readonly lines: readonly Line[]
  readonly columns: number
  readonly hasKeys: boolean
}): readonly Line[] {
  const { left, right, across, down, lowLeft, lowRight } = hasKeys ? DOUBLE : SINGLE
  const look = { tone: hasKeys ? 'accent' : 'warn' } as const
  const edge = (first: string, text: string, last: string, bold: boolean): Line => {
    const said: Span[] = text === '' ? [] : [{ text: ` ${text} `, ...look, bold }]
    const rest = Math.max(0, columns - 2 - lineWidth(said))
    return [{ text: first, ...look }, ...said, { text: `${across.repeat(rest)}${last}`, ...look }]
  }
  const room = columns - BORDER_COLUMNS
  const inside = lines.map((line): Line => {
    const shown = clipLine(line, room)
    return [
      { text: `${down} `, ...look },
      ...shown,
      { text: ' '.repeat(Math.max(0, room - lineWidth(shown))) },
      { text: ` ${down}`, ...look },
    ]
  })
  return [edge(left, fitted(title, room), right, true), ...inside, edge(lowLeft, fitted(foot, room), lowRight, false)]
}

function fitted(parts: readonly string[], columns: number): string {
  for (let count = parts.length; count > 1; count--) {
    const text = parts.slice(0, count).join(' · ')
    if (widthOf(text) <= columns) return text
  }
  return clipText(parts[0] ?? '', columns)
}
