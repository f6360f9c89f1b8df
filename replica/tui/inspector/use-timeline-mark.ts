import { useRef, useState } from 'react'
import { visibleFrom } from '../parts/visible-from.ts'
import type { TimelineItem } from './timeline-lines.ts'

/** Which record is marked, and which items are on the screen. */
export interface TimelineMark {
  /** The index of the marked item; −1 where there is no record. */
  readonly at: number
  readonly from: number
  /** Marks the record so many records away; ends at the ends. True where there was nothing further up. */
  move(records: number): boolean
  toFirst(): void
  toLast(): void
}

/** The mark stays on its record while others come, and on the newest one while nobody moved it away from there. */
export function useTimelineMark(items: readonly TimelineItem[], room: number): TimelineMark {
  const [marked, setMarked] = useState<number | null>(null)
  const last = useRef<{ from: number; at: number; marked: number | null }>({ from: 0, at: 0, marked: null })
  const records = items.flatMap((item, index) => (item.kind === 'row' ? [{ index, revision: item.row.revision }] : []))
  const found = marked === null ? -1 : records.findIndex(({ revision }) => revision >= marked)
  const place = found === -1 ? records.length - 1 : found
  const at = records[place]?.index ?? -1
  // What was read in front of the marked one moves it; the screen stays where it is.
  const moved = marked !== null && last.current.marked === marked ? at - last.current.at : 0
  const from = visibleFrom(place === 0 ? 0 : at, { count: items.length, room, before: last.current.from + moved })
  last.current = { from, at, marked }
  const markAt = (index: number): void => {
    const wanted = Math.min(records.length - 1, Math.max(0, index))
    setMarked(wanted >= records.length - 1 ? null : (records[wanted]?.revision ?? null))
  }
  return {
    at,
    from,
    move: by => {
      markAt(place + by)
      return place + by <= 0
    },
    toFirst: () => markAt(0),
    toLast: () => setMarked(null),
  }
}
