import type { DecideContext, Decision } from '../../decision.ts'
import { activeTurn, type SessionState } from '../../state.ts'
import { closeInteractions, parkAll } from '../turn.ts'

/** A turn of a child that is to end because its parent does. */
export interface ChildStop {
  readonly turnId: string
  readonly runId: string
  readonly abortSource: string
}

/** Stops a child's turn as a person's stop would; nothing to do when it has ended. Source: T13, T8. */
export function decideChildStop(state: SessionState, stop: ChildStop, context: DecideContext): Decision {
  const turn = activeTurn(state)
  if (turn?.admission.runId !== stop.runId) return { kind: 'accept', events: [], result: () => null }
  const closing = closeInteractions(state, 'turn_stopped', context)
  const reason = stop.abortSource === 'leader_shutdown' ? 'leader_stopped' : 'turn_stopped'
  return {
    kind: 'accept',
    events: [...parkAll(state, reason), ...closing.events],
    result: () => null,
    effects: [...closing.effects, { kind: 'stop_run', ...stop }],
  }
}
