import type { InterruptionReason } from '../../../../schema/entities/plan.ts'
import type { DomainEvent } from '../../../../schema/events.ts'
import { event } from '../../decision.ts'
import type { SessionState } from '../../state.ts'

/** The fact that the active execution was interrupted; none where none is active. It adds to the transcript. Source: P6, P11. */
export function interruptPlan({ plan }: SessionState, reason: InterruptionReason): DomainEvent[] {
  if (plan.activeExecution === null) return []
  const { executionId } = plan.activeExecution
  return [event('plan_execution_interrupted', { executionId, reason })]
}
