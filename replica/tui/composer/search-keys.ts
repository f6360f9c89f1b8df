import { withText } from '../../view/composer/editor.ts'
import { foldedText } from '../../view/composer/folded-text.ts'
import { type HistorySearch, NO_WALK, searched, searchedOlder } from '../../view/composer/history.ts'
import { chordOf } from '../../view/keymap/key.ts'
import { type ComposerProps, draftKeyOf, type TypingLayer } from './composer-props.ts'

/** A search that may be open. `current` is the newest, drawn or not. */
export interface SearchCell {
  readonly current: HistorySearch | null
  set(search: HistorySearch | null): void
}

/** The keys while what was sent is searched: typing searches, Enter takes what is found, Escape goes back to the draft. Source: experience 6.1. */
export function searchLayer(props: ComposerProps, cell: SearchCell): TypingLayer {
  const { drafts } = props
  const key = draftKeyOf(props)
  const close = (): void => cell.set(null)
  const look = (change: (open: HistorySearch) => HistorySearch): void => {
    if (cell.current !== null) cell.set(change(cell.current))
  }
  const take = (): void => {
    const found = foundText(cell.current)
    if (found !== undefined) {
      drafts.edit(key, editor => withText(editor, foldedText(found, 'large')))
      drafts.set(key, { ...drafts.get(key), walk: NO_WALK })
    }
    close()
  }
  return {
    context: 'composer',
    handlers: {
      'composer.search': () => look(searchedOlder),
      'composer.send': take,
      'app.clear_or_leave': close,
      'composer.editor': close,
    },
    onText: (text, press) => {
      const chord = chordOf(press)
      if (chord === 'esc') close()
      else if (chord === 'backspace') look(open => searched(open, [...open.query].slice(0, -1).join('')))
      else if (text !== '' && !press.ctrl && !press.alt && !text.includes('\n')) {
        look(open => searched(open, open.query + text))
      } else if (press.key.length > 1 && !/^f\d/.test(press.key)) take()
      else return false
      return true
    },
    onPaste: text => look(open => searched(open, open.query + text.replace(/\s+/g, ' '))),
  }
}

function foundText(search: HistorySearch | null): string | undefined {
  return search === null || search.found === null ? undefined : search.entries[search.found]
}
