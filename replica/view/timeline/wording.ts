import { LIMITS } from '../../../schema/limits.ts'
import { terminalLine } from '../terminal-text.ts'

/** Ids are told by so many characters. */
const ID_CHARS = 8

/** The beginning of a text, as one line a terminal may show. Source: Z6. */
export function excerpt(text: string): string {
  const line = terminalLine(text.slice(0, LIMITS.timelineWordsChars * 4)).trim()
  return line.length <= LIMITS.timelineWordsChars
    ? line
    : `${line.slice(0, LIMITS.timelineWordsChars - 1).toWellFormed()}…`
}

/** An id as people tell it from others. Source: Z6. */
export function shortId(id: string): string {
  return terminalLine(id).slice(0, ID_CHARS)
}

/** A number with what it counts. */
export function countWords(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
