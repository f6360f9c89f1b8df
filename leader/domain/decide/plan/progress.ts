import type { PlanContent, PlanUpdate } from '../../../../schema/entities/plan.ts'
import { type DecideContext, type Decision, refuse } from '../../decision.ts'
import type { SessionState } from '../../state.ts'

/** Source: P1. */
export function decideSubmitPlan(
  _state: SessionState,
  _run: { turnId: string; runId: string },
  _content: PlanContent,
  _context: DecideContext,
): Decision {
  return refuse('invalid_request', 'not served here')
}

/** Source: P5. */
export function decideUpdatePlan(
  _state: SessionState,
  _run: { turnId: string; runId: string },
  _update: PlanUpdate,
  _context: DecideContext,
): Decision {
  return refuse('invalid_request', 'not served here')
}
