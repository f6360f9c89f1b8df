import type { WireErrorCode } from '../../../schema/errors.ts'
import type { SessionState } from '../../domain/state.ts'
import type { AppendOutcome, SessionHead, Store, StoredTransition } from '../../log/store.ts'
import type { ActiveRow } from '../rows.ts'

/** One lane step on its way to the disk, with the session as it is after it. */
export interface Step {
  readonly transition: StoredTransition
  readonly before: SessionHead
  readonly after: SessionHead
  readonly state: SessionState
  readonly lastHash: string
  readonly active: ActiveRow | null
  /** The step is durable and published; called in order. */
  committed(): void
  /** The step is not stored (or it is not known: `outcome_unknown`). */
  failed(code: WireErrorCode): void
}

/** A step whose batch did not succeed, with what is known of it. */
export interface BrokenStep {
  readonly step: Step
  readonly outcome: AppendOutcome
}

/** Where the steps of a session go, and who is told what became of them. */
export interface PipelineOptions {
  readonly store: Store
  readonly sessionId: string
  readonly fence: number
  /** Called in order, before the step's own `committed`. */
  readonly onCommitted: (step: Step) => void
  /** Called once, when the outcome of every step in flight is known and the first of them failed. */
  readonly onBroken: (steps: readonly BrokenStep[]) => void
}

/**
 * The steps of one session between decision and disk. Many may be in flight; they become durable in order. When one fails, all after it
 * fail with it, for they were decided on top of it. Source: A2, E7, architecture 2.
 */
export class Pipeline {
  readonly #options: PipelineOptions
  #fence: number
  #flight: Step[] = []
  #broken: BrokenStep[] | null = null
  #waiters: { after: Step; call: (isDurable: boolean) => void }[] = []

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#fence = options.fence
  }

  /** True when everything decided so far is durable. */
  get isIdle(): boolean {
    return this.#flight.length === 0
  }

  /** True from a failure until `restart`. */
  get isBroken(): boolean {
    return this.#broken !== null
  }

  push(step: Step): void {
    this.#flight.push(step)
    const { store, sessionId } = this.#options
    store
      .append([{ session: sessionId, fence: this.#fence, expectedHead: step.before, transitions: [step.transition] }])
      .then(
        ([outcome]) => this.#settle(step, outcome ?? { kind: 'unknown' }),
        () => this.#settle(step, { kind: 'unknown' }),
      )
  }

  /** Calls back when all that is in flight now is durable (true), or when it failed and the session was loaded again (false). */
  afterPending(call: (isDurable: boolean) => void): void {
    const last = this.#flight.at(-1)
    if (last === undefined) call(true)
    else this.#waiters.push({ after: last, call })
  }

  /** Goes on after a failure, under the claim the session has now. */
  restart(fence: number): void {
    this.#fence = fence
    this.#broken = null
    this.#flight = []
    const waiters = this.#waiters
    this.#waiters = []
    for (const { call } of waiters) call(false)
  }

  #settle(step: Step, outcome: AppendOutcome): void {
    if (this.#broken === null && outcome.kind === 'committed') {
      this.#flight.shift()
      this.#options.onCommitted(step)
      step.committed()
      while (this.#waiters[0]?.after === step) this.#waiters.shift()?.call(true)
      return
    }
    this.#broken ??= []
    this.#broken.push({ step, outcome })
    if (this.#broken.length === this.#flight.length) this.#options.onBroken(this.#broken)
  }
}

/** The code a client gets for a step that failed with this outcome. Source: E7, E8. */
export function codeOfOutcome(outcome: AppendOutcome): WireErrorCode {
  switch (outcome.kind) {
    case 'full':
      return 'storage_full'
    case 'unknown':
    case 'fenced':
      return 'outcome_unknown'
    case 'committed':
    case 'conflict':
    case 'failed':
      return 'persistence_failed'
  }
}
