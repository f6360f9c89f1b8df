import type { ClientActor } from '../../../schema/entities/primitives.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import type { DomainEvent, EventPayloads } from '../../../schema/events.ts'
import type { QueueRecord } from '../../../schema/projection/layout.ts'
import type { SessionState } from '../state.ts'
import type { TransitionMeta } from './meta.ts'

/** Facts about waiting messages. The list is kept in order of delivery. Source: section Q. */
export function evolveQueue(state: SessionState, event: DomainEvent, meta: TransitionMeta): SessionState {
  const queue = nextQueue(state.queue, event, meta)
  return queue === state.queue ? state : { ...state, queue }
}

function nextQueue(queue: readonly QueueRecord[], event: DomainEvent, meta: TransitionMeta): readonly QueueRecord[] {
  switch (event.type) {
    case 'queue_entry_added':
      return [...queue, addedRecord(queue, event.payload)]
    case 'queue_entry_edited':
      return change(queue, [event.payload.entryId], { content: event.payload.content })
    case 'queue_entry_held':
      return hold(queue, event.payload.entryId, event.payload.by)
    case 'queue_entry_released':
      return hold(queue, event.payload.entryId, undefined)
    case 'queue_entry_promoted':
      return promote(queue, event.payload.entryId)
    case 'queue_entry_moved':
      return move(queue, event.payload)
    case 'queue_entry_removed':
    case 'steering_delivered':
      return without(queue, [event.payload.entryId])
    case 'queue_retracted':
    case 'queue_handed_on':
      return without(queue, event.payload.entryIds)
    case 'queue_entries_pulled':
      return change(queue, event.payload.entryIds, { state: 'in_flight' })
    case 'queue_entries_returned':
      return returnToHead(queue, event.payload.entryIds)
    case 'queue_entries_parked':
      return change(
        queue,
        event.payload.entryIds,
        { state: 'parked' },
        { reason: event.payload.reason, since: meta.at },
      )
    case 'queue_resumed':
      return change(queue, event.payload.entryIds, { state: 'queued' })
    default:
      return queue
  }
}

function addedRecord(queue: readonly QueueRecord[], payload: EventPayloads['queue_entry_added']): QueueRecord {
  const { entryId, messageId, content, placement, submittedBy } = payload
  const entry: QueueEntry = { entryId, messageId, content, placement, state: 'queued', submittedBy, revision: 1 }
  return { entry, order: (queue.at(-1)?.order ?? 0) + 1 }
}

/** The named entries with these changes, each counted in the entry's revision; `parked` is set with the parked state and goes with it. */
function change(
  queue: readonly QueueRecord[],
  ids: readonly string[],
  patch: Partial<QueueEntry>,
  parked?: QueueRecord['parked'],
): readonly QueueRecord[] {
  if (!queue.some(record => ids.includes(record.entry.entryId))) return queue
  return queue.map(record => {
    if (!ids.includes(record.entry.entryId)) return record
    const entry = { ...record.entry, ...patch, revision: record.entry.revision + 1 }
    const mark = entry.state === 'parked' ? (parked ?? record.parked) : undefined
    return { entry, order: record.order, ...(mark === undefined ? {} : { parked: mark }) }
  })
}

/** Who holds an entry is no change of it: its revision stays. Source: Q6. */
function hold(queue: readonly QueueRecord[], entryId: string, by: ClientActor | undefined): readonly QueueRecord[] {
  if (!queue.some(record => record.entry.entryId === entryId)) return queue
  return queue.map(record => {
    if (record.entry.entryId !== entryId) return record
    const { heldBy: _, ...entry } = record.entry
    return { ...record, entry: by === undefined ? entry : { ...entry, heldBy: by } }
  })
}

function without(queue: readonly QueueRecord[], ids: readonly string[]): readonly QueueRecord[] {
  const rest = queue.filter(record => !ids.includes(record.entry.entryId))
  return rest.length === queue.length ? queue : rest
}

/** A promoted entry goes behind the steering that already waits: to the end of the list, as a later arrival. Source: Q6. */
function promote(queue: readonly QueueRecord[], entryId: string): readonly QueueRecord[] {
  const record = queue.find(r => r.entry.entryId === entryId)
  if (record === undefined) return queue
  const entry: QueueEntry = { ...record.entry, placement: 'current_turn', revision: record.entry.revision + 1 }
  const order = (queue.at(-1)?.order ?? 0) + 1
  return [...queue.filter(r => r !== record), { ...record, entry, order }]
}

function move(queue: readonly QueueRecord[], payload: EventPayloads['queue_entry_moved']): readonly QueueRecord[] {
  const record = queue.find(r => r.entry.entryId === payload.entryId)
  const rest = queue.filter(r => r !== record)
  const isBefore = 'before' in payload
  const anchor = rest.findIndex(r => r.entry.entryId === (isBefore ? payload.before : payload.after))
  if (record === undefined || anchor < 0) return queue
  const at = isBefore ? anchor : anchor + 1
  const moved = { ...record, entry: { ...record.entry, revision: record.entry.revision + 1 } }
  return reorder([...rest.slice(0, at), moved, ...rest.slice(at)], at)
}

/** Leased entries go back to the head, in their order. Source: Q5. */
function returnToHead(queue: readonly QueueRecord[], ids: readonly string[]): readonly QueueRecord[] {
  const returned = change(queue, ids, { state: 'queued' })
  if (returned === queue) return queue
  const back = returned.filter(r => ids.includes(r.entry.entryId))
  const rest = returned.filter(r => !ids.includes(r.entry.entryId))
  return back.concat(rest).map((record, i) => (record.order === i + 1 ? record : { ...record, order: i + 1 }))
}

/** The list with an `order` for the record at `at` that lies between its neighbours; all are numbered anew where no number is left. */
function reorder(records: readonly QueueRecord[], at: number): readonly QueueRecord[] {
  const previous = records[at - 1]?.order ?? (records[at + 1]?.order ?? 0) - 2
  const following = records[at + 1]?.order ?? previous + 2
  const order = (previous + following) / 2
  const hasRoom = order > previous && order < following
  if (hasRoom) return records.map((record, i) => (i === at ? { ...record, order } : record))
  return records.map((record, i) => ({ ...record, order: i + 1 }))
}
