import type { ProjectionClock } from '../../leader/projection/clock.ts'

/** A clock that stands still until it is told to go on; what is due runs in order, within the call. */
export class VirtualClock implements ProjectionClock {
  readonly #timers = new Set<{ readonly atMs: number; readonly task: () => void }>()
  readonly #wallStart: number
  #elapsedMs = 0

  constructor(wallStart = 1_764_540_000_000) {
    this.#wallStart = wallStart
  }

  now(): number {
    return this.#wallStart + this.#elapsedMs
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  schedule(delayMs: number, task: () => void): () => void {
    const timer = { atMs: this.#elapsedMs + delayMs, task }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Number of timers that wait. */
  get scheduled(): number {
    return this.#timers.size
  }

  advance(byMs: number): void {
    const untilMs = this.#elapsedMs + byMs
    for (;;) {
      let next: { readonly atMs: number; readonly task: () => void } | undefined
      for (const timer of this.#timers) if (next === undefined || timer.atMs < next.atMs) next = timer
      if (next === undefined || next.atMs > untilMs) break
      this.#timers.delete(next)
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs)
      next.task()
    }
    this.#elapsedMs = untilMs
  }
}
