/**
 * A session's FIFO. Items decide in it, one after the other and without waiting; what an item has to look up first is fetched while it
 * waits for its turn. An item that throws fails alone: the lane goes on. Source: S8.
 */
export class Lane {
  readonly #items: LaneItem[] = []
  #isDraining = false
  #pauses = 0

  /** Items that have not decided yet. */
  get length(): number {
    return this.#items.length
  }

  /** True while nothing decides. */
  get isPaused(): boolean {
    return this.#pauses > 0
  }

  /** Adds an item whose look-ups are on their way. `decide` gets them when it is its turn; `failed` is told what it threw. */
  push<T>(lookups: Promise<T>, decide: (lookups: T | LookupFailure) => void, failed: (error: unknown) => void): void {
    const item: LaneItem = { isReady: false, found: undefined, decide: decide as (found: unknown) => void, failed }
    this.#items.push(item)
    const ready = (found: unknown): void => {
      item.isReady = true
      item.found = found
      this.#drain()
    }
    lookups.then(ready, error => ready(new LookupFailure(error)))
  }

  /** Adds an item that needs no look-up; it decides at once when nothing is before it. */
  run(decide: () => void, failed: (error: unknown) => void): void {
    this.#items.push({ isReady: true, found: undefined, decide, failed })
    this.#drain()
  }

  /** Nothing decides until there was a `resume` for every `pause`. */
  pause(): void {
    this.#pauses += 1
  }

  resume(): void {
    if (this.#pauses === 0) throw new Error('the lane is not paused')
    this.#pauses -= 1
    this.#drain()
  }

  #drain(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    while (this.#pauses === 0 && this.#items[0]?.isReady === true) {
      const item = this.#items.shift() as LaneItem
      try {
        item.decide(item.found)
      } catch (error) {
        item.failed(error)
      }
    }
    this.#isDraining = false
  }
}

interface LaneItem {
  isReady: boolean
  found: unknown
  readonly decide: (found: unknown) => void
  /** Must not throw. */
  readonly failed: (error: unknown) => void
}

/** Given to `decide` in place of look-ups that failed. */
export class LookupFailure {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}
