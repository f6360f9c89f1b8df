import { useRef, useState } from 'react'
import { visibleFrom } from './visible-from.ts'

/** A list of which one thing is marked, by its id, in rows of which each thing has one or more. */
export interface MarkedRows {
  /** The index of the marked thing; −1 where there is none. */
  readonly at: number
  /** Marks the thing so many away; ends at the ends. */
  move(by: number): void
  toFirst(): void
  toLast(): void
  /** The first row on the screen once it is known how many rows each thing has. */
  from(heights: readonly number[], room: number): number
}

/** The mark stays on its thing, and that one where it was on the screen, while others come and go; where it goes the next one is marked. */
export function useMarkedRows(ids: readonly string[]): MarkedRows {
  const [marked, setMarked] = useState<string | null>(null)
  const last = useRef({ at: 0, id: '', row: 0, from: 0 })
  const found = marked === null ? -1 : ids.indexOf(marked)
  const at = found === -1 ? Math.min(ids.length - 1, last.current.at) : found
  // Several keys may come before the next frame.
  const wanted = useRef(at)
  wanted.current = at
  const markAt = (index: number): void => {
    wanted.current = Math.min(ids.length - 1, Math.max(0, index))
    setMarked(ids[wanted.current] ?? null)
  }
  return {
    at,
    move: by => markAt(wanted.current + by),
    toFirst: () => markAt(0),
    toLast: () => markAt(ids.length - 1),
    from: (heights, room) => {
      const before = heights.slice(0, Math.max(0, at)).reduce((sum, height) => sum + height, 0)
      const height = heights[at] ?? 1
      const id = ids[at] ?? ''
      const moved = id === last.current.id ? before - last.current.row : 0
      const count = heights.reduce((sum, each) => sum + each, 0)
      const low = visibleFrom(before + height - 1, { count, room, before: last.current.from + moved })
      const from = visibleFrom(before, { count, room, before: low })
      last.current = { at: Math.max(0, at), id, row: before, from }
      return from
    },
  }
}
