import { lineageOf } from '../../../schema/projection/lineage.ts'
import type { Position } from '../../../schema/projection/replicated.ts'

/** How a document's position after an update follows the one before; `gap` must be synced before anything is shown. */
export type Step = 'transition' | 'delta' | 'gap'

/** A live replica accepts the next transition or the next delta, of the same build. Source: V5. */
export function stepBetween(before: Position, after: Position | null): Step {
  if (after === null || after.generation !== before.generation) return 'gap'
  if (after.revision === before.revision + 1 && after.delta === 0) return 'transition'
  if (after.revision === before.revision && after.delta === before.delta + 1) return 'delta'
  return 'gap'
}

/** True when the first position shows more than the second, whatever their builds. */
export function isAhead(a: Position, b: Position): boolean {
  return a.revision > b.revision || (a.revision === b.revision && a.delta > b.delta)
}

/**
 * True when what was shown belongs to another history of the root and is not part of this one: it is ahead, or has revisions that were not
 * there when this epoch began (`baseRevision`). Source: V6, V7.
 */
export function isOfLostPast(shown: Position, position: Position, baseRevision: number): boolean {
  if (lineageOf(shown.generation) === lineageOf(position.generation)) return false
  return isAhead(shown, position) || shown.revision > baseRevision
}
