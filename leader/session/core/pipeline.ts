import type { WireErrorCode } from '../../../schema/errors.ts'
import type { SessionState } from '../../domain/state.ts'
import type { AppendOutcome, SessionHead, Store, StoredTransition } from '../../log/store.ts'

/** One lane step on its way to the disk, with the session as it is after it. */
export interface Step {
  readonly transition: StoredTransition
  readonly before: SessionHead
  readonly after: SessionHead
  readonly state: SessionState
  /** The step is durable and published; called in order. */
  committed(): void
  /** The step is not stored (or it is given up to find out: `outcome_unknown`). */
  failed(code: WireErrorCode): void
  /** Whether it is stored will not be known soon; one of the others is called later. Source: E7. */
  unknown(): void
}

/** A step whose batch did not succeed, or that came after such a one, with what is known of it. */
export interface BrokenStep {
  readonly step: Step
  readonly outcome: AppendOutcome
}

/** Where the steps of a session go, and who is told what became of them. */
export interface PipelineOptions {
  readonly store: Store
  readonly sessionId: string
  readonly fence: number
  /** Called in order, before the step's own `committed`. Must not throw. */
  readonly onCommitted: (step: Step) => void
  /** Called with the first failure. */
  readonly onFailure: () => void
  /** Called once, when the outcome of every step in flight is known and the first of them failed. */
  readonly onBroken: (steps: readonly BrokenStep[]) => void
}

interface Waiter {
  readonly after: Step
  readonly call: (isDurable: boolean) => void
}

/**
 * The steps of one session between decision and disk. Many may be in flight; they become durable in order. When one fails, all after it
 * fail with it, for they were decided on top of it. Source: A2, E7, architecture 2.
 *
 *   whole ──a step fails──▶ failing ──all outcomes are known──▶ broken ──restart──▶ whole
 */
export class Pipeline {
  readonly #options: PipelineOptions
  #fence: number
  #flight: Step[] = []
  #broken: BrokenStep[] | null = null
  #waiters: Waiter[] = []

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#fence = options.fence
  }

  /** Steps that are not settled yet. */
  get length(): number {
    return this.#flight.length
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
        ([outcome]) => this.#settle(step, outcome ?? UNKNOWN),
        () => this.#settle(step, UNKNOWN),
      )
  }

  /**
   * Calls back when all that is in flight now is durable (true), or when that will not be: the session is loaded again, or nobody
   * knows for a while (false).
   */
  afterPending(call: (isDurable: boolean) => void): void {
    const last = this.#flight.at(-1)
    if (last === undefined) call(true)
    else this.#waiters.push({ after: last, call })
  }

  /** Whoever waits is told that it does not become durable now. */
  releaseWaiters(): void {
    for (const { call } of this.#waiters.splice(0)) call(false)
  }

  /** Goes on after a failure, under the claim the session has now. */
  restart(fence: number): void {
    this.#fence = fence
    this.#broken = null
    this.#flight = []
    this.releaseWaiters()
  }

  #settle(step: Step, outcome: AppendOutcome): void {
    if (this.#broken === null && outcome.kind === 'committed') {
      this.#flight.shift()
      this.#options.onCommitted(step)
      step.committed()
      while (this.#waiters[0]?.after === step) this.#waiters.shift()?.call(true)
      return
    }
    if (this.#broken === null) {
      this.#broken = []
      this.#options.onFailure()
    }
    this.#broken.push({ step, outcome })
    if (this.#broken.length === this.#flight.length) this.#options.onBroken(this.#broken)
  }
}

const UNKNOWN: AppendOutcome = { kind: 'unknown' }

/** The code a client gets for a step that failed with this outcome. Source: E7, E8. */
export function codeOfOutcome(outcome: AppendOutcome): WireErrorCode {
  switch (outcome.kind) {
    case 'full':
      return 'storage_full'
    case 'unknown':
      return 'outcome_unknown'
    case 'failed':
      return isTold(outcome.code) ? outcome.code : 'persistence_failed'
    case 'fenced':
    case 'conflict':
    case 'committed':
      return 'persistence_failed'
  }
}

/** Failures that a client is told by their own name. */
function isTold(code: string): code is 'storage_fault' | 'rate_limited' | 'root_regressed' {
  return code === 'storage_fault' || code === 'rate_limited' || code === 'root_regressed'
}
