import * as z from 'zod/mini'
import { Content } from './content.ts'
import { ClientActor, Count, EntityId, Instant } from './primitives.ts'
import { Placement } from './turn.ts'

/** Where an entry stands: it waits, a run has it on lease, or it is kept without running by itself. Source: Q5, Q9. */
export const EntryState = z.enum(['queued', 'in_flight', 'parked'])
/** Why entries were parked. Source: Q9. */
export const ParkReason = z.enum(['turn_stopped', 'leader_stopped', 'leader_restarted'])
export type ParkReason = z.infer<typeof ParkReason>

/** A message that waits: steering for the running turn, or a follow-up for a later one. Source: section Q of SPEC.md. */
export const QueueEntry = z.strictObject({
  entryId: EntityId,
  messageId: EntityId,
  content: Content,
  placement: Placement,
  state: EntryState,
  submittedBy: ClientActor,
  heldBy: z.optional(ClientActor),
  revision: Count,
})
export type QueueEntry = z.infer<typeof QueueEntry>

/** The queue as replicas see it; `parked` is reason and time of the oldest parked entry. */
export const QueueProjection = z.strictObject({
  hostEpoch: z.string(),
  queueRevision: Count,
  steering: z.array(QueueEntry),
  followup: z.array(QueueEntry),
  parked: z.nullable(z.strictObject({ reason: ParkReason, since: Instant })),
})
export type QueueProjection = z.infer<typeof QueueProjection>
