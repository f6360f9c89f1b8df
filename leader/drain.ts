import { LIMITS } from '../schema/limits.ts'
import { hasUnfinishedWork } from './domain/state.ts'
import type { SessionRegistry } from './session/registry.ts'

/** What `within` gives when the time was not enough. */
const LATE = Symbol('late')

/**
 * Ends everything that runs and parks what waits; true if all of it became durable within the grace. `now` does not wait for turns to
 * stop by themselves. Source: E6, X14.
 */
export async function drainSessions(sessions: SessionRegistry, now: boolean): Promise<boolean> {
  const busy = [...sessions.loaded].filter(
    loop => loop.core.quarantine === null && (hasUnfinishedWork(loop.core.state) || loop.runs.hasRun),
  )
  const drained = Promise.all(busy.map(loop => loop.runs.drain(now ? 0 : LIMITS.stopCutoffMs)))
  return (await within(drained, LIMITS.shutdownGraceMs)) !== LATE
}

async function within<T>(promise: Promise<T>, graceMs: number): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof LATE>(resolve => {
    timer = setTimeout(() => resolve(LATE), graceMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
