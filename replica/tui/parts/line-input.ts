import { editingOf } from '../../view/composer/editing-keys.ts'
import type { EditorState } from '../../view/composer/editor.ts'
import { pasted, typed } from '../../view/composer/editor.ts'
import { graphemesOf } from '../../view/composer/graphemes.ts'
import { cellOf } from '../../view/composer/rows.ts'
import { chordOf, type KeyPress } from '../../view/keymap/key.ts'
import type { Line, Span } from '../text/line.ts'
import { widthOf } from '../text/measure.ts'

/** A change of a text by a key or a paste. */
export type Edit = (editor: EditorState) => EditorState

/** What a key does to a text of one line; null for a key that is for something else. Characters are what a reader counts as one. */
export function editOfKey(text: string, press: KeyPress): Edit | null {
  const editing = editingOf(chordOf(press))
  if (editing !== undefined) return editing.apply
  if (text === '' || press.ctrl || press.alt || press.key === 'tab' || press.key === 'enter') return null
  return editor => typed(editor, text)
}

/** What a paste does to a text. */
export function editOfPaste(text: string): Edit {
  return editor => pasted(editor, text)
}

/**
 * A text in one row of at most `columns` columns, newlines and all that has no looks shown as pictures. While it `isFocused` the cursor is seen,
 * and the part of the text that it is in. Source: Z6.
 */
export function lineInput(editor: EditorState, columns: number, isFocused: boolean): Line {
  const cells = cellsOf(editor)
  const at = isFocused ? cells.findIndex(({ to }) => editor.cursor < to) : 0
  const cursor = at === -1 ? cells.length : at
  const from = firstShown(cells, cursor, columns)
  const spans: Span[] = from > 0 ? [{ text: '…', tone: 'dim' }] : []
  let left = columns - (from > 0 ? 1 : 0)
  for (const [index, { text, width, kind }] of cells.entries()) {
    if (index < from) continue
    if (width > left) break
    const tone = kind === 'plain' ? 'normal' : kind === 'fold' ? 'accent' : 'dim'
    spans.push({ text, tone, ...(isFocused && index === cursor ? { inverse: true } : {}) })
    left -= width
  }
  return isFocused && cursor === cells.length ? [...spans, { text: ' ', inverse: true }] : spans
}

interface PlacedCell {
  readonly text: string
  readonly width: number
  readonly kind: 'plain' | 'fold' | 'control'
  readonly to: number
}

function cellsOf({ text, folds }: EditorState): readonly PlacedCell[] {
  let to = 0
  return [...graphemesOf(text)].map(character => {
    to += character.length
    return { ...cellOf(character, folds, widthOf), to }
  })
}

/** The first cell from which on the cursor is within the row, with a column for the mark that something stands before. */
function firstShown(cells: readonly PlacedCell[], cursor: number, columns: number): number {
  let used = cells[cursor]?.width ?? 1
  let from = cursor
  while (from > 0) {
    const width = cells[from - 1]?.width ?? 0
    if (used + width + (from > 1 ? 1 : 0) > columns) break
    used += width
    from -= 1
  }
  return from
}
