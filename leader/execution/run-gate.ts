import { setMaxListeners } from 'node:events'
import { LIMITS } from '../../schema/limits.ts'

/** The reason of a stopped run's signal. Source: T9. */
export class RunStopped extends Error {
  readonly abortSource: string

  constructor(abortSource: string) {
    super(`the run was stopped (${abortSource})`)
    this.name = 'RunStopped'
    this.abortSource = abortSource
  }
}

/** Why a backend's call after its run's end has no effect. Source: T9. */
export class RunClosed extends Error {
  constructor() {
    super('the run is over')
    this.name = 'RunClosed'
  }
}

/**
 * The one door through which a backend's calls reach its session. Calls take effect in the order in which they were made; once the run
 * is stopped or over, calls made and calls waiting are rejected and none has an effect. What is under way is bounded in number and bytes.
 * No promise that leaves it can become an unhandled rejection.
 */
export class RunGate {
  readonly #aborter = new AbortController()
  readonly #waiting = new Set<(reason: Error) => void>()
  readonly #onLate: () => void
  #closedBy: Error | undefined
  #order: Promise<unknown> = Promise.resolve()
  #calls = 0
  #bytes = 0

  constructor(onLate: () => void) {
    this.#onLate = onLate
    setMaxListeners(0, this.#aborter.signal)
  }

  get signal(): AbortSignal {
    return this.#aborter.signal
  }

  /** True once the run is stopped or over. */
  get isClosed(): boolean {
    return this.#closedBy !== undefined
  }

  /** Rejects every call from now on with `reason`, which becomes the signal's. */
  stop(reason: Error): void {
    if (this.#closedBy !== undefined) return
    this.#closedBy = reason
    this.#rejectWaiting(reason)
    this.#aborter.abort(reason)
  }

  /** Rejects every call from now on because the run is over. */
  close(): void {
    this.#closedBy ??= new RunClosed()
    this.#rejectWaiting(this.#closedBy)
  }

  /**
   * Runs `issue` after the `issue` of every earlier call has been called; `prepare` comes before it and holds up later calls.
   * Resolves with what `issue` resolves with.
   */
  effect<P, T>(bytes: number, prepare: () => P | Promise<P>, issue: (prepared: P) => Promise<T>): Promise<T> {
    if (this.#closedBy !== undefined) return this.refuse()
    if (this.#calls >= LIMITS.runCallsInFlight || this.#bytes >= LIMITS.runOutputInFlightBytes) {
      this.stop(new Error('the backend sends faster than its output can be stored, without waiting'))
      return this.refuse()
    }
    this.#calls += 1
    this.#bytes += bytes
    const issued = this.#order.then(async () => {
      const prepared = await prepare()
      if (this.#closedBy !== undefined) throw this.#closedBy
      return { result: issue(prepared) }
    })
    this.#order = issued.catch(() => {})
    const settled = issued
      .then(({ result }) => result)
      .finally(() => {
        this.#calls -= 1
        this.#bytes -= bytes
      })
    return this.wait(settled)
  }

  /** The promise, or a rejection as soon as the run is stopped or over. */
  wait<T>(promise: Promise<T>): Promise<T> {
    const guarded = new Promise<T>((resolve, reject) => {
      if (this.#closedBy !== undefined) reject(this.#closedBy)
      this.#waiting.add(reject)
      promise.then(resolve, reject).finally(() => this.#waiting.delete(reject))
    })
    guarded.catch(() => {})
    return guarded
  }

  /** Resolves when every call made so far has been passed on; rejects on stop. */
  async drained(): Promise<void> {
    await this.wait(this.#order)
  }

  /** What a call gets that comes too late; it is counted. */
  refuse(): Promise<never> {
    this.#onLate()
    const refusal = Promise.reject(this.#closedBy ?? new RunClosed())
    refusal.catch(() => {})
    return refusal
  }

  #rejectWaiting(reason: Error): void {
    for (const reject of this.#waiting) reject(reason)
    this.#waiting.clear()
  }
}
