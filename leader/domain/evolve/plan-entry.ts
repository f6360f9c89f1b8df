import type { PlanExecution, PlanProposal } from '../../../schema/entities/plan.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import type { SessionState } from '../state.ts'
import type { TransitionMeta } from './meta.ts'
import type { NewEntry } from './transcript.ts'

/** What an entry says of a fact, and what it is about. */
interface Said {
  readonly text: string
  readonly proposalId?: string
  readonly executionId?: string
}

type PlanEntry = Extract<NewEntry, { kind: 'plan' }>

/**
 * The line of history of a fact about plans; `state` is the one after it. Null for other facts and for progress, which the plan itself
 * shows. A person's decision belongs to the newest root turn, so that the entries of a turn stay together. Source: L2, section P.
 */
export function planEntry(state: SessionState, event: DomainEvent, meta: TransitionMeta): PlanEntry | null {
  const said = whatIsSaid(state, event)
  if (said === null) return null
  const run = 'runId' in event.payload ? { runId: event.payload.runId } : {}
  const turnId = 'turnId' in event.payload ? event.payload.turnId : turnOf(state)
  return {
    id: `plan-event-${meta.revision}`,
    turnId,
    ...run,
    at: meta.at,
    kind: 'plan',
    event: event.type as NonNullable<PlanEntry['event']>,
    ...said,
    ...(typeof meta.actor === 'object' ? { by: meta.actor } : {}),
  }
}

/** Every proposal comes from a turn. */
function turnOf({ root, plan, sessionId }: SessionState): string {
  return root?.admission.turnId ?? plan.latestProposal?.turnId ?? sessionId
}

function whatIsSaid(state: SessionState, event: DomainEvent): Said | null {
  const { latestProposal, activeExecution, lastExecution } = state.plan
  switch (event.type) {
    case 'plan_submitted': {
      const { proposal } = event.payload
      return ofProposal('Plan proposed', proposal, proposal.proposalId)
    }
    case 'plan_revision_requested': {
      const { proposalId, feedback } = event.payload
      return { text: `Changes to the plan requested: ${feedback}`, proposalId }
    }
    case 'plan_abandoned':
      return ofProposal('Plan abandoned', latestProposal, event.payload.proposalId)
    case 'plan_approved': {
      const { proposalId, execution } = event.payload
      return { ...ofProposal('Plan approved', latestProposal, proposalId), executionId: execution.executionId }
    }
    case 'plan_execution_completed':
      return ofExecution('Plan completed', lastExecution, event.payload.executionId)
    case 'plan_execution_interrupted': {
      const { executionId, reason } = event.payload
      const { text, ...about } = ofExecution('Plan interrupted', lastExecution, executionId)
      return { text: `${text} (${reason.replaceAll('_', ' ')})`, ...about }
    }
    case 'plan_execution_resumed':
      return ofExecution('Plan resumed', activeExecution, event.payload.execution.executionId)
    case 'plan_execution_cancelled':
      return ofExecution('Plan cancelled', event.payload.execution, event.payload.execution.executionId)
    default:
      return null
  }
}

function ofProposal(what: string, proposal: PlanProposal | null, proposalId: string): Said {
  if (proposal?.proposalId !== proposalId) return { text: what, proposalId }
  return { text: `${what}: ${proposal.title} (revision ${proposal.revision})`, proposalId }
}

function ofExecution(what: string, execution: PlanExecution | null, executionId: string): Said {
  if (execution?.executionId !== executionId) return { text: what, executionId }
  const { title, proposalId } = execution
  return { text: `${what}: ${title}`, proposalId, executionId }
}
