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
  const isClean = await drainBusy(sessions, now)
  // Commands that were under way may have left something behind in sessions that had nothing to do before.
  await host.whenQuiet()
  return (await drainBusy(sessions, now)) && isClean
}

/** One session that cannot be brought to an end does not keep the others from it. */
async function drainBusy(sessions: SessionRegistry, now: boolean): Promise<boolean> {
  const busy = [...sessions.loaded].filter(isBusy)
  const drains = await Promise.allSettled(busy.map(loop => loop.runs.drain(now ? 0 : LIMITS.stopCutoffMs)))
  let isClean = true
  for (const [index, drain] of drains.entries()) {
    if (drain.status === 'fulfilled') continue
    isClean = false
    const { sessionId } = busy[index] as SessionLoop
    sessions.env.log.error({ session_id: sessionId, err: drain.reason }, 'a session could not be brought to an end')
  }
  return isClean
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
