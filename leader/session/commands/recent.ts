import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { Admission } from '../../../schema/entities/turn.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { settledSnapshot } from '../../domain/evolve/interaction.ts'
import type { SessionState } from '../../domain/state.ts'
import type { StoredReceipt } from '../receipts.ts'
import type { EntryRow } from '../rows.ts'

/**
 * What decisions of the last moments stored: a look-up that was made before they were durable does not see it on disk.
 * Cleared when nothing waits or is in flight; bounded by the lane's length. Source: A5, Q6, I4.
 */
export class RecentFacts {
  readonly receipts = new Map<string, StoredReceipt>()
  readonly entryFates = new Map<string, EntryRow['fate']>()
  readonly settled = new Map<string, InteractionSnapshot>()
  /** Turns that were admitted. */
  readonly admissions = new Map<string, Admission>()

  /** Notes what a transition settled. */
  note(previous: SessionState, events: readonly DomainEvent[], at: number): void {
    for (const event of events) {
      switch (event.type) {
        case 'turn_admitted':
          this.admissions.set(event.payload.admission.turnId, event.payload.admission)
          break
        case 'steering_delivered':
          this.entryFates.set(event.payload.entryId, 'delivered')
          break
        case 'queue_handed_on':
          for (const id of event.payload.entryIds) this.entryFates.set(id, 'delivered')
          break
        case 'queue_entry_removed':
          this.entryFates.set(event.payload.entryId, 'removed')
          break
        case 'queue_retracted':
          for (const id of event.payload.entryIds) this.entryFates.set(id, 'removed')
          break
        case 'interaction_answered':
          this.#settle(previous, event.payload.interactionId, event.payload.outcome)
          break
        case 'interaction_closed': {
          const { interactionId, reason } = event.payload
          this.#settle(previous, interactionId, { kind: 'closure', reason, at })
          break
        }
        default:
      }
    }
  }

  /** Forgets everything: it is all on disk, or it was lost. */
  clear(): void {
    this.receipts.clear()
    this.entryFates.clear()
    this.settled.clear()
    this.admissions.clear()
  }

  /** True when it has grown so far that the lane must come to rest first. */
  get isFull(): boolean {
    return this.receipts.size >= LIMITS.laneItems
  }

  #settle(previous: SessionState, interactionId: string, outcome: NonNullable<InteractionSnapshot['outcome']>): void {
    const pending = previous.interactions.find(r => r.snapshot.interactionId === interactionId)?.snapshot
    if (pending !== undefined) this.settled.set(interactionId, settledSnapshot(pending, outcome))
  }
}
