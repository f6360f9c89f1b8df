import { wholeText } from '../../view/transcript/row-text.ts'
import { useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import type { Searched, TranscriptSearch } from './use-search.ts'
import { groundOf, toggled } from './window/reading.ts'
import { FOLLOWING, type Ground, moveMark, scrollPage, targetIndex, toTop, type WindowState } from './window/window.ts'

/** What keys change, and what they need for it. */
export interface ReadingKeys extends Searched {
  readonly search: TranscriptSearch
  readonly isFocused: boolean
  /** The reader goes up. */
  readonly onUp: () => void
}

/** The keys of a transcript, and those that scroll it from the composer. Source: experience 7.2. */
export function useReadingKeys({ search, isFocused, onUp, ...about }: ReadingKeys): void {
  const app = useApp()
  const { reading, setReading, stage } = about
  const { isOpen } = search.filter
  const move = (step: (window: WindowState, ground: Ground) => WindowState) =>
    setReading(before => ({ ...before, window: step(before.window, groundOf(before, stage)) }))
  const pageUp = () => {
    onUp()
    move((window, at) => scrollPage(window, at, -1))
  }
  const pageDown = () => (reading.window.anchor === null ? false : move((window, at) => scrollPage(window, at, 1)))
  useActions(
    {
      context: 'transcript',
      handlers: {
        'move.up': () => {
          onUp()
          return isOpen ? search.find(-1, false, about) : move((window, at) => moveMark(window, at, -1))
        },
        'move.down': () => (isOpen ? search.find(1, false, about) : move((window, at) => moveMark(window, at, 1))),
        'move.page_up': pageUp,
        'move.page_down': pageDown,
        'move.top': () => {
          onUp()
          move(toTop)
        },
        'move.bottom': () => move(() => FOLLOWING),
        'item.open': () => {
          if (isOpen) return search.find(-1, false, about)
          const next = toggled(reading, stage)
          return next === reading ? false : setReading(next)
        },
        'item.copy': () => {
          const row = stage.rows[targetIndex(reading.window, groundOf(reading, stage))]
          return row === undefined ? false : app.copy(wholeText(row))
        },
        'search.open': () => search.filter.open(),
      },
    },
    isFocused,
  )
  useActions({ context: 'composer', handlers: { 'move.page_up': pageUp, 'move.page_down': pageDown } }, !isFocused)
}
