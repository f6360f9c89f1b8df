import { isCanonicallyEqual } from '../../../../schema/canonical.ts'
import type { Input } from '../../../../schema/commands/index.ts'
import type { PlanControlResult, PlanExecution } from '../../../../schema/entities/plan.ts'
import type { ClientActor } from '../../../../schema/entities/primitives.ts'
import type { Admission } from '../../../../schema/entities/turn.ts'
import { type DecideContext, type Decision, refuse } from '../../decision.ts'
import type { SessionState } from '../../state.ts'
import { admit, leaderMessageId, type TurnInput } from '../admission.ts'
import { admissionOf, whyNotStart } from '../turn.ts'
import { changePlan, executionOf } from './change.ts'

type Start = Input<'plan.turn.start'>

/** A decision about a plan and the turn that carries it out, in one transition. Source: P10, T1. */
export function decidePlanTurn(state: SessionState, input: Start, context: DecideContext): Decision {
  const { turnId } = input
  const known = admissionOf(state, turnId, context)
  if (known !== undefined) return decideKnown(state, known, input, context)
  const blocked = whyNotStart(state, context)
  if (blocked !== null) return blocked
  const change = changePlan(state, input, context)
  if (change.kind === 'refuse') return change
  const turn = turnInput(input, change.execution as PlanExecution, context)
  return {
    kind: 'accept',
    events: [...change.events, ...admit(state, turn, context)],
    result: next => ({ plan: change.result(next) }),
    turn: { turnId, as: 'turn' },
    when: { turnStarted: turnId },
    effects: [{ kind: 'start_turn', turnId }],
  }
}

function turnInput(input: Start, execution: PlanExecution, context: DecideContext): TurnInput {
  const submittedBy = context.actor as ClientActor
  const content = { text: messageText(input, execution) }
  const userMessageId = leaderMessageId(context)
  const message = { messageId: userMessageId, content, submittedBy }
  return {
    turnId: input.turnId,
    userMessageId,
    content,
    sourceMessages: [{ ...message, placement: 'next_turn', disposition: 'turn_started' }],
    submittedBy,
    execution: { kind: 'plan', executionId: execution.executionId },
  }
}

function messageText({ kind }: Start, { title }: PlanExecution): string {
  return kind === 'approve_proposal' ? `Carry out the approved plan: ${title}` : `Resume the plan: ${title}`
}

/** A turn that is there without this command's receipt: its admission says what it was for, the plan is left alone. Source: P10, T6. */
function decideKnown(state: SessionState, known: Admission, input: Start, context: DecideContext): Decision {
  const { turnId } = input
  const { execution: of } = known
  const execution = of.kind === 'plan' ? executionOf(state, of.executionId, context) : undefined
  if (execution === undefined || !isSame(known, execution, input)) {
    return refuse('operation_conflict', 'this turn was admitted with another intent', { turnId })
  }
  const isApproval = input.kind === 'approve_proposal'
  const plan: PlanControlResult = {
    sessionId: state.sessionId,
    storeVersion: state.plan.storeVersion,
    eventType: isApproval ? 'plan_approved' : 'plan_execution_resumed',
    proposalId: isApproval ? input.proposalId : null,
    executionId: execution.executionId,
  }
  return { kind: 'accept', events: [], result: () => ({ plan }), turn: { turnId, as: 'turn' } }
}

function isSame(known: Admission, execution: PlanExecution, input: Start): boolean {
  const { executionId, proposalId } = execution
  const isNamed =
    input.kind === 'approve_proposal' ? proposalId === input.proposalId : executionId === input.executionId
  return isNamed && isCanonicallyEqual(known.normalizedInput, { text: messageText(input, execution) })
}
