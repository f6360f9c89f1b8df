/**
 * A place for a running turn: waited for, held or left. Whatever becomes of its turn, it is left once; more often does no harm. Source: E9.
 */
export interface RunPlace {
  /** True while others hold all places. */
  readonly isWaiting: boolean
  leave(): void
}

/** The place of a child's turn: the one that its parent holds, who waits for it. Source: E9, T13. */
export const PARENTS_PLACE: RunPlace = { isWaiting: false, leave() {} }

/** The places for running turns of a root. A turn that finds none waits in order, visibly `admitted`. Source: E9. */
export class RunSlots {
  readonly #size: number
  #taken = 0
  readonly #waiting = new Set<Place>()

  constructor(size: number) {
    this.#size = size
  }

  /** Turns that hold a place. */
  get taken(): number {
    return this.#taken
  }

  /** Turns that wait for one. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Calls `start` at once if a place is free, else when one becomes free, unless it was left before. */
  take(start: (place: RunPlace) => void): RunPlace {
    const place = new Place(start, () => this.#leave(place))
    this.#waiting.add(place)
    this.#fill()
    return place
  }

  #leave(place: Place): void {
    if (this.#waiting.delete(place)) return
    this.#taken -= 1
    this.#fill()
  }

  #fill(): void {
    for (const place of this.#waiting) {
      if (this.#taken >= this.#size) return
      this.#waiting.delete(place)
      this.#taken += 1
      place.begin()
    }
  }
}

class Place implements RunPlace {
  readonly #start: (place: RunPlace) => void
  readonly #onLeave: () => void
  #standing: 'waiting' | 'held' | 'left' = 'waiting'

  constructor(start: (place: RunPlace) => void, onLeave: () => void) {
    this.#start = start
    this.#onLeave = onLeave
  }

  get isWaiting(): boolean {
    return this.#standing === 'waiting'
  }

  begin(): void {
    this.#standing = 'held'
    this.#start(this)
  }

  leave(): void {
    if (this.#standing === 'left') return
    this.#standing = 'left'
    this.#onLeave()
  }
}
