import { normalizeContent } from '../../../../schema/canonical.ts'
import type { Content } from '../../../../schema/entities/content.ts'
import type { SessionHeader, SessionParent } from '../../../../schema/entities/session.ts'
import type { Admission, Execution, SourceMessage } from '../../../../schema/entities/turn.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { truncateChars } from '../../../../schema/text.ts'
import { type Acceptance, type DecideContext, type Decision, event, refuse } from '../../decision.ts'
import type { SessionState } from '../../state.ts'
import { admit, leaderMessageId } from '../admission.ts'
import { newHeader, titleFrom } from '../session.ts'
import { whyNotStart } from '../turn.ts'

/** A linked child session as the run that starts it asks for it. */
export interface NewChild {
  readonly parent: SessionParent
  /** The header of the parent: what the child does not say for itself is as there. */
  readonly from: SessionHeader
  readonly content: Content
  readonly backend?: string
}

/** True for a turn that another session's run waits for: it takes no place of its own. Source: T13, E9. */
export function isChildTurn({ execution }: Pick<Admission, 'execution'>): boolean {
  switch (execution.kind) {
    case 'linked_child_initial':
    case 'linked_child_resume':
    case 'linked_child_provider_retry':
      return true
    default:
      return false
  }
}

/** Creates a child session and admits its first turn, in one transition. The result names turn and run. Source: T13, T4. */
export function decideChildStart(state: SessionState, child: NewChild, context: DecideContext): Decision {
  if (state.header !== null) return refuse('operation_conflict', 'a session with this id exists already')
  const { parent, content } = child
  const header = childHeader(state.sessionId, child, context.at)
  if (!context.backends.has(header.backend)) {
    const known = [...context.backends].join(', ')
    const message = `backend: '${header.backend}' is not known here; choose one of ${known}`
    return refuse('invalid_request', message, { path: 'backend' })
  }
  const { agentId, agentName } = parent
  const admitted = admitMessage({ ...state, header }, content, {
    execution: { kind: 'linked_child_initial', agentId, agentName },
    context,
  })
  return { ...admitted, events: [event('session_created', { header }), ...admitted.events] }
}

/** A model is one of its backend. What the parent may not do, its child may not do either. Source: T13, I7. */
function childHeader(sessionId: string, { parent, from, content, backend }: NewChild, at: number): SessionHeader {
  const about = titleFrom(content.displayText ?? content.text)
  const title = truncateChars([parent.agentName, about].filter(Boolean).join(': '), LIMITS.autoTitleChars).trimEnd()
  const { cwd, model, permissionMode, collaborationMode } = from
  const isSameBackend = backend === undefined || backend === from.backend
  const header = newHeader(
    {
      sessionId,
      title,
      cwd,
      backend: backend ?? from.backend,
      ...(model === undefined || !isSameBackend ? {} : { model }),
      permissionMode,
      collaborationMode,
    },
    at,
  )
  return { ...header, titleIsManual: false, parent }
}

/** Which session asks, and with what message. */
export interface ChildMessage {
  readonly parentSessionId: string
  readonly content: Content
}

/** A child goes on from its newest run, with a new message. Source: T13, T4. */
export function decideChildResume(state: SessionState, child: ChildMessage, context: DecideContext): Decision {
  const source = sourceOf(state, child.parentSessionId, context)
  if ('kind' in source) return source
  const { agentId, agentName, sourceRunId } = source
  return admitMessage(state, child.content, {
    execution: { kind: 'linked_child_resume', agentId, agentName, sourceRunId },
    context,
  })
}

/** A child's newest run is made again: the same input, and no message of anybody. Source: T13, T4. */
export function decideChildRetry(
  state: SessionState,
  { parentSessionId }: Pick<ChildMessage, 'parentSessionId'>,
  context: DecideContext,
): Decision {
  const source = sourceOf(state, parentSessionId, context)
  if ('kind' in source) return source
  const { agentId, agentName, sourceRunId, admission } = source
  const { normalizedInput: content, maxSteps } = admission
  if (content === null) return refuse('operation_conflict', "the input of the child's newest run is not known")
  const execution = { kind: 'linked_child_provider_retry', agentId, agentName, sourceRunId } as const
  const turnId = context.freshTurnId
  const events = admit(
    state,
    {
      turnId,
      userMessageId: null,
      content,
      sourceMessages: [],
      submittedBy: null,
      execution,
      ...(maxSteps === undefined ? {} : { maxSteps }),
    },
    context,
  )
  return started(events, context)
}

/** The run that a child goes on from. */
interface Source {
  readonly agentId: string
  readonly agentName: string
  readonly sourceRunId: string
  readonly admission: Admission
}

function sourceOf(state: SessionState, parentSessionId: string, context: DecideContext): Source | Decision {
  const { header, root } = state
  if (header?.parent?.sessionId !== parentSessionId) return refuse('not_found', 'this session has no such child')
  const blocked = whyNotStart(state, context)
  if (blocked !== null) return blocked
  if (root === null) return refuse('operation_conflict', 'the child has no run yet')
  const { agentId, agentName } = header.parent
  const { admission, runs } = root
  return { agentId, agentName, sourceRunId: runs.at(-1)?.runId ?? admission.runId, admission }
}

function admitMessage(
  state: SessionState,
  content: Content,
  { execution, context }: { readonly execution: Execution; readonly context: DecideContext },
): Acceptance {
  const userMessageId = leaderMessageId(context)
  const source: SourceMessage = {
    messageId: userMessageId,
    content: normalizeContent(content),
    placement: 'next_turn',
    disposition: 'turn_started',
    submittedBy: null,
  }
  const turnId = context.freshTurnId
  const input = { turnId, userMessageId, content, sourceMessages: [source], submittedBy: null, execution }
  return started(admit(state, input, context), context)
}

function started(events: Acceptance['events'], context: DecideContext): Acceptance {
  const { freshTurnId: turnId, freshRunId: runId } = context
  return { kind: 'accept', events, result: () => ({ turnId, runId }), effects: [{ kind: 'start_turn', turnId }] }
}
