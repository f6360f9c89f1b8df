import { LIMITS } from '../../../schema/limits.ts'
import type { Line, Span } from './line.ts'
import { graphemesOf, lineWidth, widthOf } from './measure.ts'

/** Spaces, words, and characters of scripts that have no spaces, with the closing punctuation that may not begin a row. */
const ATOMS =
  /[ \u2000-\u2006\u2008-\u200a\u205f\u3000]+|[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}][\p{Pe}\p{Pf}、。，．！？：；ー]*|[^ \u2000-\u2006\u2008-\u200a\u205f\u3000\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+/gu

const ASCII = /^[\x20-\x7e]*$/

const SPACE = /^[ \u2000-\u2006\u2008-\u200a\u205f\u3000]/

/** A long word begins on the row before it if so much of that row is left. */
const WORTH_FILLING = 1 / 3

/**
 * A row broken between words to rows of at most `columns` columns. Only spaces at the breaks are left out; a word that fits on no row is cut
 * between characters. A character that is wider than the row stands alone on one.
 */
export function wrapLine(line: Line, columns: number): Line[] {
  const room = Math.max(1, columns)
  if (fits(line, room)) return [line]
  const wrapped = new Wrapped(room)
  for (const word of wordsOf(line, room * LIMITS.unitsPerCell)) wrapped.add(word)
  return wrapped.end()
}

/** A row cut between characters to rows of at most `columns` columns; nothing is left out. For code. */
export function cutLine(line: Line, columns: number): Line[] {
  const room = Math.max(1, columns)
  if (fits(line, room)) return [line]
  const wrapped = new Wrapped(room)
  for (const span of line) wrapped.cut(span)
  return wrapped.end()
}

/** Rows with something before each: `first` before the first one, `rest` before the others. */
export function indented(lines: readonly Line[], first: Line, rest: Line): Line[] {
  return lines.map((line, index) => (index === 0 ? [...first, ...line] : line.length === 0 ? line : [...rest, ...line]))
}

function fits(line: Line, columns: number): boolean {
  let units = 0
  for (const { text } of line) units += text.length
  return units <= columns * LIMITS.unitsPerCell && lineWidth(line) <= columns
}

/** What is not broken if it can be helped; it may have several styles. */
interface Word {
  readonly spans: Span[]
  width: number
  units: number
  readonly isSpace: boolean
}

function wordsOf(line: Line, maxUnits: number): Word[] {
  const words: Word[] = []
  for (const span of line) {
    const atoms = span.text.match(ATOMS) ?? []
    for (const [index, text] of atoms.entries()) {
      const isSpace = SPACE.test(text)
      const last = words.at(-1)
      // What has too many units for a row is cut whatever its width is.
      const width = text.length > maxUnits ? maxUnits : widthOf(text)
      const piece = { ...span, text }
      if (last !== undefined && index === 0 && last.isSpace === isSpace) {
        last.spans.push(piece)
        last.width += width
        last.units += text.length
      } else words.push({ spans: [piece], width, units: text.length, isSpace })
    }
  }
  return words
}

/** Rows as they fill up. */
class Wrapped {
  readonly #columns: number
  readonly #maxUnits: number
  readonly #rows: Line[] = []
  #row: Span[] = []
  #width = 0
  #units = 0
  #space: Word | null = null

  constructor(columns: number) {
    this.#columns = columns
    this.#maxUnits = columns * LIMITS.unitsPerCell
  }

  add(word: Word): void {
    if (word.isSpace) {
      this.#space = word
      return
    }
    const space = this.#takeSpace()
    if (this.#has(space.width + word.width, space.units + word.units)) {
      for (const span of [...space.spans, ...word.spans]) this.#push(span)
      return
    }
    const left = this.#columns - this.#width - space.width
    const isLong = word.width > this.#columns || word.units > this.#maxUnits
    if (isLong && left >= this.#columns * WORTH_FILLING) for (const span of space.spans) this.cut(span)
    else if (this.#row.length > 0) this.#break()
    if (isLong) for (const span of word.spans) this.cut(span)
    else for (const span of word.spans) this.#push(span)
  }

  /** Adds a span, going on to the next row wherever it must. */
  cut(span: Span): void {
    if (ASCII.test(span.text)) this.#cutAscii(span)
    else this.#cutGraphemes(span)
  }

  end(): Line[] {
    if (this.#row.length > 0 || this.#rows.length === 0) this.#break()
    return this.#rows
  }

  #cutAscii(span: Span): void {
    for (let at = 0; at < span.text.length; ) {
      if (this.#width >= this.#columns) this.#break()
      const text = span.text.slice(at, at + this.#columns - this.#width)
      this.#push({ ...span, text })
      at += text.length
    }
  }

  #cutGraphemes(span: Span): void {
    for (const grapheme of graphemesOf(span.text)) {
      if (grapheme.length <= LIMITS.unitsPerCell) this.#pushWhole({ ...span, text: grapheme })
      else for (const character of grapheme) this.#pushWhole({ ...span, text: character })
    }
  }

  #pushWhole(span: Span): void {
    if (this.#row.length > 0 && !this.#has(widthOf(span.text), span.text.length)) this.#break()
    this.#push(span)
  }

  #has(width: number, units: number): boolean {
    return this.#width + width <= this.#columns && this.#units + units <= this.#maxUnits
  }

  /** The space before the next word. At the very beginning it is the indent, of which so much is kept as leaves room for text. */
  #takeSpace(): Word {
    const space = this.#space
    this.#space = null
    if (space === null) return { spans: [], width: 0, units: 0, isSpace: true }
    if (this.#row.length > 0 || (this.#rows.length === 0 && space.width < this.#columns / 2)) return space
    return { spans: [], width: 0, units: 0, isSpace: true }
  }

  #push(span: Span): void {
    const last = this.#row.at(-1)
    if (last !== undefined && isSameStyle(last, span))
      this.#row[this.#row.length - 1] = { ...last, text: last.text + span.text }
    else this.#row.push(span)
    this.#width += widthOf(span.text)
    this.#units += span.text.length
  }

  #break(): void {
    this.#rows.push(this.#row)
    this.#row = []
    this.#width = 0
    this.#units = 0
  }
}

function isSameStyle(a: Span, b: Span): boolean {
  return (
    a.tone === b.tone &&
    a.bold === b.bold &&
    a.italic === b.italic &&
    a.underline === b.underline &&
    a.strike === b.strike &&
    a.inverse === b.inverse &&
    a.href === b.href
  )
}
