import { LIMITS } from '../../../../schema/limits.ts'
import type { TranscriptRow } from '../../../view/transcript/row.ts'
import type { FoldLevel } from '../rows/layout.ts'
import type { RowLayouts } from '../rows/row-layouts.ts'
import { indexOf } from './row-source.ts'
import { type Found, findNext, lineWith } from './search.ts'
import { FOLLOWING, type Ground, held, showRow, targetIndex, type WindowState } from './window.ts'

/** How somebody reads a transcript: where, what is unfolded, by the ids of rows, and what was found last. */
export interface Reading {
  readonly window: WindowState
  readonly folds: ReadonlyMap<string, FoldLevel>
  readonly found: Found | null
}

/** What is read and how much of it can be shown. `columns` is what the text of a row may take. */
export interface Stage {
  readonly rows: readonly TranscriptRow[]
  readonly columns: number
  readonly height: number
  readonly layouts: RowLayouts
}

/** Somebody who has done nothing yet. */
export const BEGINNING: Reading = { window: FOLLOWING, folds: new Map(), found: null }

/** The ground that a window of this reading is put on. */
export function groundOf({ folds }: Pick<Reading, 'folds'>, { rows, columns, height, layouts }: Stage): Ground {
  const layoutAt = (index: number) => {
    const row = rows[index] as TranscriptRow
    return layouts.of(row, columns, folds.get(row.id) ?? 0)
  }
  return { source: { rows, layoutAt }, height }
}

/** Shows the next level of what open is about, after the last one the first again. The same reading where there is nothing to unfold. */
export function toggled(reading: Reading, stage: Stage): Reading {
  const ground = groundOf(reading, stage)
  const index = targetIndex(reading.window, ground)
  const row = stage.rows[index]
  if (row === undefined) return reading
  const { levels } = ground.source.layoutAt(index)
  if (levels === 1) return reading
  const level = ((reading.folds.get(row.id) ?? 0) + 1) % levels
  const folds = withFold(reading.folds, row.id, level as FoldLevel)
  return { ...reading, folds, window: showRow(held(reading.window, ground), ground, index) }
}

/**
 * Goes to the next find above or below, unfolding what it is in; from the last find on, or from what is on the screen if `isNew`. Null if there
 * is none.
 */
export function searched(
  reading: Reading,
  stage: Stage,
  search: { readonly query: string; readonly direction: -1 | 1; readonly isNew: boolean },
): Reading | null {
  const ground = groundOf(reading, stage)
  const { found: last } = reading
  const isOn = last !== null && !search.isNew
  const index = isOn ? indexOf(stage.rows, last.key) : targetIndex(reading.window, ground)
  const found = findNext(ground.source, { ...search, index, line: isOn ? last.line : null })
  if (found === null) return null
  const at = indexOf(stage.rows, found.key)
  const folds = found.isFolded
    ? unfolded(reading.folds, stage.rows[at] as TranscriptRow, ground.source.layoutAt(at).levels)
    : reading.folds
  const opened = groundOf({ folds }, stage)
  const line = found.isFolded ? lineWith(opened.source, found.key, search) : found.line
  const window = showRow(held(reading.window, ground), opened, at, line)
  return { folds, found: { key: found.key, line, isFolded: false }, window }
}

function unfolded(folds: Reading['folds'], row: TranscriptRow, levels: number): Reading['folds'] {
  return withFold(folds, row.id, (levels - 1) as FoldLevel)
}

/** Beyond the bound the rows that were unfolded first are folded again. */
function withFold(folds: Reading['folds'], id: string, level: FoldLevel): Reading['folds'] {
  const next = new Map(folds)
  next.delete(id)
  if (level > 0) next.set(id, level)
  for (const oldest of next.keys()) {
    if (next.size <= LIMITS.transcriptUnfoldedRows) break
    next.delete(oldest)
  }
  return next
}
