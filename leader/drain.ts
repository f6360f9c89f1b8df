import { LIMITS } from '../schema/limits.ts'
import { hasUnfinishedWork } from './domain/state.ts'
import type { LeaderHost } from './host/leader-host.ts'
import type { SessionRegistry } from './session/registry.ts'
import type { SessionLoop } from './session/session-loop.ts'

const PAGE_SESSIONS = 64

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
  const drain = new Drain(sessions, now)
  await drain.run()
  // Commands that were under way may have left something behind in sessions that had nothing to do before.
  await host.whenQuiet()
  await drain.run()
  return drain.isClean
}

/** One session that cannot be brought to an end does not keep the others from it; it is not tried again. */
class Drain {
  readonly #sessions: SessionRegistry
  readonly #cutoffMs: number
  readonly #failed = new Set<string>()
  #isIndexRead = true

  constructor(sessions: SessionRegistry, now: boolean) {
    this.#sessions = sessions
    this.#cutoffMs = now ? 0 : LIMITS.stopCutoffMs
  }

  get isClean(): boolean {
    return this.#isIndexRead && this.#failed.size === 0
  }

  async run(): Promise<void> {
    const { loaded, env } = this.#sessions
    await this.#end([...loaded].filter(isBusy).map(({ sessionId }) => sessionId))
    try {
      for await (const page of unloadedWork(this.#sessions)) await this.#end(page)
    } catch (error) {
      this.#isIndexRead = false
      env.log.error({ err: error }, 'it could not be read what is unfinished')
    }
  }

  async #end(sessionIds: readonly string[]): Promise<void> {
    await Promise.all(sessionIds.filter(id => !this.#failed.has(id)).map(id => this.#endOne(id)))
  }

  async #endOne(sessionId: string): Promise<void> {
    try {
      await this.#sessions.using(sessionId, async loop => {
        if (isBusy(loop)) await loop.runs.drain(this.#cutoffMs)
      })
    } catch (error) {
      if (this.#sessions.isDamaged(sessionId)) return
      this.#failed.add(sessionId)
      this.#sessions.env.log.error({ session_id: sessionId, err: error }, 'a session could not be brought to an end')
    }
  }
}

/** Sessions with unfinished work that are not loaded, some at a time: plans that wait for a turn. */
async function* unloadedWork(sessions: SessionRegistry): AsyncGenerator<readonly string[]> {
  for (let after: string | undefined; ; ) {
    const range = { limit: PAGE_SESSIONS, ...(after === undefined ? {} : { after }) }
    const page = await sessions.env.store.rows('active', '', range)
    const ids = page.map(({ id }) => id)
    yield ids.filter(id => sessions.peek(id) === undefined && !sessions.isDamaged(id))
    after = ids.at(-1)
    if (after === undefined || ids.length < PAGE_SESSIONS) return
  }
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
