import { useCallback, useEffect, useRef } from 'react'
import type { TranscriptRow } from '../../view/transcript/row.ts'
import type { TranscriptProps } from './transcript-props.ts'
import type { ReadingCell } from './use-reading.ts'
import { groundOf, type Stage } from './window/reading.ts'
import { type Slice, settled } from './window/window.ts'

/** Older entries are asked for when fewer rows than this are above the screen. */
const NEAR_ROWS = 16

/**
 * Asks for older entries when the oldest ones come near, once for each beginning; what it gives asks again, for somebody who goes on upwards
 * after an attempt that failed.
 */
export function useEarlier(
  { entries, hasMore, isLoadingEarlier, loadEarlier }: TranscriptProps,
  firstIndex: number,
): () => void {
  const askedAt = useRef<number | null>(null)
  const oldest = entries[0]?.seq ?? 0
  const isNear = hasMore && !isLoadingEarlier && firstIndex < NEAR_ROWS
  useEffect(() => {
    if (!isNear || askedAt.current === oldest) return
    askedAt.current = oldest
    loadEarlier()
  }, [isNear, oldest, loadEarlier])
  return useCallback(() => {
    if (!isNear) return
    askedAt.current = oldest
    loadEarlier()
  }, [isNear, oldest, loadEarlier])
}

/** Once the size has changed, what is on the screen is what stays there. */
export function useSettled(cell: ReadingCell, stage: Stage): void {
  const now = useRef(stage)
  now.current = stage
  useEffect(() => {
    const size = { columns: stage.columns, height: stage.height }
    cell.change(before => {
      const window = settled(before.window, groundOf(before, { ...now.current, ...size }))
      return window === before.window ? before : { ...before, window }
    })
  }, [cell, stage.columns, stage.height])
}

/** Asks for the outcome of turns whose heads are on the screen without one. */
export function useUnknownTurns(
  slices: readonly Slice[],
  rows: readonly TranscriptRow[],
  ask: (turnIds: readonly string[]) => void,
): void {
  const unknown = slices.flatMap(({ index }) => {
    const row = rows[index]
    return row?.kind === 'turn' && row.status === null ? [row.turnId] : []
  })
  const key = unknown.join(' ')
  useEffect(() => {
    if (key !== '') ask(key.split(' '))
  }, [key, ask])
}
