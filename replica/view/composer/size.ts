import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import { bytesOf, expanded, type FoldedText } from './folded-text.ts'

/** What is said about a text's size. `isOver`: it goes as an attached file. */
export interface SizeWords {
  readonly words: string
  readonly isOver: boolean
}

/** From here on the counter is shown, as a part of the limit. */
const TOLD_FROM = 0.8

/** How large a text is, from 80 % of what a message holds on. Over that it goes as an attached file. Source: C1, experience 6.1. */
export function sizeWords(text: FoldedText): SizeWords | null {
  const from = LIMITS.messageTextBytes * TOLD_FROM
  if (text.text.length * 3 < from && Object.keys(text.folds).length === 0) return null
  const bytes = bytesOf(text)
  if (bytes < from) return null
  const isOver = bytes > LIMITS.messageTextBytes
  const words = `${kib(bytes)} of ${kib(LIMITS.messageTextBytes)} KiB${isOver ? ' · goes as an attached file' : ''}`
  return { words, isOver }
}

function kib(bytes: number): string {
  const value = bytes / 1024
  return Number.isInteger(value) ? String(value) : value.toFixed(1)
}

/** Why a text cannot be a message, or null. Source: C1. */
export function refusalOf(text: FoldedText): string | null {
  const bytes = bytesOf(text)
  if (bytes > LIMITS.composerBytes) {
    return `The text has ${kib(bytes)} KiB; ${kib(LIMITS.composerBytes)} KiB can be sent at once.`
  }
  const isAttached = bytes > LIMITS.messageTextBytes
  if (isAttached || bytes * LONGEST_ESCAPE <= LIMITS.messageContentBytes) return null
  const asJson = utf8Bytes(JSON.stringify({ text: expanded(text) }))
  return asJson <= LIMITS.messageContentBytes
    ? null
    : `The text has too many quotes and control characters: ${kib(asJson)} KiB when written out, ${kib(LIMITS.messageContentBytes)} KiB can be sent.`
}

/** A control character takes six bytes in JSON. */
const LONGEST_ESCAPE = 6

/** True where there is nothing to send. */
export function isBlank(text: FoldedText): boolean {
  return !/\S/.test(text.text)
}
