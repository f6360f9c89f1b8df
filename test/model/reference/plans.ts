import { activeTurn, type RefExecution, type RefProposal, type RefRoot, type RefSession, unknownId } from './state.ts'

/** What a plan's title and steps are in the model. */
export interface RefPlanContent {
  readonly title: string
  readonly steps: readonly { readonly id: string; readonly title: string; readonly description: string }[]
}

/** A change of the plan that was made, or why none is. */
export type PlanVerdict = { readonly result: Readonly<Record<string, unknown>> } | { readonly code: string }

const CONFLICT: PlanVerdict = { code: 'operation_conflict' }

/** One fact about plans: it counts, and stands in the transcript unless it is progress. */
function note(session: RefSession, event: string): void {
  session.plan.storeVersion += 1
  if (event === 'plan_progress_updated') return
  session.transcript.push({ kind: 'plan', turnId: session.turns.at(-1)?.turnId ?? '', event })
}

/** The active execution is interrupted, if there is one. */
export function interruptPlan(session: RefSession, reason: string): boolean {
  const active = activeExecution(session)
  if (active === null) return false
  active.status = 'interrupted'
  active.interruptionReason = reason
  session.plan.lastId = active.executionId
  note(session, 'plan_execution_interrupted')
  return true
}

/** The execution that is carried out now. */
export function activeExecution({ plan }: RefSession): RefExecution | null {
  return plan.executions.find(one => one.status === 'active') ?? null
}

/** A run proposes a plan. */
export function submitPlan(root: RefRoot, session: RefSession, content: RefPlanContent): void {
  const latest = session.plan.proposals.at(-1)
  const isRevision = latest !== undefined && (latest.status === 'pending_approval' || isAwaited(latest))
  const { turnId } = activeTurn(session) ?? { turnId: '' }
  session.revision += 1
  session.openText = null
  session.plan.proposals.push({
    planId: isRevision ? latest.planId : unknownId(root),
    proposalId: unknownId(root),
    revision: isRevision ? latest.revision + 1 : 1,
    ...(isRevision ? { supersedesProposalId: latest.proposalId } : {}),
    turnId,
    title: content.title,
    steps: content.steps,
    status: 'pending_approval',
  })
  if (latest?.status === 'pending_approval') latest.status = 'stale'
  note(session, 'plan_submitted')
}

const isAwaited = ({ status, feedback }: RefProposal): boolean => status === 'stale' && feedback !== undefined

/** A run has done its next step. */
export function advancePlan(session: RefSession): void {
  const active = activeExecution(session)
  const next = active?.steps.find(step => step.status === 'pending')
  if (active === null || next === undefined) throw new Error('no step is left')
  next.status = 'completed'
  session.revision += 1
  const isDone = active.steps.every(step => step.status === 'completed')
  if (isDone) {
    session.openText = null
    active.status = 'completed'
    session.plan.lastId = active.executionId
  }
  note(session, isDone ? 'plan_execution_completed' : 'plan_progress_updated')
}

/** A person's decision about a plan; the caller counts the transition. */
export function changePlan(root: RefRoot, session: RefSession, input: Readonly<Record<string, unknown>>): PlanVerdict {
  switch (input.kind) {
    case 'request_revision':
    case 'abandon_proposal':
      return putAway(session, input)
    case 'approve_proposal':
      return approve(root, session, input)
    default:
      return input.kind === 'resume_execution' ? resume(session, input) : cancel(session, input)
  }
}

function putAway(session: RefSession, { kind, proposalId, feedback }: Readonly<Record<string, unknown>>): PlanVerdict {
  const latest = session.plan.proposals.at(-1)
  if (latest?.proposalId !== proposalId || latest?.status !== 'pending_approval') return CONFLICT
  latest.status = 'stale'
  const isRequest = kind === 'request_revision'
  if (isRequest) latest.feedback = String(feedback)
  setMode(session, isRequest ? 'plan' : 'agent')
  return changed(session, isRequest ? 'plan_revision_requested' : 'plan_abandoned', latest.proposalId, null)
}

function approve(root: RefRoot, session: RefSession, input: Readonly<Record<string, unknown>>): PlanVerdict {
  const { plan } = session
  const latest = plan.proposals.at(-1)
  if (latest?.proposalId !== input.proposalId || latest?.status !== 'pending_approval') return CONFLICT
  const isExpected = input.expectedRevision === latest.revision && input.expectedStoreVersion === plan.storeVersion
  if (!isExpected || activeExecution(session) !== null) return CONFLICT
  latest.status = 'approved'
  const executionId = unknownId(root)
  const steps = latest.steps.map(({ id }) => ({ id, status: 'pending' }))
  plan.executions.push({ executionId, proposalId: latest.proposalId, title: latest.title, status: 'active', steps })
  plan.lastId = null
  setMode(session, 'agent')
  return changed(session, 'plan_approved', latest.proposalId, executionId)
}

function resume(session: RefSession, { executionId }: Readonly<Record<string, unknown>>): PlanVerdict {
  const execution = session.plan.executions.find(one => one.executionId === executionId)
  if (execution?.status !== 'interrupted' || activeExecution(session) !== null) return CONFLICT
  execution.status = 'active'
  delete execution.interruptionReason
  session.plan.lastId = null
  return changed(session, 'plan_execution_resumed', null, execution.executionId)
}

function cancel(session: RefSession, { executionId }: Readonly<Record<string, unknown>>): PlanVerdict {
  const execution = session.plan.executions.find(one => one.executionId === executionId)
  if (execution?.status !== 'interrupted') return CONFLICT
  execution.status = 'cancelled'
  delete execution.interruptionReason
  if (activeExecution(session) === null) session.plan.lastId = execution.executionId
  return changed(session, 'plan_execution_cancelled', null, execution.executionId)
}

function changed(
  session: RefSession,
  eventType: string,
  proposalId: string | null,
  executionId: string | null,
): PlanVerdict {
  note(session, eventType)
  const { sessionId, plan } = session
  return { result: { sessionId, storeVersion: plan.storeVersion, eventType, proposalId, executionId } }
}

function setMode(session: RefSession, collaborationMode: string): void {
  if (session.collaborationMode === collaborationMode) return
  session.collaborationMode = collaborationMode
  session.headerRevision += 1
}

/** The plan as clients see it, without times and digests. */
export function planView(session: RefSession): Readonly<Record<string, unknown>> {
  const { storeVersion, proposals, executions, lastId } = session.plan
  const latest = proposals.at(-1)
  return {
    storeVersion,
    latestProposal: latest === undefined ? null : { ...latest },
    activeExecution: activeExecution(session),
    lastExecution: executions.find(one => one.executionId === lastId) ?? null,
  }
}
