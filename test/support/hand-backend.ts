import type { Backend, RunContext } from '../../leader/index.ts'
import { waitFor } from './wait-for.ts'

/** A run that the test plays: it goes on until the test ends it, or a stop does. */
export class HandRun {
  readonly context: RunContext
  readonly done: Promise<void>
  #complete: () => void = () => {}
  #fail: (error: Error) => void = () => {}

  constructor(context: RunContext, ignoresStop: boolean) {
    this.context = context
    this.done = new Promise((resolve, reject) => {
      this.#complete = resolve
      this.#fail = reject
    })
    if (!ignoresStop) context.signal.addEventListener('abort', () => this.#fail(context.signal.reason), { once: true })
  }

  complete(): void {
    this.#complete()
  }

  fail(error: Error): void {
    this.#fail(error)
  }
}

/** A backend played by hand. `ignoresStop`: its runs go on after a stop, until the test ends them. */
export class HandBackend implements Backend {
  readonly kind = 'hand'
  readonly takesSteering = true
  readonly runs: HandRun[] = []
  readonly #ignoresStop: boolean

  constructor(options: { readonly ignoresStop?: boolean } = {}) {
    this.#ignoresStop = options.ignoresStop ?? false
  }

  start(context: RunContext): Promise<void> {
    const run = new HandRun(context, this.#ignoresStop)
    this.runs.push(run)
    return run.done
  }

  /** The run of a turn, as soon as it has begun. */
  run(turnId: string): Promise<HandRun> {
    return waitFor(() => this.runs.find(run => run.context.turnId === turnId), { what: `the run of ${turnId}` })
  }
}
