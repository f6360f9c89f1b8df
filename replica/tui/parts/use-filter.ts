import { useState } from 'react'
import { useActions } from '../keys/use-actions.ts'

/** What is typed to pick some of what is listed. */
export interface TypedFilter {
  /** '' picks everything. */
  readonly text: string
  readonly isOpen: boolean
  open(): void
  close(): void
}

/** Takes the letters while it is open; arrows and Enter go on to the list below. */
export function useFilter(): TypedFilter {
  const [text, setText] = useState<string | null>(null)
  const isOpen = text !== null
  useActions(
    {
      context: 'palette',
      handlers: { 'screen.back': () => setText(null) },
      onText: (typed, { key }) => {
        // Several keys may come before the next frame.
        if (key === 'backspace')
          setText(before => (before === null || before === '' ? null : [...before].slice(0, -1).join('')))
        else if (typed === '' || key === 'enter' || key === 'tab') return false
        else setText(before => `${before ?? ''}${typed}`)
        return true
      },
      onPaste: pasted => setText(before => `${before ?? ''}${pasted.replaceAll('\n', ' ')}`),
    },
    isOpen,
  )
  return { text: text ?? '', isOpen, open: () => setText(text ?? ''), close: () => setText(null) }
}
