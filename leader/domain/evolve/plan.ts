import type { ExecutionStep, PlanExecution, PlanProposal, PlanUpdate } from '../../../schema/entities/plan.ts'
import type { PlanProjection } from '../../../schema/entities/projection.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import type { SessionState } from '../state.ts'
import type { TransitionMeta } from './meta.ts'
import { planEntry } from './plan-entry.ts'
import { appendEntry } from './transcript.ts'

/** Facts about plans. Each counts in `storeVersion`, also one about something the state does not hold. Source: section P. */
export function evolvePlan(state: SessionState, event: DomainEvent, meta: TransitionMeta): SessionState {
  const plan = planAfter(state.plan, event, meta.at)
  if (plan === null) return state
  const next = { ...state, plan: { ...plan, storeVersion: state.plan.storeVersion + 1 } }
  const entry = planEntry(next, event, meta)
  return entry === null ? next : appendEntry(next, entry)
}

/** The section after a fact about plans; null for any other. */
function planAfter(plan: PlanProjection, event: DomainEvent, at: number): PlanProjection | null {
  switch (event.type) {
    case 'plan_submitted':
      return { ...plan, latestProposal: event.payload.proposal }
    case 'plan_revision_requested': {
      const { proposalId, feedback } = event.payload
      return withProposal(plan, proposalId, { status: 'stale', feedback })
    }
    case 'plan_abandoned':
      return withProposal(plan, event.payload.proposalId, { status: 'stale' })
    case 'plan_approved': {
      const { proposalId, execution } = event.payload
      return activated(withProposal(plan, proposalId, { status: 'approved' }), execution)
    }
    case 'plan_execution_resumed':
      return activated(plan, event.payload.execution)
    case 'plan_progress_updated':
      return updated(plan, event.payload, {})
    case 'plan_execution_completed':
      return ended(updated(plan, event.payload, { status: 'completed', endedAt: at }), event.payload.executionId)
    case 'plan_execution_interrupted': {
      const { executionId, reason: interruptionReason } = event.payload
      const end = { status: 'interrupted', endedAt: at, interruptionReason } as const
      return ended(
        withActive(plan, executionId, active => ({ ...active, ...end })),
        executionId,
      )
    }
    case 'plan_execution_cancelled': {
      const { execution } = event.payload
      return plan.activeExecution === null ? { ...plan, lastExecution: execution } : plan
    }
    default:
      return null
  }
}

function withProposal(plan: PlanProjection, proposalId: string, patch: Partial<PlanProposal>): PlanProjection {
  const { latestProposal } = plan
  if (latestProposal?.proposalId !== proposalId) return plan
  return { ...plan, latestProposal: { ...latestProposal, ...patch } }
}

function activated(plan: PlanProjection, execution: PlanExecution): PlanProjection {
  return { ...plan, activeExecution: execution, lastExecution: null }
}

function withActive(
  plan: PlanProjection,
  executionId: string,
  change: (active: PlanExecution) => PlanExecution,
): PlanProjection {
  const { activeExecution } = plan
  return activeExecution?.executionId === executionId ? { ...plan, activeExecution: change(activeExecution) } : plan
}

function updated(plan: PlanProjection, update: PlanUpdate, patch: Partial<PlanExecution>): PlanProjection {
  return withActive(plan, update.executionId, active => ({
    ...active,
    ...patch,
    steps: updatedSteps(active.steps, update.steps),
  }))
}

function ended(plan: PlanProjection, executionId: string): PlanProjection {
  const { activeExecution } = plan
  if (activeExecution?.executionId !== executionId) return plan
  return { ...plan, activeExecution: null, lastExecution: activeExecution }
}

/** The steps after an update; those that stay as they are keep their identity. A note that is not given again stays. Source: P5. */
export function updatedSteps(steps: readonly ExecutionStep[], update: PlanUpdate['steps']): ExecutionStep[] {
  const named = new Map(update.map(step => [step.id, step]))
  return steps.map(step => {
    const { status = step.status, note = step.note } = named.get(step.id) ?? {}
    if (status === step.status && note === step.note) return step
    return { ...step, status, ...(note === undefined ? {} : { note }) }
  })
}
