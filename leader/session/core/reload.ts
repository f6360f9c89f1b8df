import type { WireErrorCode } from '../../../schema/errors.ts'
import type { SessionHead, Store } from '../../log/store.ts'
import type { SessionEnvironment } from '../environment.ts'
import { type LoadedSession, loadSession } from '../load.ts'
import { type BrokenStep, codeOfOutcome, type Step } from './pipeline.ts'

/**
 * Resolves when the store says what happened to its last batch and takes reads again; rejects when it is given up.
 * With `writable` it waits for writes too. Source: E7.
 */
export function whenStoreSettled(store: Store, options: { readonly writable: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = (): boolean => {
      const { health } = store
      if (health === 'fault') reject(new Error('the storage is read-only until the leader is restarted'))
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

/** The session that is loaded again. `fault` is set where it cannot be written any more. */
export interface ReloadTarget {
  readonly sessionId: string
  readonly env: SessionEnvironment
  fault: WireErrorCode | null
}

/**
 * After a failed batch: drops what was ahead of the disk, loads the session again under new writer ids, and tells every step what became
 * of it. A step that turns out to be stored is published and answered as if nothing had happened. Never rejects. Source: E7.
 */
export async function reloadSession(work: {
  readonly core: ReloadTarget
  readonly steps: readonly BrokenStep[]
  readonly adopt: (loaded: LoadedSession | null, fence: number) => void
  readonly publish: (step: Step) => void
  /** It could not be loaded: whoever waits is sent on to be refused. */
  readonly giveUp: () => void
}): Promise<void> {
  const { core, steps } = work
  const { store, log } = core.env
  try {
    await whenStoreSettled(store, { writable: false }).catch(() => {
      core.fault = 'storage_fault'
    })
    const acquired = core.fault === null ? await store.acquire(core.sessionId) : null
    const fence = acquired?.kind === 'owned' ? acquired.fence : 0
    const loaded = await loadSession(store, core.sessionId)
    const head = loaded?.head ?? { revision: 0, update: 0 }
    const lost: { step: Step; code: WireErrorCode }[] = []
    for (const { step, outcome } of steps) {
      if (isStored(step, head)) {
        work.publish(step)
        step.committed()
      } else lost.push({ step, code: lostCode(core, steps, outcome, step) })
    }
    work.adopt(loaded, fence)
    for (const { step, code } of lost) step.failed(code)
  } catch (error) {
    core.fault = 'storage_fault'
    log.error({ session_id: core.sessionId, err: error }, 'a session could not be loaded again after a storage error')
    work.giveUp()
    for (const { step } of steps) step.failed('outcome_unknown')
  }
}

/** True when the disk shows this step. A step that moves no head cannot be told this way. */
function isStored(step: Step, head: SessionHead): boolean {
  const moves = step.after.revision > step.before.revision || step.after.update > step.before.update
  return moves && step.after.revision <= head.revision && step.after.update <= head.update
}

/** A step that moves the head and is not there is proved absent, whatever its batch's outcome was. */
function lostCode(
  core: ReloadTarget,
  steps: readonly BrokenStep[],
  outcome: BrokenStep['outcome'],
  step: Step,
): WireErrorCode {
  const moves = step.after.revision > step.before.revision || step.after.update > step.before.update
  if (core.fault !== null || (!moves && outcome.kind === 'unknown')) return 'outcome_unknown'
  const isFull = steps.some(s => s.outcome.kind === 'full')
  if (isFull) return 'storage_full'
  return outcome.kind === 'unknown' ? 'persistence_failed' : codeOfOutcome(outcome)
}
