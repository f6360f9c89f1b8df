import { decideSubmitPlan, decideUpdatePlan } from '../../../leader/domain/decide/plan/progress.ts'
import { decideEnd, type RunEnding } from '../../../leader/domain/decide/run.ts'
import type { Decision } from '../../../leader/domain/decision.ts'
import type { PlanContent, PlanExecution, PlanProposal, StepStatus } from '../../../schema/entities/plan.ts'
import type { DomainSession } from './domain-session.ts'

/** A plan of these steps. */
export function planOf(title: string, ...steps: readonly string[]): PlanContent {
  return { title, steps: steps.map(id => ({ id, title: `Step ${id}`, description: '' })) }
}

/** A plan of two steps. */
export const PLAN: PlanContent = planOf('Fix it', 'a', 'b')

const runOf = (session: DomainSession) => ({ turnId: session.admission.turnId, runId: session.admission.runId })

/** What a submission of the running turn would do. */
export function submission(session: DomainSession, content = PLAN): Decision {
  return decideSubmitPlan(session.state, runOf(session), content, session.context())
}

/** The running turn submits a plan. */
export function submitPlan(session: DomainSession, content = PLAN): PlanProposal {
  return session.take(submission(session, content)) as PlanProposal
}

/** Ends the running turn. */
export function endTurn(session: DomainSession, end: RunEnding = { kind: 'completed' }, isDraining = false): void {
  session.take(decideEnd(session.state, runOf(session), end, { ...session.context(), isDraining }))
}

/** A turn that submits a plan and ends. */
export function proposeIn(session: DomainSession, turnId: string, content = PLAN): PlanProposal {
  session.start(turnId)
  const proposal = submitPlan(session, content)
  endTurn(session)
  return proposal
}

/** What an update by the running turn would do; steps as `[id, status, note?]`. */
export function update(
  session: DomainSession,
  steps: readonly (readonly [id: string, status: StepStatus, note?: string])[],
  executionId = session.state.plan.activeExecution?.executionId ?? 'none',
): Decision {
  const named = steps.map(([id, status, note]) => ({ id, status, ...(note === undefined ? {} : { note }) }))
  return decideUpdatePlan(session.state, runOf(session), { executionId, steps: named }, session.context())
}

/** Approves the latest proposal in a turn and starts its run. */
export function approveIn(session: DomainSession, turnId: string): PlanExecution {
  session.do('plan.turn.start', { kind: 'approve_proposal', ...expectedNow(session), turnId } as never)
  session.startRun()
  return session.state.plan.activeExecution as PlanExecution
}

/** What an approval of the latest proposal names. */
export function expectedNow({ state }: DomainSession) {
  const { proposalId, revision } = state.plan.latestProposal as PlanProposal
  return { proposalId, expectedRevision: revision, expectedStoreVersion: state.plan.storeVersion }
}

/** A session whose plan was approved in t2 and interrupted when t2 failed. */
export function interrupted(session: DomainSession): PlanExecution {
  proposeIn(session, 't1')
  approveIn(session, 't2')
  endTurn(session, { kind: 'failed', failureClass: 'backend_error' })
  return session.state.plan.lastExecution as PlanExecution
}
