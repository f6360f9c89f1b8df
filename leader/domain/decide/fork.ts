import type { Input } from '../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { type DecideContext, type Decision, event, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'
import { newHeader } from './session.ts'

/**
 * A new session with the transcript of another one up to the end of a turn; decided where the new one will be. It has no queue, plan, tasks
 * or interactions, and its agent knows nothing of the other's. Source: S6.
 */
export function decideFork(state: SessionState, input: Input<'session.fork'>, context: DecideContext): Decision {
  if (state.header !== null) return refuse('operation_conflict', 'a session with this id exists already')
  const source = context.forkSource
  if (source === undefined) return refuse('not_found', 'there is no such session')
  const { turn } = source
  const { sessionId: sourceSessionId, fromTurnId: sourceTurnId, newSessionId } = input
  if (turn === null) return refuse('not_found', 'there is no such turn', { turnId: sourceTurnId })
  if (!turn.isTerminal) return refuse('session_busy', 'the turn has not ended', { turnId: sourceTurnId })
  const { throughSeq, tail } = turn
  return {
    kind: 'accept',
    events: [
      event('session_created', { header: forkedHeader(source.header, newSessionId, context.at) }),
      event('session_forked', { sourceSessionId, sourceTurnId, throughSeq, tail }),
    ],
    result: next => ({ session: next.header }),
  }
}

function forkedHeader(source: SessionHeader, sessionId: string, at: number): SessionHeader {
  const { title, titleIsManual, cwd, backend, model, permissionMode, collaborationMode } = source
  const made = { sessionId, title, cwd, backend, permissionMode, collaborationMode }
  return { ...newHeader({ ...made, ...(model === undefined ? {} : { model }) }, at), titleIsManual }
}
