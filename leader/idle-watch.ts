import { LIMITS } from '../schema/limits.ts'

/** What decides whether a leader is idle. */
export interface IdleFacts {
  /** Clients, watchers, operations in flight and turns that have not ended. */
  readonly busy: () => number
  /** Clients that have ever come: one may come and go between two looks. */
  readonly arrivals: () => number
  readonly graceMs: number
  readonly onIdle: () => void
}

/**
 * Watches for a leader that nobody needs any more: nothing busy for the grace. The grace counts from the first connection on; the wait for that one has a bound of its own.
 * Gives back how to stop watching. Source: E4.
 */
export function watchIdle(facts: IdleFacts): () => void {
  const startedAtMs = performance.now()
  let hadConnection = false
  let idleSinceMs: number | null = null
  const timer = setInterval(
    () => {
      const nowMs = performance.now()
      hadConnection ||= facts.arrivals() > 0
      if (facts.busy() > 0) idleSinceMs = null
      else idleSinceMs ??= nowMs
      if (idleSinceMs === null) return
      const isOver = hadConnection
        ? nowMs - idleSinceMs >= facts.graceMs
        : nowMs - startedAtMs >= Math.max(facts.graceMs, LIMITS.firstConnectionMs)
      if (isOver) {
        clearInterval(timer)
        facts.onIdle()
      }
    },
    Math.max(10, Math.min(250, facts.graceMs / 4)),
  )
  timer.unref()
  return () => clearInterval(timer)
}
