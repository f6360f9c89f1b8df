import type { Input } from '../../../schema/commands/index.ts'
import { answerFault, isEquivalent } from '../../../schema/entities/answer-shape.ts'
import type {
  InteractionOutcome,
  InteractionRequest,
  InteractionSnapshot,
} from '../../../schema/entities/interaction.ts'
import type { ClientActor } from '../../../schema/entities/primitives.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import { type DecideContext, type Decision, event, refuse, sealBlocks } from '../decision.ts'
import { settledSnapshot } from '../evolve/interaction.ts'
import type { PendingRequest, SessionState } from '../state.ts'

type Answered = Extract<InteractionOutcome, { kind: 'answer' }>

/** The first valid answer wins; an equal one again gives the same snapshot. Source: I4. */
export function decideAnswer(
  state: SessionState,
  input: Input<'interaction.answer'>,
  context: DecideContext,
): Decision {
  const { interactionId, answer } = input
  const settled = context.settledInteraction
  if (settled !== undefined) {
    const outcome = settled.outcome
    const isSame = outcome?.kind === 'answer' && isEquivalent(settled.request, outcome.answer, answer)
    if (isSame) return { kind: 'accept', events: [], result: () => settled }
    return refuse('already_resolved', undefined, { interaction: settled })
  }
  const pending = state.interactions.find(r => r.snapshot.interactionId === interactionId)?.snapshot
  if (pending === undefined) return refuse('not_found', 'there is no such interaction')
  const fault = answerFault(pending.request, answer)
  if (fault !== null) return refuse('invalid_request', fault.message, { path: fault.path })
  const outcome: Answered = { kind: 'answer', answer, by: context.actor as ClientActor, at: context.at }
  return {
    kind: 'accept',
    events: [
      ...sealBlocks(context),
      event('interaction_answered', { turnId: pending.turnId, runId: pending.runId, interactionId, outcome }),
      ...rememberAlways(state, pending.request, answer),
    ],
    result: () => settledSnapshot(pending, outcome),
    effects: [{ kind: 'settle', interactionId, outcome }],
  }
}

/** An `allow_always` answer is remembered for the session. Source: I7. */
function rememberAlways(
  state: SessionState,
  request: InteractionRequest,
  answer: Input<'interaction.answer'>['answer'],
): DomainEvent[] {
  if (request.kind !== 'permission' || answer.kind !== 'permission') return []
  const option = request.options.find(o => o.optionId === answer.optionId)
  const known = (state.header as SessionHeader).alwaysAllowed ?? []
  const isNew = option?.kind === 'allow_always' && !known.includes(request.toolKind)
  if (!isNew || known.length >= LIMITS.alwaysAllowedEntries) return []
  return [event('session_updated', { patch: { alwaysAllowed: [...known, request.toolKind] } })]
}

/** Establishes a run's interaction; a permission mode may answer it in the same transition. Source: I1, I3, I7. */
export function decideOpen(
  state: SessionState,
  run: { readonly turnId: string; readonly runId: string },
  pending: PendingRequest,
  context: DecideContext,
): Decision {
  const { interactionId, request, expiresInMs } = pending
  const bytes = utf8Bytes(JSON.stringify(request))
  if (bytes > LIMITS.interactionRequestBytes) return refuse('too_large', 'the request is over 64 KiB')
  const opened = event('interaction_opened', {
    ...run,
    interactionId,
    request,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  })
  const outcome = answerByMode(state, request, context.at)
  if (outcome === 'refused') return refuse('forbidden', 'the session only explores, and the request cannot be declined')
  if (outcome === null) {
    const total = state.interactions.reduce((sum, r) => sum + utf8Bytes(JSON.stringify(r.snapshot.request)), bytes)
    if (state.interactions.length >= LIMITS.interactionsPending || total > LIMITS.interactionsPendingBytes) {
      return refuse('queue_full', 'too many interactions are pending in this session')
    }
    return { kind: 'accept', events: [opened], result: () => null }
  }
  const answered = event('interaction_answered', { ...run, interactionId, outcome })
  return {
    kind: 'accept',
    events: [...sealBlocks(context), opened, answered],
    result: () => null,
    effects: [{ kind: 'settle', interactionId, outcome }],
  }
}

const READING_TOOLS: ReadonlySet<string> = new Set(['read', 'search', 'fetch', 'think'])

/** What the session's permission mode answers by itself, or null where a person is asked. Source: I7. */
function answerByMode(state: SessionState, request: InteractionRequest, at: number): Answered | 'refused' | null {
  if (request.kind !== 'permission') return null
  const { permissionMode, alwaysAllowed = [] } = state.header as SessionHeader
  const choose = (...kinds: string[]): Answered | null => {
    const option = kinds.map(kind => request.options.find(o => o.kind === kind)).find(o => o !== undefined)
    return option === undefined
      ? null
      : { kind: 'answer', answer: { kind: 'permission', optionId: option.optionId }, by: 'leader', at }
  }
  if (permissionMode === 'bypass') return choose('allow_once', 'allow_always')
  if (permissionMode === 'explore') {
    const allowed = READING_TOOLS.has(request.toolKind) ? choose('allow_once', 'allow_always') : null
    return allowed ?? choose('reject_once', 'reject_always') ?? 'refused'
  }
  return alwaysAllowed.includes(request.toolKind) ? choose('allow_once', 'allow_always') : null
}

/** Closes a pending interaction whose time is up. Source: I5. */
export function decideExpire(state: SessionState, interactionId: string, context: DecideContext): Decision {
  const pending: InteractionSnapshot | undefined = state.interactions.find(
    r => r.snapshot.interactionId === interactionId,
  )?.snapshot
  if (pending === undefined) return { kind: 'accept', events: [], result: () => null }
  const { turnId, runId } = pending
  const outcome = { kind: 'closure' as const, reason: 'expired' as const, at: context.at }
  return {
    kind: 'accept',
    events: [...sealBlocks(context), event('interaction_closed', { turnId, runId, interactionId, reason: 'expired' })],
    result: () => null,
    effects: [{ kind: 'settle', interactionId, outcome }],
  }
}
