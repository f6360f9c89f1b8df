import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'

/** A text that stands folded as one character. */
export interface Fold {
  readonly text: string
  readonly lines: number
  readonly bytes: number
}

/**
 * A text in which some parts are folded. Each character of U+100000 to U+10FFFD in `text` is a key of `folds`, and a key of `folds` is such a
 * character: text that has one of them itself is folded when it comes in, so that nothing is ambiguous.
 */
export interface FoldedText {
  readonly text: string
  readonly folds: Readonly<Record<string, Fold>>
}

const FIRST = 0x100000
const LAST = 0x10fffd
const FOLD_CHAR = /[\u{100000}-\u{10FFFD}]/gu

/** Nothing. */
export const EMPTY_TEXT: FoldedText = { text: '', folds: {} }

/** When a text that comes in is folded: as a paste, or only where it would make the composer slow. */
export type Folding = 'paste' | 'large'

/** A text with one kind of line end and no half characters. */
export function normalised(text: string): string {
  return text.replace(/\r\n?/g, '\n').toWellFormed()
}

/** A text as it comes in: folded as a whole where `folding` says so. */
export function foldedText(text: string, folding: Folding): FoldedText {
  const clean = normalised(text)
  return clean !== '' && shouldFold(clean, folding) ? oneFold(clean) : { text: clean, folds: {} }
}

/** A text that stands folded as a whole. */
export function oneFold(text: string): FoldedText {
  const key = String.fromCodePoint(FIRST)
  return { text: key, folds: { [key]: { text, lines: linesOf(text), bytes: utf8Bytes(text) } } }
}

function shouldFold(text: string, folding: Folding): boolean {
  if (text.length > (folding === 'paste' ? LIMITS.composerPasteChars : LIMITS.composerPlainChars)) return true
  if (folding === 'paste' && linesOf(text) > LIMITS.composerPasteLines) return true
  return /[\u{100000}-\u{10FFFD}]/u.test(text)
}

/** How many lines a text has; a newline at its end begins none. */
function linesOf(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return text.endsWith('\n') ? lines - 1 : lines
}

/** The whole text, nothing folded. */
export function expanded({ text, folds }: FoldedText): string {
  return text.replace(FOLD_CHAR, key => folds[key]?.text ?? key)
}

/** How many bytes of UTF-8 the whole text has. */
export function bytesOf({ text, folds }: FoldedText): number {
  let bytes = 0
  for (const key of text.match(FOLD_CHAR) ?? []) bytes += (folds[key]?.bytes ?? 4) - 4
  return bytes + utf8Bytes(text)
}

/** True for a character that stands for a folded text. */
export function isFold(character: string): boolean {
  const point = character.codePointAt(0) ?? 0
  return point >= FIRST && point <= LAST
}

/** What is shown for a folded text. */
export function foldLabel({ text, lines }: Fold): string {
  const [count, noun] = lines > 1 ? [lines, 'line'] : [text.length, 'character']
  return `[pasted ${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}]`
}

/** Only the folds that the text still has. */
export function pruned({ text, folds }: FoldedText): FoldedText {
  const keys = Object.keys(folds)
  if (keys.every(key => text.includes(key))) return { text, folds }
  return { text, folds: Object.fromEntries(Object.entries(folds).filter(([key]) => text.includes(key))) }
}

/** `piece` with its folds under characters that mean nothing else in `folds`, and both sets of folds together. Null: there are too many. */
export function joined(folds: FoldedText['folds'], piece: FoldedText): FoldedText | null {
  const all: Record<string, Fold> = { ...folds }
  const renamed = new Map<string, string>()
  for (const [key, fold] of Object.entries(piece.folds)) {
    const free = all[key] === undefined || all[key].text === fold.text ? key : freeKey(all, piece.folds)
    renamed.set(key, free)
    all[free] = fold
  }
  if (Object.keys(all).length > LIMITS.composerFolds) return null
  return { text: piece.text.replace(FOLD_CHAR, key => renamed.get(key) ?? key), folds: all }
}

function freeKey(...taken: readonly FoldedText['folds'][]): string {
  for (let point = FIRST; point < LAST; point++) {
    const key = String.fromCodePoint(point)
    if (taken.every(folds => folds[key] === undefined)) return key
  }
  throw new Error('more folds than there are characters for them')
}

/** A text with the folds of `before` again wherever it still has their whole text, one after the other. */
export function refolded(text: string, before: FoldedText): FoldedText {
  let rest = normalised(text)
  if (/[\u{100000}-\u{10FFFD}]/u.test(rest)) return oneFold(rest)
  let out = ''
  const folds: Record<string, Fold> = {}
  for (const key of before.text.match(FOLD_CHAR) ?? []) {
    const fold = before.folds[key]
    const at = fold === undefined || fold.text === '' ? -1 : rest.indexOf(fold.text)
    if (fold === undefined || at === -1) continue
    out += rest.slice(0, at) + key
    folds[key] = fold
    rest = rest.slice(at + fold.text.length)
  }
  const result = { text: out + rest, folds }
  return result.text.length > LIMITS.composerPlainChars ? oneFold(expanded(result)) : result
}
