import { useEffect, useRef, useState } from 'react'
import { type TypedFilter, useFilter } from '../parts/use-filter.ts'
import type { ReadingCell } from './use-reading.ts'
import { type Stage, searched } from './window/reading.ts'

/** A search in a transcript. */
export interface TranscriptSearch {
  readonly filter: TypedFilter
  /** What the foot tells of it, null while it is closed. */
  readonly told: { readonly text: string; readonly isFound: boolean } | null
  /** Goes to the next find; a new search begins at what is on the screen. */
  find(direction: -1 | 1, isNew: boolean, stage: Stage): void
}

/** Takes what is typed, and finds it. */
export function useSearch(cell: ReadingCell): TranscriptSearch {
  const filter = useFilter()
  const [isFound, setIsFound] = useState(true)
  return {
    filter,
    told: filter.isOpen ? { text: filter.text, isFound } : null,
    find: (direction, isNew, stage) => {
      const query = filter.text.toLowerCase()
      const next = query === '' ? null : searched(cell.now(), stage, { query, direction, isNew })
      setIsFound(query === '' || next !== null)
      if (next !== null) cell.change(() => next)
    },
  }
}

/** Finds while it is typed, upwards from what is on the screen. */
export function useTyped(search: TranscriptSearch, stage: Stage): void {
  const { text } = search.filter
  const now = useRef({ search, stage })
  now.current = { search, stage }
  useEffect(() => {
    if (text !== '') now.current.search.find(-1, true, now.current.stage)
  }, [text])
}
