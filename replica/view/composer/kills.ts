import { LIMITS } from '../../../schema/limits.ts'
import { bounded, type EditorState, type LastEdit, replaced } from './editor.ts'
import { EMPTY_TEXT, type FoldedText, joined, pruned } from './folded-text.ts'
import { chunkStartBefore, lineEnd, lineStart, wordEndAfter, wordStartBefore } from './graphemes.ts'

type Yank = Extract<LastEdit, { kind: 'yanked' }>

/** Takes away from the cursor to the beginning of the line; at a beginning, the newline before it. */
export function killedToLineStart(state: EditorState): EditorState {
  const start = lineStart(state.text, state.cursor)
  return killed(state, start === state.cursor ? Math.max(0, start - 1) : start, state.cursor)
}

/** Takes away from the cursor to the end of the line; at an end, its newline. */
export function killedToLineEnd(state: EditorState): EditorState {
  const end = lineEnd(state.text, state.cursor)
  return killed(state, state.cursor, end === state.cursor ? Math.min(state.text.length, end + 1) : end)
}

/** Takes away what stands between white space before the cursor. */
export function killedChunkBack(state: EditorState): EditorState {
  return killed(state, chunkStartBefore(state.text, state.cursor), state.cursor)
}

/** Takes the word before the cursor away. */
export function killedWordBack(state: EditorState): EditorState {
  return killed(state, wordStartBefore(state.text, state.cursor), state.cursor)
}

/** Takes the word after the cursor away. */
export function killedWordForward(state: EditorState): EditorState {
  return killed(state, state.cursor, wordEndAfter(state.text, state.cursor))
}

/** What is killed by keys one after the other comes back as one. */
function killed(state: EditorState, from: number, to: number): EditorState {
  if (from === to) return state
  const piece = pruned({ text: state.text.slice(from, to), folds: state.folds })
  const isBack = to === state.cursor
  const before = state.last.kind === 'killed' ? state.kills.at(-1) : undefined
  const whole = before === undefined ? piece : isBack ? appended(piece, before) : appended(before, piece)
  const older = before === undefined || whole === null ? state.kills : state.kills.slice(0, -1)
  const next = replaced(state, { from, to, by: EMPTY_TEXT }, { kind: 'killed' })
  return withKill({ ...next, kills: older }, whole ?? piece)
}

function appended(first: FoldedText, second: FoldedText): FoldedText | null {
  const rest = joined(first.folds, second)
  return rest === null ? null : { text: first.text + rest.text, folds: rest.folds }
}

/** A text that Ctrl+Y puts in next, as if it had been killed here. */
export function withKill(state: EditorState, text: FoldedText): EditorState {
  return { ...state, kills: bounded([...state.kills, text], LIMITS.composerKills, LIMITS.composerKillChars) }
}

/** Puts the newest kill in. */
export function yanked(state: EditorState): EditorState {
  return yankedAt(state, { from: state.cursor, to: state.cursor, back: 0 })
}

/** Puts the kill before in instead of the one that was just put in. */
export function yankedEarlier(state: EditorState): EditorState {
  const { last } = state
  if (last.kind !== 'yanked' || state.kills.length < 2) return state
  return yankedAt(state, { ...last, back: (last.back + 1) % state.kills.length })
}

function yankedAt(state: EditorState, { from, to, back }: Omit<Yank, 'kind'>): EditorState {
  const by = state.kills.at(-1 - back)
  if (by === undefined) return state
  const next = replaced(state, { from, to, by })
  return next === state ? state : { ...next, last: { kind: 'yanked', from, to: from + by.text.length, back } }
}
