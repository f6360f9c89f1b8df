import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react'
import { type TypedFilter, useFilter } from '../parts/use-filter.ts'
import { type Reading, type Stage, searched } from './window/reading.ts'

/** What is read, and where a find goes. */
export interface Searched {
  readonly reading: Reading
  readonly setReading: Dispatch<SetStateAction<Reading>>
  readonly stage: Stage
}

/** A search in a transcript. */
export interface TranscriptSearch {
  readonly filter: TypedFilter
  /** What the foot tells of it, null while it is closed. */
  readonly told: { readonly text: string; readonly isFound: boolean } | null
  /** Goes to the next find; a new search begins at what is on the screen. */
  find(direction: -1 | 1, isNew: boolean, searched: Searched): void
}

/** Takes what is typed, and finds it. */
export function useSearch(): TranscriptSearch {
  const filter = useFilter()
  const [isFound, setIsFound] = useState(true)
  return {
    filter,
    told: filter.isOpen ? { text: filter.text, isFound } : null,
    find: (direction, isNew, { reading, setReading, stage }) => {
      const query = filter.text.toLowerCase()
      const next = query === '' ? null : searched(reading, stage, { query, direction, isNew })
      setIsFound(query === '' || next !== null)
      if (next !== null) setReading(next)
    },
  }
}

/** Finds while it is typed, upwards from what is on the screen. */
export function useTyped(search: TranscriptSearch, about: Searched): void {
  const { text } = search.filter
  const now = useRef({ search, about })
  now.current = { search, about }
  useEffect(() => {
    if (text !== '') now.current.search.find(-1, true, now.current.about)
  }, [text])
}
