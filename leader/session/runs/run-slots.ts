/**
 * The places for running turns of a root. A turn that finds none waits in order, visibly `admitted`. Source: E9.
 */
export class RunSlots {
  readonly #size: number
  #taken = 0
  readonly #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#size = size
  }

  /** Turns that hold a place. */
  get taken(): number {
    return this.#taken
  }

  /** Calls `start` at once if a place is free (gives true), else when one becomes free. Every start is followed by one `release`. */
  take(start: () => void): boolean {
    if (this.#taken >= this.#size) {
      this.#waiting.push(start)
      return false
    }
    this.#taken += 1
    start()
    return true
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#taken -= 1
    else next()
  }
}
