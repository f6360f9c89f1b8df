import { LIMITS } from '../../../schema/limits.ts'
import { bytesOf, EMPTY_TEXT, expanded, type FoldedText, foldedText, isFold, joined, pruned } from './folded-text.ts'
import { borderAt, nextBorder, previousBorder } from './graphemes.ts'

/** A text and where the cursor was in it. */
export interface Moment extends FoldedText {
  readonly cursor: number
}

/** What was done last, where the next key goes on with it. `yanked`: from where to where, and how many kills back. */
export type LastEdit =
  | { readonly kind: 'none' | 'typed' | 'erased' | 'killed' }
  | { readonly kind: 'yanked'; readonly from: number; readonly to: number; readonly back: number }

/**
 * What the composer holds. `cursor` is an offset in UTF-16 units, always on a border between characters. `goal`: the column that up and
 * down aim for. `kills` and `undo`: the newest last. All functions give a new state, or the same one where nothing is done.
 */
export interface EditorState extends Moment {
  readonly goal: number | null
  readonly kills: readonly FoldedText[]
  readonly undo: readonly Moment[]
  readonly last: LastEdit
}

const NOTHING: LastEdit = { kind: 'none' }

/** An editor without text. */
export const EMPTY_EDITOR: EditorState = { ...EMPTY_TEXT, cursor: 0, goal: null, kills: [], undo: [], last: NOTHING }

/** An editor with a text, the cursor at its end. */
export function editorOf(text: FoldedText): EditorState {
  return { ...EMPTY_EDITOR, ...text, cursor: text.text.length }
}

/** How a state changes its text: what takes the place of `from` to `to`. */
export interface Replacement {
  readonly from: number
  readonly to: number
  readonly by: FoldedText
}

/**
 * Every change of the text goes through here: the cursor stands behind what was put in, on a border, and what was there before can be had
 * back. The state as it is where the text would be too long. `last` of the same kind as before: both are undone together.
 */
export function replaced(state: EditorState, { from, to, by }: Replacement, last: LastEdit = NOTHING): EditorState {
  const piece = joined(state.folds, by)
  if (piece === null) return state
  const text = state.text.slice(0, from) + piece.text + state.text.slice(to)
  const next = pruned({ text, folds: piece.folds })
  const isLonger = by.text.length > 0
  if (isLonger && isOver(next)) return state
  const cursor = borderAt(text, from + piece.text.length)
  const isGoingOn = last.kind === state.last.kind && (last.kind === 'typed' || last.kind === 'erased')
  const undo = isGoingOn ? state.undo : remembered(state.undo, state)
  return { ...state, ...next, cursor, goal: null, undo, last }
}

function isOver(text: FoldedText): boolean {
  const isSmall = text.text.length * 3 < LIMITS.composerPlainChars && Object.keys(text.folds).length === 0
  return !isSmall && bytesOf(text) > LIMITS.composerBytes
}

function remembered(undo: readonly Moment[], { text, folds, cursor }: Moment): readonly Moment[] {
  return bounded([...undo, { text, folds, cursor }], LIMITS.composerUndo, LIMITS.composerUndoChars)
}

/** The newest texts that are within the bounds, at least one. */
export function bounded<T extends FoldedText>(texts: readonly T[], count: number, chars: number): readonly T[] {
  const kept = texts.slice(-count)
  let used = 0
  let from = kept.length
  while (from > 0) {
    used += kept[from - 1]?.text.length ?? 0
    if (used > chars && from < kept.length) break
    from -= 1
  }
  return from === 0 ? kept : kept.slice(from)
}

/** Puts in what was typed. */
export function typed(state: EditorState, text: string): EditorState {
  const by = foldedText(text, 'large')
  if (by.text === '') return state
  const last: LastEdit = /^\s/.test(text) ? NOTHING : { kind: 'typed' }
  return replaced(state, { from: state.cursor, to: state.cursor, by }, last)
}

/** Puts in what was pasted, as one character if it is long. */
export function pasted(state: EditorState, text: string): EditorState {
  const by = foldedText(text, 'paste')
  return by.text === '' ? state : replaced(state, { from: state.cursor, to: state.cursor, by })
}

/** A new line; a backslash before the cursor stood for it and goes. */
export function withNewline(state: EditorState): EditorState {
  const from = hasTrailingBackslash(state) ? state.cursor - 1 : state.cursor
  return replaced(state, { from, to: state.cursor, by: { text: '\n', folds: {} } })
}

/** True where Enter means a new line: the cursor stands behind a backslash at the end of the text. */
export function hasTrailingBackslash({ text, cursor }: EditorState): boolean {
  return cursor === text.length && text.endsWith('\\')
}

/** Another text instead; the one that was there can be had back. */
export function withText(state: EditorState, text: FoldedText): EditorState {
  return state.text === text.text && expanded(state) === expanded(text)
    ? state
    : replaced(state, { from: 0, to: state.text.length, by: text })
}

/** Text that comes back, before what is there; the cursor stays where the person writes. */
export function withTextBefore(state: EditorState, text: FoldedText): EditorState {
  if (text.text === '') return state
  if (state.text === '') return withText(state, text)
  const gap: FoldedText = { text: `${text.text}\n\n`, folds: text.folds }
  const next = replaced(state, { from: 0, to: 0, by: gap })
  return next === state ? state : { ...next, cursor: borderAt(next.text, next.cursor + state.cursor) }
}

/** The text as it was before the last change. */
export function undone(state: EditorState): EditorState {
  const before = state.undo.at(-1)
  if (before === undefined) return state
  return { ...state, ...before, goal: null, undo: state.undo.slice(0, -1), last: NOTHING }
}

/** Takes the character before the cursor away; a folded paste is one. */
export function erasedBack(state: EditorState): EditorState {
  const from = previousBorder(state.text, state.cursor)
  return from === state.cursor ? state : erased(state, from, state.cursor)
}

/** Takes the character after the cursor away. */
export function erasedForward(state: EditorState): EditorState {
  const to = nextBorder(state.text, state.cursor)
  return to === state.cursor ? state : erased(state, state.cursor, to)
}

function erased(state: EditorState, from: number, to: number): EditorState {
  return replaced(state, { from, to, by: EMPTY_TEXT }, { kind: 'erased' })
}

/** The folded paste at or just before the cursor becomes plain text. The same state where there is none, or it is too long for that. */
export function unfolded(state: EditorState): EditorState {
  const { text, cursor, folds } = state
  for (const from of [cursor, previousBorder(text, cursor)]) {
    const to = nextBorder(text, from)
    const character = text.slice(from, to)
    const key = isFold(character) ? String.fromCodePoint(character.codePointAt(0) as number) : ''
    const fold = folds[key]
    if (fold === undefined) continue
    if (fold.text.length > LIMITS.composerPlainChars || /[\u{100000}-\u{10FFFD}]/u.test(fold.text)) return state
    return replaced(state, { from, to: from + key.length, by: { text: fold.text, folds: {} } })
  }
  return state
}

/** The cursor somewhere else. */
export function movedTo(state: EditorState, cursor: number, goal: number | null = null): EditorState {
  const at = borderAt(state.text, cursor)
  return at === state.cursor && goal === state.goal && state.last.kind === 'none'
    ? state
    : { ...state, cursor: at, goal, last: NOTHING }
}
