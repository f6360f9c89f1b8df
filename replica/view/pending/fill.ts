import type { InteractionAnswer } from '../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { EditorState } from '../composer/editor.ts'
import { expanded } from '../composer/folded-text.ts'

/**
 * What a person does on a card. `choose` counts from 0. `back` and `forward` go between questions, or between the choices of a field; `edit` is
 * a change of the text that is written.
 */
export type CardInput =
  | { readonly kind: 'move'; readonly step: 1 | -1 }
  | { readonly kind: 'choose'; readonly index: number }
  | { readonly kind: 'toggle' | 'confirm' | 'deny' | 'back' | 'forward' }
  | { readonly kind: 'edit'; readonly apply: (editor: EditorState) => EditorState }

/** What becomes of that: the card's new state, with the answer where it is complete, or with words that say why nothing was done. */
export interface Filled<F> {
  readonly fill: F
  readonly answer?: InteractionAnswer
  readonly words?: string
}

/** Said where nothing more can be written. */
const FULL = 'No more fits in here.'

/** A change of a text, within the bound of answers; null for what changes nothing. */
export function editedText(
  before: EditorState,
  apply: (editor: EditorState) => EditorState,
): { readonly editor: EditorState; readonly words?: string } | null {
  const editor = apply(before)
  if (editor === before) return null
  const text = expanded(editor)
  const isOver = text.length > LIMITS.interactionTextChars && text.length > expanded(before).length
  return isOver ? { editor: before, words: FULL } : { editor }
}

/** True for a text without a letter. */
export function isBlankText(editor: EditorState): boolean {
  return expanded(editor).trim() === ''
}

/** A mark moved within `count` rows; the ends hold it. */
export function movedMark(marked: number, step: number, count: number): number {
  return Math.min(Math.max(0, count - 1), Math.max(0, marked + step))
}
