import { setTimeout as delay } from 'node:timers/promises'

/** How long a condition may take; `what` names it in the error, `everyMs` is the time between two looks. */
export interface WaitOptions {
  readonly what?: string
  readonly deadlineMs?: number
  readonly everyMs?: number
}

/**
 * Looks until the condition gives a truthy value and returns that value. A condition that throws counts as not met; its last error is the
 * cause of the one thrown after the deadline (default 10 s).
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<NonNullable<Awaited<T>>> {
  const { what = condition.toString(), deadlineMs = 10_000, everyMs = 10 } = options
  const end = performance.now() + deadlineMs
  let cause: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value as NonNullable<Awaited<T>>
    } catch (error) {
      cause = error
    }
    if (performance.now() >= end) throw new Error(`not met within ${deadlineMs} ms: ${what}`, { cause })
    await delay(everyMs)
  }
}

/** The promise's value, or an error that names `what` after the deadline. The promise itself goes on. */
export async function within<T>(promise: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  const timer = new AbortController()
  const late = delay(deadlineMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not settled within ${deadlineMs} ms: ${what}`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.abort()
  }
}
