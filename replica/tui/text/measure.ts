import stringWidth from 'string-width'
import type { Line, Span } from './line.ts'

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const ASCII = /^[\x20-\x7e]*$/

/** How many columns a text without control characters takes: the one measure of the whole terminal replica. Source: experience 7.3. */
export function widthOf(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text)
}

/** How many columns a row takes. */
export function lineWidth(line: Line): number {
  let width = 0
  for (const { text } of line) width += widthOf(text)
  return width
}

/** The longest beginning of a text that fits, never half a character. */
export function fitting(text: string, columns: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, columns))
  let used = 0
  let end = 0
  for (const { segment, index } of GRAPHEMES.segment(text)) {
    used += widthOf(segment)
    if (used > columns) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

/** A text cut to a width, with `…` where something is missing. */
export function clipText(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  return columns < 1 ? '' : `${fitting(text, columns - 1)}…`
}

/** A row cut to a width, with `…` where something is missing. */
export function clipLine(line: Line, columns: number): Line {
  if (lineWidth(line) <= columns) return line
  const kept: Span[] = []
  let left = columns - 1
  for (const span of line) {
    const width = widthOf(span.text)
    if (width > left) {
      kept.push({ ...span, text: `${fitting(span.text, left)}…` })
      return columns < 1 ? [] : kept
    }
    kept.push(span)
    left -= width
  }
  return kept
}

/** A row of two ends: `right` stays whole as long as it fits, `left` gives way. */
export function spread(left: Line, right: Line, columns: number): Line {
  const end = clipLine(right, columns)
  const room = columns - lineWidth(end) - 1
  if (room < 1) return end
  const start = clipLine(left, room)
  return [...start, { text: ' '.repeat(columns - lineWidth(start) - lineWidth(end)) }, ...end]
}
