import type { PlanExecution, PlanProposal } from '../../../schema/entities/plan.ts'
import type { PlanProjection, SessionProjection } from '../../../schema/entities/projection.ts'
import type { Task } from '../../../schema/entities/task.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { withoutTimes } from '../../model/reference/explore.ts'
import type { RefLine } from '../../model/reference/state.ts'
import { mergedLines } from '../../model/reference/turns.ts'

/** A projection in the words of the reference. */
export function observedView(view: SessionProjection): unknown {
  const { session, revision, rootTurn, queue, interactions, transcript } = view
  const { queueRevision, steering, followup, parked } = queue
  return {
    session: withoutTimes(session),
    revision,
    rootTurn,
    queue: { queueRevision, steering, followup, isParked: parked !== null },
    pending: withoutTimes(interactions.pending),
    plan: planOf(view.plan),
    tasks: view.tasks.items.map(taskOf),
    lines: mergedLines(transcript.entries.map(lineOf)),
  }
}

function lineOf(entry: TranscriptEntry): RefLine {
  const { kind, turnId } = entry
  switch (entry.kind) {
    case 'user': {
      const { id, content, isSteering } = entry
      return { kind, id, turnId, content, ...(isSteering === true ? { isSteering } : {}) }
    }
    case 'assistant':
    case 'thinking':
      return { kind, id: entry.messageId, turnId, text: entry.text }
    case 'tool':
      return { kind, id: entry.toolCallId, turnId, status: entry.status }
    case 'interaction': {
      const { outcome } = entry
      return { kind, id: entry.interactionId, turnId, outcome: outcome.kind === 'answer' ? 'answer' : outcome.reason }
    }
    case 'plan':
      return { kind, turnId, ...(entry.event === undefined ? {} : { event: entry.event }) }
    default:
      return { kind, turnId, text: entry.text }
  }
}

/** What replicas of one session must agree on. */
export function sharedView(view: SessionProjection): string {
  const { presence: _rows, presenceCount: _count, ...rest } = view
  return JSON.stringify(rest)
}

function planOf({ storeVersion, latestProposal, activeExecution, lastExecution }: PlanProjection): unknown {
  return {
    storeVersion,
    latestProposal: latestProposal === null ? null : proposalOf(latestProposal),
    activeExecution: executionOf(activeExecution),
    lastExecution: executionOf(lastExecution),
  }
}

function proposalOf(proposal: PlanProposal): unknown {
  const { contentDigest: _digest, sessionId: _session, submittedAt: _at, ...rest } = proposal
  return rest
}

function executionOf(execution: PlanExecution | null): unknown {
  if (execution === null) return null
  const { executionId, proposalId, title, status, interruptionReason } = execution
  const steps = execution.steps.map(step => ({ id: step.id, status: step.status }))
  return {
    executionId,
    proposalId,
    title,
    status,
    steps,
    ...(interruptionReason === undefined ? {} : { interruptionReason }),
  }
}

function taskOf(task: Task): unknown {
  const { createdAt: _made, updatedAt: _changed, endedAt: _ended, ...rest } = task
  return rest
}
