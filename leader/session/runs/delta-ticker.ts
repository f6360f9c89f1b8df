import { LIMITS } from '../../../schema/limits.ts'
import type { ProjectionClock } from '../../projection/clock.ts'

/** A session with text to flush. `flushText` resolves when the text is durable (or lost); it must not reject. */
export interface Flushable {
  flushText(): Promise<void>
}

/**
 * The one tick per root on which streamed text of all runs is flushed: at least 33 ms apart, longer while the batch of the last tick
 * takes longer. Source: L4.
 */
export class DeltaTicker {
  readonly #clock: ProjectionClock
  #waiting = new Set<Flushable>()
  #isBusy = false
  #lastAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: ProjectionClock) {
    this.#clock = clock
  }

  /** Flushes this session on the next tick. */
  request(session: Flushable): void {
    this.#waiting.add(session)
    if (!this.#isBusy) this.#schedule()
  }

  #schedule(): void {
    this.#isBusy = true
    const sinceLast = this.#clock.monotonicMs() - this.#lastAtMs
    this.#clock.schedule(Math.max(0, LIMITS.deltaTickMs - sinceLast), () => void this.#tick())
  }

  async #tick(): Promise<void> {
    this.#lastAtMs = this.#clock.monotonicMs()
    const sessions = this.#waiting
    this.#waiting = new Set()
    // One session that cannot be flushed must not keep the others from being flushed.
    await Promise.allSettled([...sessions].map(session => session.flushText()))
    this.#isBusy = false
    if (this.#waiting.size > 0) this.#schedule()
  }
}
