import type { InteractionOutcome } from '../../../schema/entities/interaction.ts'

/** Who waits for the outcome of which interaction of a run. Bounded by the interactions that may be pending. Source: I2. */
export class SettledInteractions {
  readonly #waiting = new Map<string, (outcome: InteractionOutcome) => void>()

  /** Number of outcomes that are waited for. */
  get size(): number {
    return this.#waiting.size
  }

  /** Begins to wait, before the interaction is there. */
  expect(interactionId: string): Promise<InteractionOutcome> {
    return new Promise(resolve => this.#waiting.set(interactionId, resolve))
  }

  /** The interaction was never opened. */
  forget(interactionId: string): void {
    this.#waiting.delete(interactionId)
  }

  settle(interactionId: string, outcome: InteractionOutcome): void {
    this.#waiting.get(interactionId)?.(outcome)
    this.#waiting.delete(interactionId)
  }

  /** The run is over: nobody waits any more. */
  clear(): void {
    this.#waiting.clear()
  }
}

/** Tells a run that a steer waits: one promise for whoever asks until it rings. Source: Q5. */
export class SteeringBell {
  #next: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null

  get rings(): Promise<void> {
    if (this.#next === null) {
      let resolve = (): void => {}
      const promise = new Promise<void>(done => {
        resolve = done
      })
      this.#next = { promise, resolve }
    }
    return this.#next.promise
  }

  ring(): void {
    this.#next?.resolve()
    this.#next = null
  }

  /** The run is over: its promise stays pending. */
  clear(): void {
    this.#next = null
  }
}
