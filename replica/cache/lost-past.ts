import type { CatalogRow, SessionProjection } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import { lineageOf } from '../../schema/projection/lineage.ts'

type Place = Pick<SessionProjection, 'generation' | 'revision' | 'projectionRevision'>

/** Something as it was seen, and the leader's time of the last proof that it was so. */
export interface Dated<T> {
  readonly value: T
  readonly asOf: number | null
}

/**
 * True when what was shown is no part of what the leader has now: its root was put back. It belongs to another lineage, and is ahead or has
 * revisions that were not there when this leader began; or it is of an earlier time and yet ahead, which one lineage never is. Source: V6, V7.
 */
export function isOfLostPast({ value: shown, asOf }: Dated<Place>, current: Dated<Place>): boolean {
  const { generation, revision, projectionRevision } = current.value
  const isAhead = shown.revision > revision
  if (lineageOf(shown.generation) === lineageOf(generation)) {
    // What another process shows meanwhile may be ahead too, but it is of a later time.
    return isAhead && asOf !== null && asOf <= (current.asOf ?? 0)
  }
  return isAhead || shown.revision > revision - (projectionRevision - 1)
}

/**
 * The sessions that were listed and are no more. The list is bounded: what would stand below its last row may be there still. Source: S7, O3.
 */
export function goneFrom(before: readonly CatalogRow[], rows: readonly CatalogRow[]): readonly string[] {
  const listed = new Set(rows.map(({ sessionId }) => sessionId))
  const isWhole = rows.length < LIMITS.catalogRows
  const oldest = Math.min(...rows.map(({ lastActivityAt }) => lastActivityAt))
  return before
    .filter(({ sessionId, lastActivityAt }) => !listed.has(sessionId) && (isWhole || lastActivityAt > oldest))
    .map(({ sessionId }) => sessionId)
}

/** True when a session was listed with later activity than it has now: the leader's root went back. Source: V6. */
export function isListOfLostPast(before: readonly CatalogRow[], rows: readonly CatalogRow[]): boolean {
  const now = new Map(rows.map(({ sessionId, lastActivityAt }) => [sessionId, lastActivityAt]))
  return before.some(({ sessionId, lastActivityAt }) => lastActivityAt > (now.get(sessionId) ?? lastActivityAt))
}
