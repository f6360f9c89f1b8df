import type { ElapsedClock } from '../../leader/execution/clock.ts'

interface Timer {
  readonly dueMs: number
  readonly ordinal: number
  readonly callback: () => void
}

/** A clock that stands still until it is told to go on. */
export class FakeClock implements ElapsedClock {
  readonly #timers = new Set<Timer>()
  #nowMs = 0
  #ordinal = 0

  nowMs(): number {
    return this.#nowMs
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, ordinal: this.#ordinal++, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get timers(): number {
    return this.#timers.size
  }

  /** Lets time pass; what is due runs in order, and what that starts gets its turn before time goes on. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs
    await settle()
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.dueMs - b.dueMs || a.ordinal - b.ordinal)[0]
      if (next === undefined || next.dueMs > untilMs) break
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      this.#timers.delete(next)
      next.callback()
      await settle()
    }
    this.#nowMs = untilMs
  }
}

/** Resolves when everything that needs neither time nor I/O has run. */
export function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
