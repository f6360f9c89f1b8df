import type { Readable } from '../types.ts'

/** Runs something once, soon: in a microtask, at the next frame, or after some ms. */
export type Schedule = (run: () => void) => void

/** Tells listeners of all that changed in one go, as often as the schedule allows. */
export class Grouping {
  readonly #schedule: Schedule
  readonly #changed = new Set<() => void>()

  constructor(schedule: Schedule) {
    this.#schedule = schedule
  }

  /** `tell` is called at the next turn of the schedule, once however often it is asked for. */
  ask(tell: () => void): void {
    this.#changed.add(tell)
    if (this.#changed.size === 1) this.#schedule(() => this.#flush())
  }

  #flush(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const tell of changed) tell()
  }
}

/** Called when the first reader comes and when the last one has gone. */
export interface CellLife {
  begin(): void
  end(): void
}

/** A value that changes. The newest one is read at any time; listeners are told of it grouped. */
export class Cell<T> implements Readable<T> {
  readonly #grouping: Grouping
  readonly #life: CellLife | undefined
  readonly #listeners = new Map<object, () => void>()
  #value: T
  #told: T

  constructor(value: T, grouping: Grouping, life?: CellLife) {
    this.#value = value
    this.#told = value
    this.#grouping = grouping
    this.#life = life
  }

  get isRead(): boolean {
    return this.#listeners.size > 0
  }

  /** A stable function, so that hooks may hand it on. */
  readonly getSnapshot = (): T => this.#value

  readonly subscribe = (listener: () => void): (() => void) => {
    const key = {}
    this.#listeners.set(key, listener)
    if (this.#listeners.size === 1) this.#life?.begin()
    return () => {
      if (this.#listeners.delete(key) && this.#listeners.size === 0) this.#life?.end()
    }
  }

  /** The same value as before tells nobody. */
  set(value: T): void {
    if (value === this.#value) return
    this.#value = value
    this.#grouping.ask(this.#tell)
  }

  readonly #tell = (): void => {
    if (this.#value === this.#told) return
    this.#told = this.#value
    for (const listener of [...this.#listeners.values()]) listener()
  }
}
