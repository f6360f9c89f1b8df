import type { PlanExecution, PlanProposal } from '../../../schema/entities/plan.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import type { SessionState } from '../../domain/state.ts'
import type { RowWrite } from '../../log/store.ts'
import { encodeJson } from '../record.ts'

/** The proposals and executions that one transition changed, as they are afterwards: the state holds only the newest. Source: P12. */
export function planRows(previous: SessionState, next: SessionState, events: readonly DomainEvent[]): RowWrite[] {
  if (previous.plan === next.plan) return []
  return [
    ...proposalRows(previous.plan.latestProposal, next.plan.latestProposal),
    ...executionRows(previous, next, events),
  ]
}

function proposalRows(before: PlanProposal | null, after: PlanProposal | null): RowWrite[] {
  if (after === null || before === after) return []
  const isSuperseded = before?.status === 'pending_approval' && before.proposalId !== after.proposalId
  return [...(isSuperseded ? [proposalRow({ ...before, status: 'stale' })] : []), proposalRow(after)]
}

function proposalRow(proposal: PlanProposal): RowWrite {
  return { kind: 'proposal', id: proposal.proposalId, value: encodeJson(proposal) }
}

function executionRows(previous: SessionState, next: SessionState, events: readonly DomainEvent[]): RowWrite[] {
  const before = [previous.plan.activeExecution, previous.plan.lastExecution]
  const changed = [next.plan.activeExecution, next.plan.lastExecution, ...cancelledExecutions(events)]
  const byId = new Map<string, PlanExecution>()
  for (const execution of changed) {
    if (execution !== null && !before.includes(execution)) byId.set(execution.executionId, execution)
  }
  return [...byId].map(([id, execution]) => ({ kind: 'execution', id, value: encodeJson(execution) }))
}

/** Executions that the state after these events may not hold, as they are then: a look-up under way may miss them. Source: P7, P8. */
export function leftExecutions({ plan }: SessionState, events: readonly DomainEvent[]): readonly PlanExecution[] {
  const cancelled = cancelledExecutions(events)
  const isReplaced =
    cancelled.length > 0 || events.some(e => e.type === 'plan_approved' || e.type === 'plan_execution_resumed')
  return isReplaced && plan.lastExecution !== null ? [plan.lastExecution, ...cancelled] : cancelled
}

/** They may be older than what the state holds. Source: P8. */
function cancelledExecutions(events: readonly DomainEvent[]): readonly PlanExecution[] {
  return events.flatMap(event => (event.type === 'plan_execution_cancelled' ? [event.payload.execution] : []))
}

/** How far the plan is that is or was last being carried out, if it is not done. Source: S7. */
export function planCount({ plan }: SessionState): { readonly done: number; readonly total: number } | undefined {
  const { activeExecution, lastExecution } = plan
  const execution = activeExecution ?? (lastExecution?.status === 'interrupted' ? lastExecution : null)
  if (execution === null) return undefined
  const { steps } = execution
  const done = steps.filter(({ status }) => status === 'completed' || status === 'skipped').length
  return { done, total: steps.length }
}
