import type { SessionProjection } from '../../schema/entities/projection.ts'
import { lineageOf } from '../../schema/projection/lineage.ts'

type Place = Pick<SessionProjection, 'generation' | 'revision' | 'projectionRevision'>

/**
 * True when what was shown belongs to another history of the root and is not part of this one: it is ahead of what the leader shows, or has revisions
 * that were not there when this leader began. Source: V6, V7.
 */
export function isOfLostPast(shown: Place, current: Place): boolean {
  if (lineageOf(shown.generation) === lineageOf(current.generation)) return false
  const baseRevision = current.revision - (current.projectionRevision - 1)
  return shown.revision > current.revision || shown.revision > baseRevision
}
