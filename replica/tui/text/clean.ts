import { terminalText } from '../../view/terminal-text.ts'
import type { Line, Span } from './line.ts'

/** Columns between the stops of a tab. */
const TAB_COLUMNS = 4

/** How a piece of text looks. */
export type Style = Omit<Span, 'text'>

/** Text of a stranger as it may be cut into spans: what a terminal would obey is gone, newlines and tabs stay. Source: Z6. */
export function cleanText(text: string): string {
  return terminalText(text.toWellFormed())
}

/** Text as rows of one style, one for each of its lines; tabs become spaces. Source: Z6. */
export function linesOf(text: string, style: Style = {}): Line[] {
  return cleanText(text)
    .split(/[\n\u2028\u2029]/)
    .map(line => (line === '' ? [] : [{ ...style, text: withoutTabs(line) }]))
}

/** Text as one span: newlines and tabs become spaces. Source: Z6. */
export function spanOf(text: string, style: Style = {}): Span {
  return { ...style, text: cleanText(text).replace(/[\n\t\u2028\u2029]+/g, ' ') }
}

function withoutTabs(line: string): string {
  if (!line.includes('\t')) return line
  let text = ''
  for (const [index, piece] of line.split('\t').entries()) {
    if (index > 0) text += ' '.repeat(TAB_COLUMNS - (text.length % TAB_COLUMNS))
    text += piece
  }
  return text
}
