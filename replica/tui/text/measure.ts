import stringWidth from 'string-width'
import { LIMITS } from '../../../schema/limits.ts'
import type { Line, Span } from './line.ts'

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const ASCII = /^[\x20-\x7e]*$/

/** A segmenter gets slow on long texts; it is given so much at a time. Unit: UTF-16 units. */
const WINDOW_UNITS = 1024
/** Widths of pieces up to this length are remembered. Unit: UTF-16 units. */
const REMEMBERED_UNITS = 32
/** Half a pair that a cut has left. */
const CUT_PAIR = /(?<=[\s\S])[\ud800-\udbff]$/
const remembered = new Map<string, number>()

/** How many columns a text without control characters takes: the one measure of the whole terminal replica. Source: experience 7.3. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  const plain = plainWidth(text)
  if (plain !== null) return plain
  if (text.length <= REMEMBERED_UNITS) return rememberedWidth(text)
  if (text.length <= WINDOW_UNITS) return stringWidth(text)
  let width = 0
  for (const grapheme of graphemesOf(text)) width += widthOf(grapheme)
  return width
}

/** The characters of a text as a reader counts them; one of more than a thousand units comes in parts. */
export function* graphemesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const window = text.slice(at, at + WINDOW_UNITS).replace(CUT_PAIR, '')
    const isLast = at + window.length >= text.length
    let from = at
    for (const { segment, index } of GRAPHEMES.segment(window)) {
      // What touches the end of the window may go on behind it.
      if (!isLast && index > 0 && index + segment.length === window.length) break
      yield segment
      from = at + index + segment.length
    }
    at = from
  }
}

function rememberedWidth(text: string): number {
  const known = remembered.get(text)
  if (known !== undefined) return known
  if (remembered.size >= LIMITS.widthsRemembered) remembered.clear()
  const width = stringWidth(text)
  remembered.set(text, width)
  return width
}

/** The width of a text of letters, ideographs and lines alone, which stand beside each other whatever they are; null for any other. */
function plainWidth(text: string): number | null {
  let width = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if ((unit >= 0x20 && unit <= 0x7e) || isNarrow(unit)) width += 1
    else if (isWide(unit)) width += 2
    else return null
  }
  return width
}

/** Latin, Cyrillic, quotation marks, dashes, dots and box drawing. */
function isNarrow(unit: number): boolean {
  return (
    (unit >= 0xa1 && unit <= 0x2af && unit !== 0xad && unit !== 0xa9 && unit !== 0xae) ||
    (unit >= 0x400 && unit <= 0x481) ||
    (unit >= 0x2013 && unit <= 0x2026) ||
    (unit >= 0x2500 && unit <= 0x257f)
  )
}

/** Ideographs, kana, Hangul syllables and their punctuation. */
function isWide(unit: number): boolean {
  return (
    (unit >= 0x4e00 && unit <= 0x9fff) ||
    (unit >= 0x3041 && unit <= 0x3096) ||
    (unit >= 0x30a1 && unit <= 0x30fa) ||
    (unit >= 0xac00 && unit <= 0xd7a3) ||
    unit === 0x3001 ||
    unit === 0x3002 ||
    (unit >= 0xff01 && unit <= 0xff5e)
  )
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
  for (const grapheme of graphemesOf(text)) {
    used += widthOf(grapheme)
    if (used > columns) break
    end += grapheme.length
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
