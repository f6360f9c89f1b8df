import { canonicalDigest } from '../../../../schema/digest.ts'
import type {
  ExecutionStep,
  PlanContent,
  PlanExecution,
  PlanProposal,
  PlanUpdate,
} from '../../../../schema/entities/plan.ts'
import { type DecideContext, type Decision, event, sealBlocks } from '../../decision.ts'
import { updatedSteps } from '../../evolve/plan.ts'
import type { SessionState } from '../../state.ts'
import { planConflict, planItemId } from './current.ts'

/** A run of this session. */
interface OfRun {
  readonly turnId: string
  readonly runId: string
}

/** A run proposes a plan. The result is the proposal. Source: P1. */
export function decideSubmitPlan(
  state: SessionState,
  run: OfRun,
  content: PlanContent,
  context: DecideContext,
): Decision {
  if (state.plan.activeExecution !== null) return planConflict(state, 'a plan is being carried out')
  const proposal = newProposal(state, run, content, context)
  return {
    kind: 'accept',
    events: [...sealBlocks(context), event('plan_submitted', { ...run, proposal })],
    result: next => next.plan.latestProposal,
  }
}

function newProposal(
  state: SessionState,
  { turnId }: OfRun,
  content: PlanContent,
  context: DecideContext,
): PlanProposal {
  const revised = revisedBy(state.plan.latestProposal)
  return {
    planId: revised?.planId ?? planItemId('plan', state, context.freshItemId),
    proposalId: planItemId('proposal', state, context.freshItemId),
    sessionId: state.sessionId,
    turnId,
    revision: (revised?.revision ?? 0) + 1,
    contentDigest: canonicalDigest(content),
    ...(revised === null ? {} : { supersedesProposalId: revised.proposalId }),
    ...content,
    status: 'pending_approval',
    submittedAt: context.at,
  }
}

/** The proposal that a new one revises: the latest, unless it was approved or abandoned. One that is stale with feedback awaits its revision. */
function revisedBy(latest: PlanProposal | null): PlanProposal | null {
  if (latest === null || latest.status === 'approved') return null
  return latest.status === 'pending_approval' || latest.feedback !== undefined ? latest : null
}

/** A run says how far it is. The result is the execution. What changes nothing is no event. Source: P5. */
export function decideUpdatePlan(
  state: SessionState,
  run: OfRun,
  update: PlanUpdate,
  context: DecideContext,
): Decision {
  const { activeExecution } = state.plan
  if (activeExecution?.executionId !== update.executionId) {
    return planConflict(state, 'this execution is not the active one')
  }
  const fault = updateFault(activeExecution, update)
  if (fault !== null) return planConflict(state, fault)
  const steps = updatedSteps(activeExecution.steps, update.steps)
  const result = (next: SessionState): unknown => next.plan.activeExecution ?? next.plan.lastExecution
  if (steps.every((step, index) => step === activeExecution.steps[index])) return { kind: 'accept', events: [], result }
  const isDone = steps.every(isFinished)
  const told = isDone
    ? event('plan_execution_completed', { ...run, ...update })
    : event('plan_progress_updated', { ...run, ...update })
  return { kind: 'accept', events: [...(isDone ? sealBlocks(context) : []), told], result }
}

/** Why the update is not about every step of the execution, each once, with the finished ones as they were; or null. */
function updateFault({ steps }: PlanExecution, update: PlanUpdate): string | null {
  const named = new Map(update.steps.map(step => [step.id, step]))
  if (named.size !== update.steps.length) return 'a step is named twice'
  if (named.size !== steps.length || !steps.every(step => named.has(step.id))) {
    return 'the update does not name exactly the steps of the plan'
  }
  if (update.steps.filter(step => step.status === 'in_progress').length > 1) return 'only one step can be in progress'
  const updated = updatedSteps(steps, update.steps)
  const isChanged = steps.some((step, index) => isFinished(step) && step !== updated[index])
  return isChanged ? 'a finished step cannot change' : null
}

const isFinished = ({ status }: ExecutionStep): boolean => status === 'completed' || status === 'skipped'
