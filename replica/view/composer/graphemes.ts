const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Where the line of an offset begins. */
export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
}

/** Where the line of an offset ends: at its newline, or at the end. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/** Printable ASCII or a newline: between two of them there is always a border. */
function isPlain(code: number): boolean {
  return (code >= 0x20 && code < 0x7f) || code === 0x0a
}

/** The border between characters at or after an offset. Lines are looked at one by one: a newline is a character of its own. */
export function borderAt(text: string, at: number): number {
  if (at <= 0) return 0
  if (at >= text.length) return text.length
  if (isPlain(text.charCodeAt(at - 1)) && isPlain(text.charCodeAt(at))) return at
  const found = containing(text, at)
  return found === null || found.from === at ? at : found.to
}

/** The border after an offset that is one itself. */
export function nextBorder(text: string, at: number): number {
  if (at >= text.length) return text.length
  const isShort = isPlain(text.charCodeAt(at)) && (at + 1 === text.length || isPlain(text.charCodeAt(at + 1)))
  return isShort ? at + 1 : (containing(text, at)?.to ?? at + 1)
}

/** The border before an offset that is one itself. */
export function previousBorder(text: string, at: number): number {
  if (at <= 1) return 0
  const isShort = isPlain(text.charCodeAt(at - 1)) && isPlain(text.charCodeAt(at - 2))
  return isShort ? at - 1 : (containing(text, at - 1)?.from ?? at - 1)
}

/** The character that an offset is in or before; null for a newline and the end. */
function containing(text: string, at: number): { readonly from: number; readonly to: number } | null {
  const start = lineStart(text, at)
  const end = lineEnd(text, at)
  if (at >= end) return null
  const found = GRAPHEMES.segment(text.slice(start, end)).containing(at - start)
  if (found === undefined) return null
  return { from: start + found.index, to: start + found.index + found.segment.length }
}

/** A segmenter gets slow on long texts; it is given so much at a time. Unit: UTF-16 units. */
const WINDOW_UNITS = 1024

/** The characters of a text without newlines. */
export function* graphemesOf(text: string): Generator<string> {
  if (/^[\x20-\x7e]*$/.test(text)) {
    yield* text
    return
  }
  for (let at = 0; at < text.length; ) {
    const window = text.slice(at, at + WINDOW_UNITS)
    const isRest = at + window.length >= text.length
    let to = at
    for (const { segment, index } of GRAPHEMES.segment(window)) {
      // What touches the end of the window may go on behind it.
      const isCut = !isRest && index + segment.length === window.length
      if (isCut && index > 0) break
      to = isCut ? nextBorder(text, at) : at + index + segment.length
      yield text.slice(at + index, to)
    }
    at = to
  }
}

/** The end of the next word after an offset, or the end of the text. Folded pastes are words. */
export function wordEndAfter(text: string, at: number): number {
  for (let from = at; from < text.length; ) {
    const start = lineStart(text, from)
    const words = WORDS.segment(text.slice(start, lineEnd(text, from)))
    for (let found = words.containing(from - start); found !== undefined; found = words.containing(from - start)) {
      from = start + found.index + found.segment.length
      if (isWord(found)) return borderAt(text, from)
    }
    from += 1
  }
  return text.length
}

/** The beginning of the word before an offset, or the beginning of the text. */
export function wordStartBefore(text: string, at: number): number {
  for (let to = at; to > 0; ) {
    const start = lineStart(text, to)
    const words = WORDS.segment(text.slice(start, lineEnd(text, to)))
    while (to > start) {
      const found = words.containing(to - 1 - start)
      if (found === undefined) break
      to = start + found.index
      if (isWord(found)) return startBorder(text, to)
    }
    to = start - 1
  }
  return 0
}

/** The border at or before an offset. */
function startBorder(text: string, at: number): number {
  const border = borderAt(text, at)
  return border === at ? at : previousBorder(text, border)
}

function isWord({ segment, isWordLike }: Intl.SegmentData): boolean {
  return isWordLike === true || /^[\u{100000}-\u{10FFFD}]/u.test(segment)
}

/** The beginning of what stands between white space before an offset, as Ctrl+W takes it. */
export function chunkStartBefore(text: string, at: number): number {
  let from = at
  while (from > 0 && /\s/.test(text[from - 1] as string)) from -= 1
  while (from > 0 && !/\s/.test(text[from - 1] as string)) from -= 1
  return startBorder(text, from)
}
