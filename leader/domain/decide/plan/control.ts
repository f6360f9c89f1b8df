import type { Input } from '../../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../../schema/entities/session.ts'
import { type DecideContext, type Decision, type Refusal, refuse } from '../../decision.ts'
import { activeTurn, type SessionState } from '../../state.ts'
import { changePlan } from './change.ts'

/** A person's decision about a plan, without a turn. Source: P2–P4, P7–P9. */
export function decidePlanControl(state: SessionState, input: Input<'plan.control'>, context: DecideContext): Decision {
  const blocked = whyNotControl(state)
  if (blocked !== null) return blocked
  const change = changePlan(state, input, context)
  if (change.kind === 'refuse') return change
  return { kind: 'accept', events: change.events, result: change.result }
}

/** Why no plan can be changed now, or null. Source: P9, S4. */
function whyNotControl(state: SessionState): Refusal | null {
  if ((state.header as SessionHeader).isArchived) return refuse('session_archived')
  const active = activeTurn(state)
  if (active === null) return null
  const { turnId } = active.admission
  return refuse('session_busy', 'a turn is running', { turnId, status: active.snapshot.status })
}
