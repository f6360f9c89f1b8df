import type { Line, Span } from '../text/line.ts'

/** True if the line contains the text, whatever the case. `lowerQuery` is in lower case. */
export function hasText(line: Line, lowerQuery: string): boolean {
  return lineText(line).toLowerCase().includes(lowerQuery)
}

/** The line with what was searched for inverted. `lowerQuery` is in lower case. */
export function highlighted(line: Line, lowerQuery: string): Line {
  const text = lineText(line)
  const lower = text.toLowerCase()
  // Lower case may be longer than what it is of; then places in it are none of the line.
  if (lowerQuery === '' || lower.length !== text.length || !lower.includes(lowerQuery)) return line
  const marked: Span[] = []
  let start = 0
  for (const span of line) {
    for (const [from, to, isFound] of partsOf(lower, lowerQuery, start, start + span.text.length)) {
      marked.push({ ...span, text: text.slice(from, to), ...(isFound ? { inverse: true } : {}) })
    }
    start += span.text.length
  }
  return marked
}

/** The pieces of a text between two places, each found or not. */
function partsOf(
  lower: string,
  query: string,
  start: number,
  end: number,
): [from: number, to: number, isFound: boolean][] {
  const parts: [number, number, boolean][] = []
  let at = start
  let found = lower.indexOf(query, Math.max(0, start - query.length + 1))
  while (found !== -1 && found < end) {
    const from = Math.max(start, found)
    const to = Math.min(end, found + query.length)
    if (from > at) parts.push([at, from, false])
    if (to > from) parts.push([from, to, true])
    at = Math.max(at, to)
    found = lower.indexOf(query, found + query.length)
  }
  if (at < end) parts.push([at, end, false])
  return parts
}

function lineText(line: Line): string {
  return line.map(({ text }) => text).join('')
}
