import type { RunEnd, RunHandle, RunPort } from '../../../leader/session/run-port.ts'

/** A run whose every step the test takes by hand. A stop ends it at once, unless it is told to ignore stops. */
export class PuppetRun implements RunHandle {
  readonly port: RunPort
  readonly done: Promise<void>
  /** Where the stops came from, in order. */
  readonly stops: string[] = []
  ignoresStops = false
  /** While set, the clean-up after the end waits for `cleanUp`. */
  cleansUpSlowly = false
  #finish: () => void = () => {}
  #cleanUp: () => void = () => {}
  readonly #cleaned: Promise<void>
  readonly #ended: Promise<void>

  constructor(port: RunPort) {
    this.port = port
    this.#ended = new Promise(resolve => {
      this.#finish = resolve
    })
    this.#cleaned = new Promise(resolve => {
      this.#cleanUp = resolve
    })
    this.done = this.#ended.then(() => (this.cleansUpSlowly ? this.#cleaned : undefined))
  }

  async stop(abortSource: string): Promise<void> {
    this.stops.push(abortSource)
    if (!this.ignoresStops) await this.end({ kind: 'cancelled', abortSource })
  }

  /** Ends the run; resolves when its terminal event is durable. */
  async end(end: RunEnd = { kind: 'completed' }): Promise<void> {
    await this.port.end(end).finally(() => this.#finish())
  }

  cleanUp(): void {
    this.#cleanUp()
  }

  /** Streams a piece of the answer; resolves when it is durable. */
  text(delta: string, messageId = 'm1'): Promise<void> {
    return this.port.appendText('assistant', messageId, delta)
  }
}

/** The runs a session started, by hand. */
export class PuppetRuns {
  readonly started: PuppetRun[] = []
  /** Called with each run before its session goes on. */
  onStart: ((run: PuppetRun) => void) | undefined

  readonly start = (port: RunPort): RunHandle => {
    const run = new PuppetRun(port)
    this.started.push(run)
    this.onStart?.(run)
    return run
  }

  /** The run of this turn; throws if there is none. */
  of(turnId: string): PuppetRun {
    const run = this.started.find(({ port }) => port.turnId === turnId)
    if (run === undefined) throw new Error(`no run of ${turnId}`)
    return run
  }
}
