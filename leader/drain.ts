import { LIMITS } from '../schema/limits.ts'
import { hasUnfinishedWork } from './domain/state.ts'
import type { LeaderHost } from './host/leader-host.ts'
import type { SessionRegistry } from './session/registry.ts'
import type { SessionLoop } from './session/session-loop.ts'

/**
 * Ends everything that runs and parks what waits; true if all of it became durable within the grace. `now` does not wait for turns to
 * stop by themselves. The host must refuse new commands already. Source: E6, X14.
 */
export async function drainSessions(
  sessions: SessionRegistry,
  host: Pick<LeaderHost, 'whenQuiet'>,
  now: boolean,
): Promise<boolean> {
  return (await within(drainAll(sessions, host, now), LIMITS.shutdownGraceMs)) === true
}

async function drainAll(
  sessions: SessionRegistry,
  host: Pick<LeaderHost, 'whenQuiet'>,
  now: boolean,
): Promise<boolean> {
  const failed = new Set<SessionLoop>()
  await drainBusy(sessions, now, failed)
  // Commands that were under way may have left something behind in sessions that had nothing to do before.
  await host.whenQuiet()
  await drainBusy(sessions, now, failed)
  return failed.size === 0
}

/** One session that cannot be brought to an end does not keep the others from it; it is not tried again. */
async function drainBusy(sessions: SessionRegistry, now: boolean, failed: Set<SessionLoop>): Promise<void> {
  const busy = [...sessions.loaded].filter(loop => isBusy(loop) && !failed.has(loop))
  const drain = async (loop: SessionLoop): Promise<void> => {
    try {
      await loop.runs.drain(now ? 0 : LIMITS.stopCutoffMs)
    } catch (error) {
      failed.add(loop)
      const { sessionId } = loop
      sessions.env.log.error({ session_id: sessionId, err: error }, 'a session could not be brought to an end')
    }
  }
  await Promise.all(busy.map(drain))
}

function isBusy({ core, runs }: SessionLoop): boolean {
  return core.quarantine === null && (hasUnfinishedWork(core.state) || runs.hasRun)
}

/** The promise's value, or null when it took longer. */
export async function within<T>(promise: Promise<T>, graceMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>(resolve => {
    timer = setTimeout(() => resolve(null), graceMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
