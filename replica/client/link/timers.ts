import type { Clock } from '../ports.ts'

/** Named timers; arming one again replaces it. */
export class Timers<Name extends string> {
  readonly #clock: Clock
  readonly #cancels = new Map<Name, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  arm(name: Name, afterMs: number, run: () => void): void {
    this.disarm(name)
    const cancel = this.#clock.after(afterMs, () => {
      this.#cancels.delete(name)
      run()
    })
    this.#cancels.set(name, cancel)
  }

  disarm(name: Name): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  disarmAll(): void {
    for (const cancel of this.#cancels.values()) cancel()
    this.#cancels.clear()
  }
}
