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

/** The characters of a text without newlines. */
export function* graphemesOf(text: string): Generator<string> {
  if (/^[\x20-\x7e]*$/.test(text)) yield* text
  else for (const { segment } of GRAPHEMES.segment(text)) yield segment
}

/** The end of the next word after an offset, or the end of the text. Folded pastes are words. */
export function wordEndAfter(text: string, at: number): number {
  for (let from = at; from < text.length; ) {
    const end = lineEnd(text, from)
    const start = lineStart(text, from)
    for (const word of wordsOf(text.slice(start, end))) {
      if (start + word.to > at) return borderAt(text, start + word.to)
    }
    from = end + 1
  }
  return text.length
}

/** The beginning of the word before an offset, or the beginning of the text. */
export function wordStartBefore(text: string, at: number): number {
  for (let to = at; to > 0; ) {
    const start = lineStart(text, to)
    const words = wordsOf(text.slice(start, lineEnd(text, start))).filter(word => start + word.from < at)
    const last = words.at(-1)
    if (last !== undefined) return startBorder(text, start + last.from)
    to = start - 1
  }
  return 0
}

/** The border at or before an offset. */
function startBorder(text: string, at: number): number {
  return borderAt(text, at) === at ? at : previousBorder(text, borderAt(text, at))
}

function wordsOf(line: string): readonly { readonly from: number; readonly to: number }[] {
  const words: { from: number; to: number }[] = []
  for (const { segment, index, isWordLike } of WORDS.segment(line)) {
    const isFolded = /^[\u{100000}-\u{10FFFD}]/u.test(segment)
    if (isWordLike === true || isFolded) words.push({ from: index, to: index + segment.length })
  }
  return words
}

/** The beginning of what stands between white space before an offset, as Ctrl+W takes it. */
export function chunkStartBefore(text: string, at: number): number {
  let from = at
  while (from > 0 && /\s/.test(text[from - 1] as string)) from -= 1
  while (from > 0 && !/\s/.test(text[from - 1] as string)) from -= 1
  return startBorder(text, from)
}
