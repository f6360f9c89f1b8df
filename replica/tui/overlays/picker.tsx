import { useReducer, useRef } from 'react'
import { LIMITS } from '../../../schema/limits.ts'
import { filterEntries, type PaletteChoice, type PaletteEntry } from '../../view/palette.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { visibleFrom } from '../parts/visible-from.ts'
import { pickerLines } from './picker-lines.ts'

/** A list from which one is picked by typing, arrows and Enter. */
export interface PickerProps {
  readonly title: string
  readonly entries: readonly PaletteEntry[]
  /** What is typed already. */
  readonly filter?: string
  readonly columns: number
  readonly rows: number
  onRun(choice: PaletteChoice): void
  onClose(): void
}

interface PickerState {
  text: string
  /** The id of the marked entry; the first one where it is not listed. */
  marked: string
  from: number
}

/**
 * The list above all else on the screen. The mark stays on its entry while the list changes. What is typed in one go before the screen is
 * drawn counts already. Source: experience 7.2.
 */
export function Picker({ title, entries, filter = '', columns, rows, onRun, onClose }: PickerProps) {
  const state = useRef<PickerState>({ text: filter, marked: '', from: 0 })
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const room = Math.max(1, rows - 2)
  const shown = () => filterEntries(entries, state.current.text)
  const set = (next: Partial<PickerState>) => {
    state.current = { ...state.current, ...next }
    redraw()
  }
  const type = (text: string) => set({ text: [...text].slice(0, LIMITS.filterChars).join(''), marked: '', from: 0 })
  const move = (by: number) => {
    const listed = shown()
    const to = Math.min(listed.length - 1, Math.max(0, markedAt(listed, state.current.marked) + by))
    set({ marked: listed[to]?.id ?? '' })
  }
  useActions({
    context: 'palette',
    isModal: true,
    handlers: {
      'screen.back': onClose,
      'move.up': () => move(-1),
      'move.down': () => move(1),
      'move.page_up': () => move(-room),
      'move.page_down': () => move(room),
      'item.open': () => {
        const listed = shown()
        const chosen = listed[markedAt(listed, state.current.marked)]
        if (chosen !== undefined) onRun(chosen.run)
      },
    },
    onText: (text, press) => {
      const typed = edited(state.current.text, text, press)
      if (typed === undefined) return false
      type(typed)
      return true
    },
    onPaste: text => type(`${state.current.text}${text.replace(/\s+/g, ' ')}`),
  })
  const listed = shown()
  const marked = markedAt(listed, state.current.marked)
  // What Enter does is what the screen shows as marked, also when something else comes to stand first meanwhile.
  state.current.marked = listed[marked]?.id ?? ''
  state.current.from = visibleFrom(marked, { count: listed.length, room, before: state.current.from })
  const lines = pickerLines({
    title,
    text: state.current.text,
    listed,
    marked,
    from: state.current.from,
    columns,
    rows,
  })
  return <Lines lines={lines} columns={columns} rows={rows} />
}

function markedAt(listed: readonly PaletteEntry[], id: string): number {
  return Math.max(
    0,
    listed.findIndex(entry => entry.id === id),
  )
}

/** The text after a key; undefined for a key that changes no text. */
function edited(
  text: string,
  typed: string,
  { key, ctrl }: { readonly key: string; readonly ctrl: boolean },
): string | undefined {
  if (key === 'backspace') return [...text].slice(0, -1).join('')
  if (ctrl && key === 'u') return ''
  if (ctrl && key === 'w') return text.replace(/\S*\s*$/, '')
  return typed === '' || /\p{Cc}/u.test(typed) ? undefined : `${text}${typed}`
}
