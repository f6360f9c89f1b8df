import type { Input } from '../../../../schema/commands/index.ts'
import type { PlanControlResult, PlanExecution, PlanProposal } from '../../../../schema/entities/plan.ts'
import type { SessionHeader } from '../../../../schema/entities/session.ts'
import type { DomainEvent } from '../../../../schema/events.ts'
import { type DecideContext, event, type Refusal } from '../../decision.ts'
import type { SessionState } from '../../state.ts'
import { planConflict, planItemId } from './current.ts'

/** What a person wants to become of a plan. */
export type PlanWish =
  | Input<'plan.control'>
  | (Input<'plan.turn.start'> & { readonly kind: 'approve_proposal' | 'resume_execution' })

/** A change of a plan with the result of its command; `execution` is the one that is active afterwards. */
export interface PlanChange {
  readonly kind: 'change'
  readonly events: readonly DomainEvent[]
  readonly result: (next: SessionState) => PlanControlResult
  readonly execution: PlanExecution | null
}

/** The change that a wish makes of the plan as it is now, or why it makes none. Source: P2–P4, P7, P8. */
export function changePlan(state: SessionState, wish: PlanWish, context: DecideContext): PlanChange | Refusal {
  switch (wish.kind) {
    case 'request_revision': {
      const proposal = pendingProposal(state, wish.proposalId)
      if ('code' in proposal) return proposal
      const { proposalId, feedback } = wish
      const events = [event('plan_revision_requested', { proposalId, feedback }), ...modeChange(state, 'plan')]
      return change(events, { eventType: 'plan_revision_requested', proposalId, executionId: null })
    }
    case 'abandon_proposal': {
      const proposal = pendingProposal(state, wish.proposalId)
      if ('code' in proposal) return proposal
      const { proposalId } = wish
      const events = [event('plan_abandoned', { proposalId }), ...modeChange(state, 'agent')]
      return change(events, { eventType: 'plan_abandoned', proposalId, executionId: null })
    }
    case 'approve_proposal':
      return approve(state, wish, context)
    case 'resume_execution':
      return resume(state, wish.executionId, context)
    case 'cancel_execution':
      return cancel(state, wish.executionId, context)
  }
}

function change(
  events: readonly DomainEvent[],
  told: Pick<PlanControlResult, 'eventType' | 'proposalId' | 'executionId'>,
  execution: PlanExecution | null = null,
): PlanChange {
  const result = ({ sessionId, plan }: SessionState): PlanControlResult => ({
    sessionId,
    storeVersion: plan.storeVersion,
    ...told,
  })
  return { kind: 'change', events, result, execution }
}

function pendingProposal(state: SessionState, proposalId: string): PlanProposal | Refusal {
  const { latestProposal } = state.plan
  if (latestProposal?.proposalId !== proposalId) return planConflict(state, 'this is not the latest proposal')
  if (latestProposal.status === 'pending_approval') return latestProposal
  return planConflict(state, 'the proposal does not wait for approval any more')
}

/** Source: P4. */
function approve(
  state: SessionState,
  wish: { readonly proposalId: string; readonly expectedRevision: number; readonly expectedStoreVersion: number },
  context: DecideContext,
): PlanChange | Refusal {
  const proposal = pendingProposal(state, wish.proposalId)
  if ('code' in proposal) return proposal
  if (wish.expectedRevision !== proposal.revision) {
    return planConflict(state, `the plan is at revision ${proposal.revision}, not ${wish.expectedRevision}`)
  }
  const { storeVersion, activeExecution } = state.plan
  if (wish.expectedStoreVersion !== storeVersion) return planConflict(state, 'the plan has changed meanwhile')
  if (activeExecution !== null) return planConflict(state, 'a plan is being carried out')
  const { planId, proposalId, contentDigest, title, steps } = proposal
  const executionId = planItemId('execution', state, context.freshItemId)
  const execution: PlanExecution = {
    executionId,
    planId,
    proposalId,
    contentDigest,
    title,
    status: 'active',
    steps: steps.map(step => ({ ...step, status: 'pending' })),
    startedAt: context.at,
  }
  const events = [event('plan_approved', { proposalId, execution }), ...modeChange(state, 'agent')]
  return change(events, { eventType: 'plan_approved', proposalId, executionId }, execution)
}

/** Source: P7. */
function resume(state: SessionState, executionId: string, context: DecideContext): PlanChange | Refusal {
  const interrupted = interruptedExecution(state, executionId, context)
  if ('code' in interrupted) return interrupted
  if (state.plan.activeExecution !== null) return planConflict(state, 'another plan is being carried out')
  const { endedAt: _endedAt, interruptionReason: _reason, ...rest } = interrupted
  const execution: PlanExecution = { ...rest, status: 'active' }
  const events = [event('plan_execution_resumed', { execution })]
  return change(events, { eventType: 'plan_execution_resumed', proposalId: null, executionId }, execution)
}

/** Source: P8. */
function cancel(state: SessionState, executionId: string, context: DecideContext): PlanChange | Refusal {
  const interrupted = interruptedExecution(state, executionId, context)
  if ('code' in interrupted) return interrupted
  const { interruptionReason: _reason, ...rest } = interrupted
  const execution: PlanExecution = { ...rest, status: 'cancelled', endedAt: context.at }
  const events = [event('plan_execution_cancelled', { execution })]
  return change(events, { eventType: 'plan_execution_cancelled', proposalId: null, executionId })
}

function interruptedExecution(
  state: SessionState,
  executionId: string,
  context: DecideContext,
): PlanExecution | Refusal {
  const execution = executionOf(state, executionId, context)
  if (execution === undefined) return planConflict(state, 'there is no such execution')
  if (execution.status === 'interrupted') return execution
  return planConflict(state, `the execution is ${execution.status}, not interrupted`)
}

/** The execution under this id; what the state holds is newer than what was looked up. */
export function executionOf(
  { plan }: SessionState,
  executionId: string,
  { namedExecution }: DecideContext,
): PlanExecution | undefined {
  const known = [plan.activeExecution, plan.lastExecution, namedExecution]
  return known.find(execution => execution?.executionId === executionId) ?? undefined
}

/** Whoever asks for changes wants a plan; whoever decides on one wants no further. Source: P2–P4. */
function modeChange({ header }: SessionState, collaborationMode: SessionHeader['collaborationMode']): DomainEvent[] {
  if (header?.collaborationMode === collaborationMode) return []
  return [event('session_updated', { patch: { collaborationMode } })]
}
