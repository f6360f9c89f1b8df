import { HeadwaterError } from '../../../schema/errors.ts'

/**
 * A right with an end: operations run while it is active; closing makes it inactive at once, waits for those in flight and releases last.
 *
 *   active ── close ──▶ closing (new operations: invalid_lease) ── none in flight ──▶ released
 */
export class Lease {
  readonly #release: () => Promise<void>
  #isActive = true
  #inFlight = 0
  #onIdle: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(release: () => Promise<void>) {
    this.#release = release
  }

  /** True from the call of `close` on. */
  get closed(): boolean {
    return !this.#isActive
  }

  /** Throws `invalid_lease` once closed. */
  assertActive(): void {
    if (!this.#isActive) throw new HeadwaterError('invalid_lease')
  }

  /** Runs an operation that `close` waits for. Rejects with `invalid_lease` once closed. Source: R10. */
  async run<T>(operation: () => Promise<T>): Promise<T> {
    this.assertActive()
    this.#inFlight += 1
    try {
      return await operation()
    } finally {
      this.#inFlight -= 1
      if (this.#inFlight === 0) this.#onIdle?.()
    }
  }

  /** Idempotent: every call gives the same end. Must not be awaited inside an operation. Source: R10. */
  close(): Promise<void> {
    this.#isActive = false
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    if (this.#inFlight > 0) {
      await new Promise<void>(resolve => {
        this.#onIdle = resolve
      })
    }
    await this.#release()
  }
}
