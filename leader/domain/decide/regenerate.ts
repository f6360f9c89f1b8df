import type { Input } from '../../../schema/commands/index.ts'
import type { ClientActor } from '../../../schema/entities/primitives.ts'
import type { Admission } from '../../../schema/entities/turn.ts'
import { type DecideContext, type Decision, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'
import { admit, leaderMessageId } from './admission.ts'
import { admissionOf, whyNotStart } from './turn.ts'

/** A new root turn with the input of one that has ended. A turn that is there without this command's receipt is compared. Source: T10, T6. */
export function decideRegenerate(
  state: SessionState,
  input: Input<'turn.regenerate'>,
  context: DecideContext,
): Decision {
  const { turnId, sourceTurnId } = input
  if (turnId === sourceTurnId) return refuse('operation_conflict', 'a turn cannot be made from itself', { turnId })
  const known = admissionOf(state, turnId, context)
  if (known !== undefined) return decideKnown(known, input)
  const blocked = whyNotStart(state, context)
  if (blocked !== null && blocked.kind === 'refuse' && blocked.code === 'session_archived') return blocked
  const source = sourceOf(state, sourceTurnId, context)
  if (source === undefined) return refuse('not_found', 'there is no such turn', { turnId: sourceTurnId })
  if (blocked !== null) return blocked
  const content = source.normalizedInput
  if (content === null) {
    return refuse('operation_conflict', 'the turn had no input of its own', { turnId: sourceTurnId })
  }
  const submittedBy = context.actor as ClientActor
  const userMessageId = leaderMessageId(context)
  const message = { messageId: userMessageId, content, submittedBy }
  const turn = {
    turnId,
    userMessageId,
    content,
    sourceMessages: [{ ...message, placement: 'next_turn' as const, disposition: 'turn_started' as const }],
    submittedBy,
    execution: { kind: 'regenerate' as const, sourceTurnId },
    ...(source.maxSteps === undefined ? {} : { maxSteps: source.maxSteps }),
  }
  return {
    kind: 'accept',
    events: admit(state, turn, context),
    result: () => ({ kind: 'started' }),
    turn: { turnId, as: 'turn' },
    when: { turnStarted: turnId },
    effects: [{ kind: 'start_turn', turnId }],
  }
}

/** Every turn but the newest has ended, and that one is looked at by `whyNotStart`. */
function sourceOf(state: SessionState, turnId: string, { sourceTurn }: DecideContext): Admission | undefined {
  if (state.root?.admission.turnId === turnId) return state.root.admission
  return sourceTurn?.turnId === turnId ? sourceTurn : undefined
}

function decideKnown(known: Admission, { turnId, sourceTurnId }: Input<'turn.regenerate'>): Decision {
  const isSame = known.execution.kind === 'regenerate' && known.execution.sourceTurnId === sourceTurnId
  if (!isSame) return refuse('operation_conflict', 'this turn was admitted with another intent', { turnId })
  return { kind: 'accept', events: [], result: () => ({ kind: 'started' }), turn: { turnId, as: 'turn' } }
}
