import { chordOf, type KeyPress } from '../../view/keymap/key.ts'
import { type Card, shownCard } from '../../view/pending/deck.ts'
import type { CardInput } from '../../view/pending/fill.ts'
import { isWritingField } from '../../view/pending/form-fill.ts'
import { isWriting } from '../../view/pending/question-fill.ts'
import type { ActionHandlers, KeyTable } from '../keys/key-router.ts'
import { useActions, useRouter } from '../keys/use-actions.ts'
import { editOfKey, editOfPaste } from '../parts/line-input.ts'
import { type Answering, pressCard } from './answering.ts'

/** What a card does about reading. */
export interface CardReading {
  /** There is more than what is seen. */
  readonly isHidden: boolean
  readonly isWhole: boolean
  setWhole(isWhole: boolean): void
  /** Up or down by as much as is seen. */
  scroll(step: 1 | -1): void
}

/** What a card does about its keys. `onStray` gets what is typed where nothing can be written. */
export interface CardKeys extends Answering {
  readonly reading: CardReading
  readonly onStray: (text: string, isPaste: boolean) => void
}

/** The keys of a card, while `isActive`. What is typed and means nothing on it is for the composer. Source: experience 6.3, 7.2. */
export function useCardKeys(keys: CardKeys, isActive: boolean): void {
  const router = useRouter()
  const { cell, reading, onStray } = keys
  const card = (): Card | undefined => shownCard(cell.now())
  useActions(
    {
      context: 'pending',
      handlers: handlersOf(keys, router.table),
      onText: (text, press) => onKey(keys, text, press),
      onPaste: text => {
        if (!isWritingOn(card())) onStray(text, true)
        else pressCard(keys, { kind: 'edit', apply: editOfPaste(text) })
      },
    },
    isActive && (card() !== undefined || reading.isHidden),
  )
}

function handlersOf(keys: CardKeys, table: KeyTable): ActionHandlers {
  const { cell, reading } = keys
  const press = (input: CardInput) => () => pressCard(keys, input)
  const isWritingNow = (): boolean => isWritingOn(shownCard(cell.now()))
  return {
    'pending.choose': key => {
      const index = isWritingNow() ? -1 : chosenIndex(key, table)
      return index !== -1 && (pressCard(keys, { kind: 'choose', index }) || true)
    },
    'pending.toggle': () => !isWritingNow() && pressCard(keys, { kind: 'toggle' }),
    'pending.up': press({ kind: 'move', step: -1 }),
    'pending.down': press({ kind: 'move', step: 1 }),
    'pending.confirm': press({ kind: 'confirm' }),
    'pending.deny': press({ kind: 'deny' }),
    'pending.back': press({ kind: 'back' }),
    'pending.forward': press({ kind: 'forward' }),
    ...(reading.isHidden || reading.isWhole ? { 'pending.show_all': () => reading.setWhole(!reading.isWhole) } : {}),
    ...(reading.isWhole ? { 'move.page_up': () => reading.scroll(-1), 'move.page_down': () => reading.scroll(1) } : {}),
  }
}

/** Which option a key chooses: a digit says it, another key by its place among those for choosing; -1 for none. */
function chosenIndex(press: KeyPress, table: KeyTable): number {
  return /^[1-9]$/.test(press.key)
    ? Number(press.key) - 1
    : table.keysOf('pending.choose', 'pending').indexOf(chordOf(press))
}

function onKey(keys: CardKeys, text: string, press: KeyPress): boolean {
  const { cell, reading, onStray } = keys
  if (press.key === 'esc' && reading.isWhole) {
    reading.setWhole(false)
    return true
  }
  const edit = editOfKey(text, press)
  if (edit === null) return false
  if (isWritingOn(shownCard(cell.now()))) {
    pressCard(keys, { kind: 'edit', apply: edit })
    return true
  }
  if (text === '?' || text === ':' || text === '/') return false
  if (text !== '' && text.trim() !== '') onStray(text, false)
  return true
}

/** True where what is typed is written on the card. */
function isWritingOn(card: Card | undefined): boolean {
  if (card === undefined) return false
  const { fill, interaction } = card
  if (fill.kind === 'form') return isWritingField(fill)
  return fill.kind === 'question' && interaction.request.kind === 'question' && isWriting(interaction.request, fill)
}
