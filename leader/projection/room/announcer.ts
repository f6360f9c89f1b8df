import { LIMITS } from '../../../schema/limits.ts'
import { encodeLeaderAwareness, type LeaderAwareness } from '../../../schema/wire/sync.ts'
import type { ProjectionClock } from '../clock.ts'
import { randomWriterId } from '../document/writer.ts'
import type { RoomFacts } from '../room-document.ts'
import type { Roster } from './roster.ts'

/** How often presence is told. Units: ms. */
export interface AnnouncerTiming {
  readonly intervalMs: number
  readonly renewMs: number
}

/** Once a second after changes, every 20 s without. */
export const ANNOUNCER_TIMING: AnnouncerTiming = {
  intervalMs: LIMITS.presenceIntervalMs,
  renewMs: LIMITS.presenceRenewMs,
}

/**
 * Makes the leader's awareness messages of one room and says when everybody is due for one: after a change, at most once a second, and
 * every 20 s in any case, because an awareness that is not renewed runs out at a replica after 30 s. Source: section V, V1, V4.
 */
export class Announcer {
  readonly #clock: ProjectionClock
  readonly #timing: AnnouncerTiming
  readonly #roster: Roster
  readonly #facts: () => RoomFacts
  readonly #announce: (isRenewal: boolean) => boolean
  readonly #clientId = randomWriterId()
  #awarenessClock = 0
  #toldAt = Number.NEGATIVE_INFINITY
  #renewedAt = 0
  #isChanged = false
  #cancel: (() => void) | null = null

  constructor(options: {
    readonly clock: ProjectionClock
    readonly timing: AnnouncerTiming
    readonly roster: Roster
    readonly facts: () => RoomFacts
    /** Sends to those who are due; true if there were any. */
    readonly announce: (isRenewal: boolean) => boolean
  }) {
    this.#clock = options.clock
    this.#timing = options.timing
    this.#roster = options.roster
    this.#facts = options.facts
    this.#announce = options.announce
  }

  /** The message of this moment; newer than every one before it. */
  message(): Uint8Array {
    const { hostEpoch, baseRevision, generation, wentBack, isDamaged } = this.#facts()
    const state: LeaderAwareness = {
      hostEpoch,
      baseRevision,
      generation,
      presence: this.#roster.rows,
      presenceCount: this.#roster.count,
      at: this.#clock.now(),
      ...(wentBack === true ? { wentBack } : {}),
      ...(isDamaged === true ? { isDamaged } : {}),
    }
    this.#awarenessClock += 1
    return encodeLeaderAwareness(this.#clientId, this.#awarenessClock, state)
  }

  /** Starts renewing; called when somebody is there. */
  start(): void {
    if (this.#cancel !== null) return
    this.#renewedAt = this.#clock.monotonicMs()
    this.#schedule()
  }

  /** Everybody is due for a message: now, or as soon as the last one is a second old. */
  change(): void {
    this.#isChanged = true
    if (this.#cancel === null) return
    this.#cancel()
    this.#schedule()
  }

  /** Nobody is there: nothing stays scheduled. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#isChanged = false
  }

  #schedule(): void {
    const now = this.#clock.monotonicMs()
    const renewAt = this.#renewedAt + this.#timing.renewMs
    const dueAt = this.#isChanged ? Math.min(renewAt, this.#toldAt + this.#timing.intervalMs) : renewAt
    this.#cancel = this.#clock.schedule(Math.max(0, dueAt - now), () => this.#tell())
  }

  #tell(): void {
    const now = this.#clock.monotonicMs()
    const isRenewal = now - this.#renewedAt >= this.#timing.renewMs
    if (isRenewal) this.#renewedAt = now
    this.#isChanged = false
    if (this.#announce(isRenewal)) this.#toldAt = now
    if (this.#cancel !== null) this.#schedule()
  }
}
