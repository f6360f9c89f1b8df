import { isTerminal, type TurnSnapshot } from '../../../schema/entities/turn.ts'
import { LIMITS } from '../../../schema/limits.ts'

/** A turn as far as it is known here. `endedAt`: the leader's time at which its end was seen, null where it was not. */
export interface TurnView {
  readonly turn: TurnSnapshot
  readonly endedAt: number | null
}

/** Turns by their ids. */
export type TurnViews = ReadonlyMap<string, TurnView>

/**
 * The turns that are known, with the state of one of them: the newest root turn as a projection shows it, or an older one that was asked for.
 * The same map if nothing is new; beyond the bound the ones that were told first are forgotten. `asOf` is the leader's time of this state.
 */
export function withTurn(known: TurnViews, turn: TurnSnapshot | null, asOf: number | null): TurnViews {
  if (turn === null) return known
  const before = known.get(turn.turnId)
  if (before !== undefined && (before.turn === turn || isSame(before.turn, turn))) return known
  const wasSeenRunning = before !== undefined && !isTerminal(before.turn.status)
  const endedAt = isTerminal(turn.status) && wasSeenRunning ? asOf : null
  const views = new Map(known)
  views.delete(turn.turnId)
  views.set(turn.turnId, { turn, endedAt })
  for (const turnId of views.keys()) {
    if (views.size <= LIMITS.transcriptTurnsKnown) break
    views.delete(turnId)
  }
  return views
}

function isSame(a: TurnSnapshot, b: TurnSnapshot): boolean {
  return (
    a.status === b.status &&
    ('terminalEventId' in a ? a.terminalEventId : '') === ('terminalEventId' in b ? b.terminalEventId : '')
  )
}
