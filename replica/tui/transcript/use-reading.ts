import { useMemo, useReducer, useRef } from 'react'
import { BEGINNING, type Reading } from './window/reading.ts'

/** How a transcript is read, changed by keys that may come faster than frames. */
export interface ReadingCell {
  /** As it is after all keys so far, drawn or not. */
  readonly now: () => Reading
  /** Draws again if the step gives another reading. */
  readonly change: (step: (before: Reading) => Reading) => void
}

/** Somebody's reading of one transcript. */
export function useReading(): ReadingCell {
  const current = useRef(BEGINNING)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  return useMemo(
    () => ({
      now: () => current.current,
      change: step => {
        const next = step(current.current)
        if (next === current.current) return
        current.current = next
        redraw()
      },
    }),
    [],
  )
}
