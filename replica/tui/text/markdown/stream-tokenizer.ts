import { Tokenizer, type Tokens } from 'marked'
import { LIMITS } from '../../../../schema/limits.ts'

/** Lines that end a paragraph: an empty one, or a rule, heading, quote, fence, list or block of HTML. */
const INTERRUPTS: readonly RegExp[] = [
  /^[ \t]*$/,
  /^ {0,3}(?:(?:-[\t ]*){3,}|(?:_[\t ]*){3,}|(?:\*[\t ]*){3,})$/,
  /^ {0,3}#{1,6}(?:\s|$)/,
  /^ {0,3}>/,
  /^ {0,3}(?:`{3,}[^`]*$|~~~)/,
  /^ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t]/,
  /^ {0,3}(?:<\/?(?:details|div|dl|h[1-6]|hr|ol|p|pre|script|section|style|summary|table|textarea|ul)(?:[ \t/>]|$)|<!--)/,
]

/** The row of dashes under the head of a table; the marks that tell it from a rule are looked for besides. */
const DELIMITER_ROW = /^ {0,3}\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$/

/**
 * Markdown without what makes it change behind the reader, slow or endless: no references, whose targets may be defined anywhere below; no
 * headings by underlining and no search for tables at every line of a paragraph, both of which are quadratic; no quotes and lists in each
 * other beyond a depth.
 */
export class StreamTokenizer extends Tokenizer {
  #depth = 0

  override def(): undefined {}

  override lheading(): undefined {}

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#inside(() => super.blockquote(src))
  }

  override list(src: string): Tokens.List | undefined {
    return this.#inside(() => super.list(src))
  }

  override table(src: string): Tokens.Table | undefined {
    const head = lineEnd(src, 0)
    return isTable(src, 0, head) ? super.table(src) : undefined
  }

  override paragraph(src: string): Tokens.Paragraph | undefined {
    const raw = src.slice(0, paragraphEnd(src))
    return raw === '' ? undefined : { type: 'paragraph', raw, text: raw, tokens: this.lexer.inline(raw) }
  }

  #inside<T>(read: () => T | undefined): T | undefined {
    if (this.#depth >= LIMITS.markdownDepth) return undefined
    this.#depth += 1
    try {
      return read()
    } finally {
      this.#depth -= 1
    }
  }
}

function paragraphEnd(src: string): number {
  let end = lineEnd(src, 0)
  while (end < src.length) {
    const start = end + 1
    const next = lineEnd(src, start)
    if (isInterrupt(src.slice(start, next)) || isTable(src, start, next)) break
    end = next
  }
  return end
}

const isInterrupt = (line: string): boolean => INTERRUPTS.some(rule => rule.test(line))

/** True if a table begins with the line from `start` to `end`: the row of dashes under it has as many cells. */
function isTable(src: string, start: number, end: number): boolean {
  if (end >= src.length || start === end) return false
  const row = src.slice(end + 1, lineEnd(src, end + 1))
  return /[|:]/.test(row) && DELIMITER_ROW.test(row) && cellCount(src.slice(start, end)) === cellCount(row)
}

function cellCount(row: string): number {
  let count = 1
  for (const [, escapes = ''] of row
    .trim()
    .replace(/^\||\|$/g, '')
    .matchAll(/(\\*)\|/g))
    if (escapes.length % 2 === 0) count += 1
  return count
}

function lineEnd(src: string, from: number): number {
  const end = src.indexOf('\n', from)
  return end === -1 ? src.length : end
}
