import { normalizeContent } from '../../../schema/canonical.ts'
import type { Input } from '../../../schema/commands/index.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import {
  type Acceptance,
  type DecideContext,
  type Decision,
  type Effect,
  event,
  type Refusal,
  refuse,
} from '../decision.ts'
import { activeTurn, type SessionState } from '../state.ts'
import { contentBytes, retractable, retractEvents } from './turn.ts'

type EntryInput = { readonly entryId: string; readonly expectedEntryRevision: number }

/** The entry a command names, or why this client cannot change it. Source: Q6. */
export function findEntry(state: SessionState, input: EntryInput, context: DecideContext): QueueEntry | Refusal {
  const entry = findAnyEntry(state, input, context)
  if ('kind' in entry) return entry
  const { heldBy } = entry
  if (heldBy === undefined || heldBy.clientInstanceId === context.actor?.clientInstanceId) return entry
  return refuse('operation_conflict', `the entry is being edited by ${heldBy.surface}`, { entry, heldBy })
}

/** The entry a command names, whoever holds it, or why it cannot be changed. */
function findAnyEntry(state: SessionState, input: EntryInput, context: DecideContext): QueueEntry | Refusal {
  if ((state.header as SessionHeader).isArchived) return refuse('session_archived')
  const entry = state.queue.find(r => r.entry.entryId === input.entryId)?.entry
  if (entry === undefined) {
    return context.entryFate === 'delivered'
      ? refuse('already_delivered')
      : refuse('not_found', 'there is no such entry')
  }
  if (entry.state === 'in_flight') return refuse('already_delivered', 'the run is taking this entry')
  if (entry.revision !== input.expectedEntryRevision) {
    return refuse('operation_conflict', 'the entry has changed', { entry })
  }
  return entry
}

/** The reply to a change of one entry that stays in the queue. */
function changed(entryId: string, events: readonly DomainEvent[], isSteering = false): Acceptance {
  return {
    kind: 'accept',
    events,
    result: next => ({
      queueRevision: next.queueRevision,
      entry: next.queue.find(r => r.entry.entryId === entryId)?.entry,
    }),
    effects: isSteering ? [{ kind: 'wake_steering' }] : [],
  }
}

/** What may go on when an entry is not held any more: on an idle session the hand-off, else the run's steering. Source: Q6. */
export function afterHold(state: SessionState, entry: QueueEntry): Effect[] {
  if (activeTurn(state) === null) return [{ kind: 'hand_on' }]
  return entry.placement === 'current_turn' && entry.state === 'queued' ? [{ kind: 'wake_steering' }] : []
}

/** Puts other content into an entry that waits; the queue must still fit. It ends the hold under which it was written. Source: Q4, Q6. */
export function decideEdit(state: SessionState, input: Input<'queue.edit'>, context: DecideContext): Decision {
  const entry = findEntry(state, input, context)
  if ('kind' in entry) return entry
  const content = normalizeContent(input.content)
  const others = state.queue.filter(r => r.entry.entryId !== input.entryId)
  const bytes = others.reduce((sum, r) => sum + contentBytes(r.entry.content), contentBytes(content))
  if (bytes > LIMITS.queueBytes) return refuse('queue_full', 'the edited entry does not fit the queue')
  const edited = event('queue_entry_edited', { entryId: input.entryId, content })
  if (entry.heldBy === undefined) return changed(input.entryId, [edited])
  const released = event('queue_entry_released', { entryId: input.entryId })
  return { ...changed(input.entryId, [edited, released]), effects: afterHold(state, entry) }
}

/** Takes one entry out, also while somebody edits it. Source: Q6. */
export function decideRemove(state: SessionState, input: Input<'queue.remove'>, context: DecideContext): Decision {
  const entry = findAnyEntry(state, input, context)
  if ('kind' in entry) return entry
  return {
    kind: 'accept',
    events: [event('queue_entry_removed', { entryId: input.entryId })],
    result: next => ({ queueRevision: next.queueRevision, entry }),
  }
}

/** Moves an entry before or after another of its placement. Source: Q6. */
export function decideMove(state: SessionState, input: Input<'queue.move'>, context: DecideContext): Decision {
  const entry = findEntry(state, input, context)
  if ('kind' in entry) return entry
  const anchorId = 'before' in input ? input.before : input.after
  const anchor = state.queue.find(r => r.entry.entryId === anchorId)?.entry
  if (anchor === undefined) return refuse('not_found', 'there is no entry to move it to', { entryId: anchorId })
  if (anchorId === input.entryId || anchor.placement !== entry.placement) {
    return refuse('operation_conflict', 'an entry moves among the others of its placement', { entry, anchor })
  }
  const place = 'before' in input ? { before: anchorId } : { after: anchorId }
  return changed(input.entryId, [event('queue_entry_moved', { entryId: input.entryId, ...place })])
}

/** Turns a follow-up into steering; steering stays what it is. Source: Q6. */
export function decidePromote(state: SessionState, input: Input<'queue.promote'>, context: DecideContext): Decision {
  const entry = findEntry(state, input, context)
  if ('kind' in entry) return entry
  if (entry.placement === 'current_turn') return changed(input.entryId, [])
  return changed(input.entryId, [event('queue_entry_promoted', { entryId: input.entryId })], entry.state === 'queued')
}

/** Source: Q8. */
export function decideRetract(state: SessionState): Decision {
  if ((state.header as SessionHeader).isArchived) return refuse('session_archived')
  const retracted = retractable(state)
  return {
    kind: 'accept',
    events: retractEvents(retracted),
    result: next => ({ queueRevision: next.queueRevision, retracted }),
  }
}

/** Un-parks all, in order; on an idle session they run at once. Source: Q9. */
export function decideResume(state: SessionState): Decision {
  if ((state.header as SessionHeader).isArchived) return refuse('session_archived')
  const entryIds = state.queue.filter(r => r.entry.state === 'parked').map(r => r.entry.entryId)
  const hasSteering = state.queue.some(r => r.entry.state === 'parked' && r.entry.placement === 'current_turn')
  return {
    kind: 'accept',
    events: entryIds.length === 0 ? [] : [event('queue_resumed', { entryIds })],
    result: next => ({ queueRevision: next.queueRevision }),
    effects: activeTurn(state) === null ? [{ kind: 'hand_on' }] : hasSteering ? [{ kind: 'wake_steering' }] : [],
  }
}
