import type { Input } from '../../../schema/commands/index.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { type DecideContext, type Decision, event } from '../decision.ts'
import type { SessionState } from '../state.ts'
import { afterHold, findEntry } from './queue.ts'

/**
 * Holds an entry while its holder edits it, or lets it go. Holding again is a renewal: no fact, but the time begins anew. The entry's own
 * revision stays, so that the edit can name it. Source: Q6.
 */
export function decideHold(state: SessionState, input: Input<'queue.hold'>, context: DecideContext): Decision {
  const entry = findEntry(state, input, context)
  if ('kind' in entry) return entry
  const { entryId } = entry
  const isHeld = entry.heldBy !== undefined
  const result = (next: SessionState): unknown => ({
    queueRevision: next.queueRevision,
    entry: next.queue.find(r => r.entry.entryId === entryId)?.entry,
  })
  if (input.release === true) {
    if (!isHeld) return { kind: 'accept', events: [], result }
    return {
      kind: 'accept',
      events: [event('queue_entry_released', { entryId })],
      result,
      effects: afterHold(state, entry),
    }
  }
  if (isHeld) return { kind: 'accept', events: [], result, effects: [{ kind: 'renew_hold', entryId }] }
  const by = context.actor
  return { kind: 'accept', events: by === null ? [] : [event('queue_entry_held', { entryId, by })], result }
}

/** Ends a hold whose time is over, if it is still that client's. Source: Q6. */
export function decideHoldEnd(state: SessionState, entryId: string, clientInstanceId: string): Decision {
  const entry = state.queue.find(r => r.entry.entryId === entryId)?.entry
  const isTheirs = entry?.heldBy?.clientInstanceId === clientInstanceId
  if (entry === undefined || !isTheirs) return { kind: 'accept', events: [], result: () => null }
  const events = [event('queue_entry_released', { entryId })]
  return { kind: 'accept', events, result: () => null, effects: afterHold(state, entry) }
}

/** Ends every hold: nobody edits across a restart. Source: Q6, X14. */
export function releaseAll(state: SessionState): DomainEvent[] {
  const held = state.queue.filter(r => r.entry.heldBy !== undefined)
  return held.map(({ entry: { entryId } }) => event('queue_entry_released', { entryId }))
}
