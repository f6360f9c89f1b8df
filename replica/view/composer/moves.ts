import { type EditorState, movedTo } from './editor.ts'
import { lineEnd, lineStart, nextBorder, previousBorder, wordEndAfter, wordStartBefore } from './graphemes.ts'
import type { Row, RowFinder } from './rows.ts'

/** One character back. */
export const movedLeft = (state: EditorState): EditorState => movedTo(state, previousBorder(state.text, state.cursor))

/** One character on. */
export const movedRight = (state: EditorState): EditorState => movedTo(state, nextBorder(state.text, state.cursor))

/** To the beginning of the word before. */
export const movedWordLeft = (state: EditorState): EditorState =>
  movedTo(state, wordStartBefore(state.text, state.cursor))

/** Behind the next word. */
export const movedWordRight = (state: EditorState): EditorState =>
  movedTo(state, wordEndAfter(state.text, state.cursor))

/** To the beginning of the line. */
export const movedToLineStart = (state: EditorState): EditorState => movedTo(state, lineStart(state.text, state.cursor))

/** To the end of the line. */
export const movedToLineEnd = (state: EditorState): EditorState => movedTo(state, lineEnd(state.text, state.cursor))

/** To the very beginning. */
export const movedToStart = (state: EditorState): EditorState => movedTo(state, 0)

/** To the very end. */
export const movedToEnd = (state: EditorState): EditorState => movedTo(state, state.text.length)

/** One row up on the screen, in the column where the move began; null on the first row. */
export function movedUp(state: EditorState, finder: RowFinder): EditorState | null {
  const row = finder.at(state.cursor)
  return toRow(state, finder, { row, target: finder.above(row) })
}

/** One row down; null on the last row. */
export function movedDown(state: EditorState, finder: RowFinder): EditorState | null {
  const row = finder.at(state.cursor)
  return toRow(state, finder, { row, target: finder.below(row) })
}

function toRow(
  state: EditorState,
  finder: RowFinder,
  { row, target }: { readonly row: Row; readonly target: Row | null },
): EditorState | null {
  if (target === null) return null
  const goal = state.goal ?? finder.columnOf(row, state.cursor)
  return movedTo(state, finder.offsetAt(target, goal), goal)
}
