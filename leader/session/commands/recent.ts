import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { PlanExecution } from '../../../schema/entities/plan.ts'
import type { Admission } from '../../../schema/entities/turn.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { settledSnapshot } from '../../domain/evolve/interaction.ts'
import type { SessionState } from '../../domain/state.ts'
import type { StoredReceipt } from '../receipts.ts'
import { leftExecutions } from '../rows/plan-rows.ts'
import { type EntryRow, entryFates } from '../rows.ts'

class Facts {
  readonly receipts = new Map<string, StoredReceipt>()
  readonly entryFates = new Map<string, EntryRow['fate']>()
  readonly settled = new Map<string, InteractionSnapshot>()
  /** Turns that were admitted. */
  readonly admissions = new Map<string, Admission>()
  /** Executions that the state holds no more. */
  readonly executions = new Map<string, PlanExecution>()

  get size(): number {
    const { receipts, entryFates, settled, admissions, executions } = this
    return receipts.size + entryFates.size + settled.size + admissions.size + executions.size
  }
}

type OutcomeOf = NonNullable<InteractionSnapshot['outcome']>

/**
 * What decisions of the last moments stored: a look-up that was made before they were durable does not see it on disk.
 * Kept in two generations, so that a session that never comes to rest can forget too. Source: A5, Q6, I4, P7.
 */
export class RecentFacts {
  #young = new Facts()
  #old = new Facts()

  receipt(scope: string, id: string): StoredReceipt | undefined {
    const key = receiptKey(scope, id)
    return this.#young.receipts.get(key) ?? this.#old.receipts.get(key)
  }

  entryFate(entryId: string): EntryRow['fate'] | undefined {
    return this.#young.entryFates.get(entryId) ?? this.#old.entryFates.get(entryId)
  }

  settled(interactionId: string): InteractionSnapshot | undefined {
    return this.#young.settled.get(interactionId) ?? this.#old.settled.get(interactionId)
  }

  admission(turnId: string): Admission | undefined {
    return this.#young.admissions.get(turnId) ?? this.#old.admissions.get(turnId)
  }

  execution(executionId: string): PlanExecution | undefined {
    return this.#young.executions.get(executionId) ?? this.#old.executions.get(executionId)
  }

  /** Facts that are kept. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** True when there are so many new facts that the old ones should go. */
  get isFull(): boolean {
    return this.#young.size >= LIMITS.recentFacts
  }

  noteReceipt(scope: string, id: string, receipt: StoredReceipt): void {
    this.#young.receipts.set(receiptKey(scope, id), receipt)
  }

  /** Notes what a transition settled. */
  note(previous: SessionState, events: readonly DomainEvent[], at: number): void {
    const { admissions, entryFates: fates } = this.#young
    for (const [id, fate] of entryFates(events)) fates.set(id, fate)
    for (const execution of leftExecutions(previous, events))
      this.#young.executions.set(execution.executionId, execution)
    for (const event of events) {
      switch (event.type) {
        case 'turn_admitted':
          admissions.set(event.payload.admission.turnId, event.payload.admission)
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

  /**
   * Forgets the old facts; the new ones become old. Allowed when every look-up has been used that was made before the old facts were
   * durable.
   */
  turn(): void {
    this.#old = this.#young
    this.#young = new Facts()
  }

  /** Forgets everything: it is all on disk and nothing waits, or it was lost. */
  clear(): void {
    if (this.size === 0) return
    this.#young = new Facts()
    this.#old = new Facts()
  }

  #settle(previous: SessionState, interactionId: string, outcome: OutcomeOf): void {
    const pending = previous.interactions.find(r => r.snapshot.interactionId === interactionId)?.snapshot
    if (pending !== undefined) this.#young.settled.set(interactionId, settledSnapshot(pending, outcome))
  }
}

function receiptKey(scope: string, id: string): string {
  return `${scope}\n${id}`
}
