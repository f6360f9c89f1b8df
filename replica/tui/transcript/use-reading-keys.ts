import { wholeText } from '../../view/transcript/row-text.ts'
import { useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import type { ReadingCell } from './use-reading.ts'
import type { TranscriptSearch } from './use-search.ts'
import { groundOf, type Stage, toggled } from './window/reading.ts'
import { FOLLOWING, type Ground, moveMark, scrollPage, targetIndex, toTop, type WindowState } from './window/window.ts'

/** What keys change, and what they need for it. */
export interface ReadingKeys {
  readonly cell: ReadingCell
  readonly stage: Stage
  readonly search: TranscriptSearch
  readonly isFocused: boolean
  /** The reader goes up. */
  readonly onUp: () => void
}

/** The keys of a transcript, and those that scroll it from the composer. Source: experience 7.2. */
export function useReadingKeys({ cell, stage, search, isFocused, onUp }: ReadingKeys): void {
  const app = useApp()
  const { isOpen } = search.filter
  const move = (step: (window: WindowState, ground: Ground) => WindowState) =>
    cell.change(before => ({ ...before, window: step(before.window, groundOf(before, stage)) }))
  const pageUp = () => {
    onUp()
    move((window, at) => scrollPage(window, at, -1))
  }
  const pageDown = () => (cell.now().window.anchor === null ? false : move((window, at) => scrollPage(window, at, 1)))
  useActions(
    {
      context: 'transcript',
      handlers: {
        'move.up': () => {
          onUp()
          return isOpen ? search.find(-1, false, stage) : move((window, at) => moveMark(window, at, -1))
        },
        'move.down': () => (isOpen ? search.find(1, false, stage) : move((window, at) => moveMark(window, at, 1))),
        'move.page_up': pageUp,
        'move.page_down': pageDown,
        'move.top': () => {
          onUp()
          move(toTop)
        },
        'move.bottom': () => move(() => FOLLOWING),
        'item.open': () => {
          if (isOpen) return search.find(-1, false, stage)
          const before = cell.now()
          cell.change(reading => toggled(reading, stage))
          return cell.now() !== before
        },
        'item.copy': () => {
          const row = stage.rows[targetIndex(cell.now().window, groundOf(cell.now(), stage))]
          return row === undefined ? false : app.copy(wholeText(row))
        },
        'search.open': () => search.filter.open(),
      },
    },
    isFocused,
  )
  useActions({ context: 'composer', handlers: { 'move.page_up': pageUp, 'move.page_down': pageDown } }, !isFocused)
}
