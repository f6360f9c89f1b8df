import { isCanonicallyEqual, normalizeContent } from '../../../schema/canonical.ts'
import type { Input } from '../../../schema/commands/index.ts'
import type { ClientActor } from '../../../schema/entities/primitives.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { type Admission, isTerminal } from '../../../schema/entities/turn.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import { type DecideContext, type Decision, type Effect, event, type Refusal, refuse, sealBlocks } from '../decision.ts'
import { activeTurn, type SessionState } from '../state.ts'
import { admit, leaderMessageId } from './admission.ts'

/** Source: T1, T2, T5–T7. */
export function decideStart(state: SessionState, input: Input<'turn.start'>, context: DecideContext): Decision {
  const { turnId, content, maxSteps } = input
  const known = admissionOf(state, turnId, context)
  if (known !== undefined) return decideKnown(known, input)
  const blocked = whyNotStart(state, context)
  if (blocked !== null) return blocked
  const submittedBy = context.actor as ClientActor
  const userMessageId = leaderMessageId(context)
  const source = {
    messageId: userMessageId,
    content: normalizeContent(content),
    placement: 'next_turn' as const,
    disposition: 'turn_started' as const,
    submittedBy,
  }
  const events = admit(
    state,
    {
      turnId,
      userMessageId,
      content,
      sourceMessages: [source],
      submittedBy,
      ...(maxSteps === undefined ? {} : { maxSteps }),
    },
    context,
  )
  return {
    kind: 'accept',
    events,
    result: () => ({ kind: 'started' }),
    turn: { turnId, as: 'turn' },
    when: { turnStarted: turnId },
    effects: [{ kind: 'start_turn', turnId }],
  }
}

/** The admission of a root turn of this session, if there is one under this id. */
export function admissionOf(state: SessionState, turnId: string, { olderTurn }: DecideContext): Admission | undefined {
  if (state.root?.admission.turnId === turnId) return state.root.admission
  return olderTurn?.turnId === turnId ? olderTurn : undefined
}

/** A turn that is there without this command's receipt: it was planted, or admitted by another command. Source: T6. */
function decideKnown(known: Admission, { turnId, content, maxSteps }: Input<'turn.start'>): Decision {
  const isSame =
    known.execution.kind === 'external_message' &&
    known.maxSteps === maxSteps &&
    known.normalizedInput !== null &&
    isCanonicallyEqual(normalizeContent(known.normalizedInput), normalizeContent(content))
  if (!isSame) return refuse('operation_conflict', 'this turn was admitted with another intent', { turnId })
  return { kind: 'accept', events: [], result: () => ({ kind: 'started' }), turn: { turnId, as: 'turn' } }
}

/** Why no turn can start now, or null. Source: T2, T7. */
export function whyNotStart(state: SessionState, context: DecideContext): Decision | null {
  if ((state.header as SessionHeader).isArchived) return refuse('session_archived')
  const active = activeTurn(state)
  if (active !== null) {
    return refuse('session_busy', 'a turn is running', {
      turnId: active.admission.turnId,
      status: active.snapshot.status,
    })
  }
  return context.isCleaningUp ? { kind: 'wait_for_cleanup' } : null
}

/** Source: Q2, Q3, Q4. */
export function decideSubmit(
  state: SessionState,
  input: Input<'turn.message.submit'>,
  context: DecideContext,
): Decision {
  if ((state.header as SessionHeader).isArchived) return refuse('session_archived')
  const submittedBy = context.actor as ClientActor
  const { messageId, placement, originHostEpoch } = input
  const content = normalizeContent(input.content)
  if (activeTurn(state) === null) {
    if (context.isCleaningUp) return { kind: 'wait_for_cleanup' }
    const turnId = context.freshTurnId
    const source = { messageId, content, placement, disposition: 'turn_started' as const, submittedBy }
    const turn = { turnId, userMessageId: messageId, content, sourceMessages: [source], submittedBy, originHostEpoch }
    return {
      kind: 'accept',
      events: admit(state, turn, context),
      result: () => ({ disposition: 'turn_started', turnId }),
      when: { turnStarted: turnId },
      effects: [{ kind: 'start_turn', turnId }],
    }
  }
  const bytes = state.queue.reduce((sum, r) => sum + contentBytes(r.entry.content), contentBytes(content))
  if (state.queue.length >= LIMITS.queueEntries || bytes > LIMITS.queueBytes) {
    return refuse('queue_full', undefined, { entries: state.queue.length })
  }
  const isSteering = placement === 'current_turn'
  return {
    kind: 'accept',
    events: [
      event('queue_entry_added', {
        entryId: messageId,
        messageId,
        content,
        placement,
        submittedBy,
        originHostEpoch,
      }),
    ],
    result: next => ({ disposition: isSteering ? 'steering' : 'followup', queueRevision: next.queueRevision }),
    effects: isSteering ? [{ kind: 'wake_steering' }] : [],
  }
}

/** A content's share of the queue's bound. Unit: bytes of JSON. Source: Q4. */
export function contentBytes(content: QueueEntry['content']): number {
  const known = CONTENT_BYTES.get(content)
  if (known !== undefined) return known
  const bytes = utf8Bytes(JSON.stringify(content))
  CONTENT_BYTES.set(content, bytes)
  return bytes
}

/** Contents never change, and each message submitted is weighed against all that wait. */
const CONTENT_BYTES = new WeakMap<QueueEntry['content'], number>()

/** Source: T8, Q9. */
export function decideStop(state: SessionState, input: Input<'turn.stop'>, context: DecideContext): Decision {
  const target = stopTarget(state, input, context)
  if (target !== 'active' && target !== 'ended') return target
  const { turnId, runId } = input
  const turn = { turnId, as: 'self' as const }
  if (target === 'ended') return { kind: 'accept', events: [], result: () => ({}), turn }
  const closing = closeInteractions(state, 'turn_stopped', context)
  return {
    kind: 'accept',
    events: [...parkAll(state, 'turn_stopped'), ...closing.events],
    result: () => ({}),
    turn,
    when: { turnEnded: turnId },
    effects: [...closing.effects, { kind: 'stop_run', turnId, runId, abortSource: 'user_stop' }],
  }
}

/** Source: Q8. */
export function decideInterrupt(state: SessionState, input: Input<'turn.interrupt'>, context: DecideContext): Decision {
  const target = stopTarget(state, input, context)
  if (target !== 'active' && target !== 'ended') return target
  const { turnId, runId } = input
  const turn = { turnId, as: 'turn' as const }
  if (target === 'ended') {
    return { kind: 'accept', events: [], result: next => ({ queueRevision: next.queueRevision, retracted: [] }), turn }
  }
  const retracted = retractable(state)
  const closing = closeInteractions(state, 'turn_stopped', context)
  return {
    kind: 'accept',
    events: [...retractEvents(retracted), ...closing.events],
    result: next => ({ queueRevision: next.queueRevision, retracted }),
    turn,
    when: { turnEnded: turnId },
    effects: [...closing.effects, { kind: 'stop_run', turnId, runId, abortSource: 'user_stop' }],
  }
}

/** Whether the turn a stop names runs or has ended, or why the stop is refused. */
function stopTarget(
  state: SessionState,
  input: { readonly turnId: string; readonly runId: string },
  context: DecideContext,
): 'active' | 'ended' | Refusal {
  if ((state.header as SessionHeader).isArchived) return refuse('session_archived')
  const admission = admissionOf(state, input.turnId, context)
  if (admission === undefined) return refuse('not_found', 'there is no such turn')
  const { runId } = admission
  if (runId !== input.runId) return refuse('operation_conflict', 'the turn has another run', { runId })
  const { root } = state
  return root?.admission === admission && !isTerminal(root.snapshot.status) ? 'active' : 'ended'
}

/** Entries a retract withdraws: all that are not in flight. */
export function retractable(state: SessionState): QueueEntry[] {
  return state.queue.filter(r => r.entry.state !== 'in_flight').map(r => r.entry)
}

/** The fact that these entries were taken back; none for none. Source: Q8. */
export function retractEvents(entries: readonly QueueEntry[]): DomainEvent[] {
  return entries.length === 0 ? [] : [event('queue_retracted', { entryIds: entries.map(e => e.entryId) })]
}

/** Parks every entry that is neither parked nor in flight; what is in flight follows when its lease ends. Source: Q9. */
export function parkAll(
  state: SessionState,
  reason: 'turn_stopped' | 'leader_stopped' | 'leader_restarted',
): DomainEvent[] {
  const entryIds = state.queue.filter(r => r.entry.state === 'queued').map(r => r.entry.entryId)
  return entryIds.length === 0 ? [] : [event('queue_entries_parked', { entryIds, reason })]
}

/** Closes all pending interactions; the transcript gains entries, so open blocks are sealed first. Source: I5, I6. */
export function closeInteractions(
  state: SessionState,
  reason: 'turn_stopped' | 'turn_terminal' | 'host_restarted',
  context: Pick<DecideContext, 'openBlocks' | 'at'>,
): { readonly events: DomainEvent[]; readonly effects: Effect[] } {
  if (state.interactions.length === 0) return { events: [], effects: [] }
  const events = sealBlocks(context)
  const effects: Effect[] = []
  for (const { snapshot } of state.interactions) {
    const { turnId, runId, interactionId } = snapshot
    events.push(event('interaction_closed', { turnId, runId, interactionId, reason }))
    effects.push({ kind: 'settle', interactionId, outcome: { kind: 'closure', reason, at: context.at } })
  }
  return { events, effects }
}
