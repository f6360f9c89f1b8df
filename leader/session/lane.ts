/**
 * A session's FIFO. Items decide in it, one after the other and without waiting; what an item has to look up first is fetched while it
 * waits for its turn. Source: S8.
 */
export class Lane {
  readonly #items: LaneItem[] = []
  #isDraining = false
  #pause: { readonly until: Promise<void>; readonly resume: () => void } | null = null

  /** Items that have not decided yet. */
  get length(): number {
    return this.#items.length
  }

  /** Adds an item whose look-ups are on their way. `decide` gets them when it is its turn. */
  push<T>(lookups: Promise<T>, decide: (lookups: T) => void): void {
    // A failed look-up is the item's own business: it surfaces in `decide` through a rejected promise made visible here.
    lookups.catch(() => {})
    this.#items.push({ lookups, decide: decide as (lookups: unknown) => void })
    if (!this.#isDraining) void this.#drain()
  }

  /** Adds an item that needs no look-up; it decides at once when nothing is before it. */
  run(decide: () => void): void {
    this.#items.push({ lookups: null, decide })
    if (!this.#isDraining) void this.#drain()
  }

  /** Nothing decides until `resume`. */
  pause(): void {
    if (this.#pause !== null) return
    let resume: () => void = () => {}
    const until = new Promise<void>(resolve => {
      resume = resolve
    })
    this.#pause = { until, resume }
  }

  resume(): void {
    const pause = this.#pause
    this.#pause = null
    pause?.resume()
  }

  async #drain(): Promise<void> {
    this.#isDraining = true
    while (this.#items.length > 0) {
      if (this.#pause !== null) {
        await this.#pause.until
        continue
      }
      const item = this.#items[0] as LaneItem
      let found: unknown
      if (item.lookups !== null) {
        found = await item.lookups.catch(error => new LookupFailure(error))
        if (this.#pause !== null) continue
      }
      this.#items.shift()
      item.decide(found)
    }
    this.#isDraining = false
  }
}

interface LaneItem {
  readonly lookups: Promise<unknown> | null
  readonly decide: (lookups: unknown) => void
}

/** Given to `decide` in place of look-ups that failed. */
export class LookupFailure {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}
