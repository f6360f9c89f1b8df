import { HeadwaterError, isHeadwaterError, type WireErrorCode } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { SessionHead, Store } from '../../log/store.ts'
import type { SessionEnvironment } from '../environment.ts'
import { type LoadedSession, loadSession } from '../load.ts'
import { type BrokenStep, codeOfOutcome, type Step } from './pipeline.ts'

/** The session whose steps failed. */
export interface RepairTarget {
  readonly env: SessionEnvironment
  readonly sessionId: string
  /** Nothing decides and no text is flushed until `resume`. */
  pause(): void
  resume(): void
  /** Whoever waits for something to become durable is sent on, to be told that it is not known. */
  releaseWaiters(): void
  /** A step that turned out to be stored. */
  publish(step: Step): void
  /** Takes what is on disk in place of what was ahead of it. */
  adopt(loaded: LoadedSession | null, fence: number): void
  /** Nothing can be written in this process any more: falls back to what was durable. */
  giveUp(code: WireErrorCode, reason: string | null): void
}

/**
 * After a failed batch: drops what was ahead of the disk, loads the session again under new writer ids, and tells every step what became
 * of it. A step that turns out to be stored is published and answered as if nothing had happened. Source: E7.
 *
 *   well ──a batch fails──▶ paused ──the store knows──▶ loaded again ──▶ well
 *                             │ not within outcomeWaitMs                │ cannot be loaded, or read-only
 *                             └──▶ in limbo: refuses, `outcome_unknown` └──▶ given up
 */
export class Repair {
  readonly #target: RepairTarget
  #isInLimbo = false
  #running: Promise<void> | null = null

  constructor(target: RepairTarget) {
    this.#target = target
  }

  /** The repair under way, if any. Never rejects. */
  get running(): Promise<void> | null {
    return this.#running
  }

  /** True while it is not known whether the last steps are stored, and nobody is made to wait for that. */
  get isInLimbo(): boolean {
    return this.#isInLimbo
  }

  /** Starts with the steps that did not succeed, which may be none: the claim was lost. The target must be paused; it is resumed. */
  start(steps: readonly BrokenStep[]): void {
    this.#running = this.#run(steps).finally(() => {
      this.#running = null
      this.#target.resume()
    })
  }

  async #run(steps: readonly BrokenStep[]): Promise<void> {
    const left = [...steps]
    try {
      if (await this.#waitForTruth(left)) await this.#reload(left)
      else this.#giveUp(left, 'storage_fault', null)
    } catch (error) {
      const { env, sessionId } = this.#target
      env.log.error({ session_id: sessionId, err: error }, 'a session could not be loaded again after a storage error')
      const isDamaged = isHeadwaterError(error) && error.code === 'session_damaged'
      if (isDamaged) this.#giveUp(left, 'session_damaged', String(error.detail?.kind ?? 'unreadable'))
      else this.#giveUp(left, 'storage_fault', null)
    }
  }

  /** True when the store knows what happened; false when it is read-only for good. */
  async #waitForTruth(left: BrokenStep[]): Promise<boolean> {
    const { env } = this.#target
    const isUnknown = left.some(({ outcome }) => outcome.kind === 'unknown')
    // A full disk that was not opened again since does not know the fate of the batch that filled it.
    const known = whenStoreSettled(env.store, { writable: isUnknown }).then(
      () => true,
      () => false,
    )
    const early = await this.#within(known)
    if (early !== null) return early
    this.#isInLimbo = true
    for (const broken of left.splice(0)) {
      const { step, outcome } = broken
      const isOpen = outcome.kind === 'unknown' || outcome.kind === 'committed'
      if (isOpen) left.push(broken)
      if (outcome.kind === 'unknown') step.unknown()
      else if (!isOpen) step.failed(codeOfOutcome(outcome))
    }
    this.#target.releaseWaiters()
    this.#target.resume()
    const isKnown = await known
    this.#target.pause()
    this.#isInLimbo = false
    return isKnown
  }

  #within(known: Promise<boolean>): Promise<boolean | null> {
    return new Promise(resolve => {
      const cancel = this.#target.env.clock.schedule(LIMITS.outcomeWaitMs, () => resolve(null))
      void known.then(isKnown => {
        cancel()
        resolve(isKnown)
      })
    })
  }

  async #reload(left: BrokenStep[]): Promise<void> {
    const { env, sessionId } = this.#target
    const acquired = await env.store.acquire(sessionId)
    if (acquired.kind === 'held') throw new HeadwaterError('storage_fault', `the session is served by ${acquired.by}`)
    const loaded = await loadSession(env.store, sessionId)
    const head = loaded?.head ?? { revision: 0, update: 0 }
    const isFull = left.some(({ outcome }) => outcome.kind === 'full')
    const lost: BrokenStep[] = []
    for (let broken = left.shift(); broken !== undefined; broken = left.shift()) {
      if (isStored(broken, head) || (await this.#hasReceipt(broken))) this.#target.publish(broken.step)
      else lost.push(broken)
    }
    left.push(...lost)
    this.#target.adopt(loaded, acquired.fence)
    left.length = 0
    for (const broken of lost) broken.step.failed(isFull ? 'storage_full' : lostCode(broken))
  }

  /** A step that moves no head and of which nothing is known has left its receipt, or nothing. */
  async #hasReceipt({ step, outcome }: BrokenStep): Promise<boolean> {
    const { receipt } = step.transition
    if (outcome.kind !== 'unknown' || receipt === undefined) return false
    const { env, sessionId } = this.#target
    const stored = await env.store.receipt(sessionId, receipt.operation, receipt.id)
    return stored !== undefined && Buffer.compare(stored, receipt.body) === 0
  }

  #giveUp(left: readonly BrokenStep[], code: WireErrorCode, reason: string | null): void {
    this.#target.giveUp(code, reason)
    for (const { step } of left) step.failed('outcome_unknown')
  }
}

/** True when the disk shows this step. */
function isStored({ step, outcome }: BrokenStep, head: SessionHead): boolean {
  if (outcome.kind === 'committed') return true
  return isMoving(step) && step.after.revision <= head.revision && step.after.update <= head.update
}

function isMoving({ before, after }: Step): boolean {
  return after.revision > before.revision || after.update > before.update
}

/** A step that moves the head and is not there is proved absent, whatever its batch's outcome was. */
function lostCode({ step, outcome }: BrokenStep): WireErrorCode {
  return outcome.kind === 'unknown' && isMoving(step) ? 'persistence_failed' : codeOfOutcome(outcome)
}

/**
 * Resolves when the store says what happened to its last batch and takes reads again; rejects when it is given up.
 * With `writable` it waits for writes too. Source: E7.
 */
export function whenStoreSettled(store: Store, options: { readonly writable: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = (): boolean => {
      const { health } = store
      if (health === 'fault' || health === 'regressed') reject(new HeadwaterError('storage_fault'))
      else if (health === 'ok' || (health === 'full' && !options.writable)) resolve()
      else return false
      return true
    }
    if (check()) return
    const off = store.on('health', () => {
      if (check()) off()
    })
  })
}
