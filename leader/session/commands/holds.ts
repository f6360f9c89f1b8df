import { LIMITS } from '../../../schema/limits.ts'
import type { QueueRecord } from '../../../schema/projection/layout.ts'
import type { ProjectionClock } from '../../projection/clock.ts'

/** Whether a client has a connection: `gone` if it had one in this epoch, `unknown` if it never did. */
export type ClientStanding = 'here' | 'gone' | 'unknown'

/** The clients of a leader, as far as holds depend on them. Source: Q6. */
export interface ClientPresence {
  standingOf(clientInstanceId: string): ClientStanding
  /** Calls back with each client that came, or whose last connection is gone; gives back how to stop. */
  onMove(listener: (clientInstanceId: string) => void): () => void
}

interface Hold {
  readonly clientInstanceId: string
  expiresAtMs: number
  goneAtMs: number | null
  cancel: () => void
}

/** What the holds of one session need. */
export interface HoldsOptions {
  readonly clock: ProjectionClock
  readonly presence: Pick<ClientPresence, 'standingOf'> | undefined
  /** The time of a hold is over. */
  readonly onEnd: (entryId: string, clientInstanceId: string) => void
}

/**
 * The time of a session's holds: each ends a while after it was last asked for, and sooner once its holder has gone. Bounded by the
 * queue. Source: Q6.
 */
export class Holds {
  readonly #options: HoldsOptions
  readonly #byEntry = new Map<string, Hold>()

  constructor(options: HoldsOptions) {
    this.#options = options
  }

  /** Entries whose time runs. */
  get size(): number {
    return this.#byEntry.size
  }

  /** Takes on what the durable queue shows: new holds begin, those that ended are forgotten. */
  show(queue: readonly QueueRecord[]): void {
    for (const [entryId, hold] of this.#byEntry) {
      const entry = queue.find(record => record.entry.entryId === entryId)?.entry
      if (entry?.heldBy?.clientInstanceId === hold.clientInstanceId) continue
      hold.cancel()
      this.#byEntry.delete(entryId)
    }
    for (const { entry } of queue) {
      if (entry.heldBy !== undefined && !this.#byEntry.has(entry.entryId)) {
        this.#begin(entry.entryId, entry.heldBy.clientInstanceId)
      }
    }
  }

  /** The holder asked again. */
  renew(entryId: string): void {
    const hold = this.#byEntry.get(entryId)
    if (hold !== undefined) this.#begin(entryId, hold.clientInstanceId)
  }

  /** A client came, or its last connection is gone. */
  clientMoved(clientInstanceId: string): void {
    for (const [entryId, hold] of this.#byEntry) {
      if (hold.clientInstanceId !== clientInstanceId) continue
      hold.goneAtMs = this.#goneAtMs(clientInstanceId, hold.goneAtMs)
      this.#arm(entryId, hold)
    }
  }

  #begin(entryId: string, clientInstanceId: string): void {
    const hold: Hold = {
      clientInstanceId,
      expiresAtMs: this.#options.clock.monotonicMs() + LIMITS.queueHoldMs,
      goneAtMs: this.#goneAtMs(clientInstanceId, null),
      cancel: () => {},
    }
    this.#byEntry.get(entryId)?.cancel()
    this.#byEntry.set(entryId, hold)
    this.#arm(entryId, hold)
  }

  #goneAtMs(clientInstanceId: string, known: number | null): number | null {
    const { presence, clock } = this.#options
    if (presence?.standingOf(clientInstanceId) !== 'gone') return null
    return known ?? clock.monotonicMs()
  }

  #arm(entryId: string, hold: Hold): void {
    const { clock, onEnd } = this.#options
    const gone = hold.goneAtMs === null ? Number.POSITIVE_INFINITY : hold.goneAtMs + LIMITS.queueHolderGoneMs
    const afterMs = Math.max(0, Math.min(hold.expiresAtMs, gone) - clock.monotonicMs())
    hold.cancel()
    hold.cancel = clock.schedule(afterMs, () => onEnd(entryId, hold.clientInstanceId))
  }
}
