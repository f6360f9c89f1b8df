/** Cancels what was scheduled; without effect once it has run. */
export type CancelTimer = () => void

/** Elapsed time, independent of the wall clock. Unit: ms. */
export interface ElapsedClock {
  nowMs(): number
  schedule(delayMs: number, callback: () => void): CancelTimer
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The process's monotonic clock. Delays may be longer than one timer of Node can hold. */
export const systemClock: ElapsedClock = {
  nowMs: () => performance.now(),
  schedule(delayMs, callback) {
    const dueMs = performance.now() + delayMs
    let timer: NodeJS.Timeout
    const arm = (): void => {
      const restMs = Math.max(0, dueMs - performance.now())
      timer = setTimeout(restMs > LONGEST_TIMER_MS ? arm : callback, Math.min(restMs, LONGEST_TIMER_MS))
    }
    arm()
    return () => clearTimeout(timer)
  },
}

/** Resolves after `delayMs`; rejects with `signal.reason` as soon as the signal is aborted. */
export function pause(clock: ElapsedClock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.schedule(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
