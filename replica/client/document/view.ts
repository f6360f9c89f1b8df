import { isCanonicallyEqual } from '../../../schema/canonical.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { ViewFacts } from '../../../schema/projection/read.ts'
import type { LeaderAwareness } from '../../../schema/wire/sync.ts'

/** The facts of a leader's awareness; the same object as before where nothing but its time changed. Source: V4. */
export function nextView(known: ViewFacts | undefined, state: LeaderAwareness): ViewFacts {
  const { hostEpoch, baseRevision, presence, presenceCount, isDamaged } = state
  const view: ViewFacts = {
    hostEpoch,
    baseRevision,
    presence: Object.freeze(presence.slice(0, LIMITS.presenceRows).map(row => Object.freeze(row))),
    presenceCount,
    ...(isDamaged === true ? { isDamaged } : {}),
  }
  return known !== undefined && isCanonicallyEqual(known, view) ? known : Object.freeze(view)
}
