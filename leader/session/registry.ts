import type { Fault } from '../../schema/commands/host.ts'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { SessionEnvironment } from './environment.ts'
import { loadSession } from './load.ts'
import { SessionLoop } from './session-loop.ts'

/**
 * The sessions of a root that are loaded: each once, shared by whoever asks, the least recently used unloaded when there are too many.
 * A session that cannot be loaded is damaged; nobody else notices. Source: A7, A9.
 */
export class SessionRegistry {
  readonly #env: SessionEnvironment
  readonly #loops = new Map<string, SessionLoop>()
  readonly #loading = new Map<string, Promise<SessionLoop>>()
  /** Revisions this epoch started from, of sessions that it wrote and unloaded since. Source: V4. */
  readonly #bases = new Map<string, number>()
  readonly #damaged = new Map<string, HeadwaterError>()

  constructor(env: SessionEnvironment) {
    this.#env = env
  }

  get env(): SessionEnvironment {
    return this.#env
  }

  /** Loaded sessions, the least recently used first. */
  get loaded(): Iterable<SessionLoop> {
    return this.#loops.values()
  }

  get faults(): Fault[] {
    const quarantined = [...this.#loops.values()].filter(loop => loop.core.quarantine !== null)
    return [
      ...[...this.#damaged].map(([sessionId, error]) => ({
        code: error.code,
        sessionId,
        ...(typeof error.detail?.kind === 'string' ? { kind: error.detail.kind } : {}),
      })),
      ...quarantined.map(loop => ({
        code: 'session_damaged',
        sessionId: loop.sessionId,
        kind: 'contradiction',
        message: loop.core.quarantine as string,
      })),
    ]
  }

  isDamaged(sessionId: string): boolean {
    const loop = this.#loops.get(sessionId)
    return this.#damaged.has(sessionId) || (loop !== undefined && loop.core.quarantine !== null)
  }

  /** The session if it is loaded already. */
  peek(sessionId: string): SessionLoop | undefined {
    return this.#loops.get(sessionId)
  }

  /** The session, loaded now if need be; undefined if there is none. Throws `session_damaged`. */
  async find(sessionId: string): Promise<SessionLoop | undefined> {
    const known = this.#touch(sessionId)
    if (known !== undefined) return known.core.durable.revision === 0 ? undefined : known
    const loop = await this.#load(sessionId)
    if (loop.core.state.revision > 0) return loop
    this.#dropIfEmpty(loop)
    return undefined
  }

  /** The session, or the empty place where it may be created. Throws `session_damaged`. */
  async open(sessionId: string): Promise<SessionLoop> {
    return this.#touch(sessionId) ?? (await this.#load(sessionId))
  }

  /** An empty place that was not filled is given up. */
  settle(loop: SessionLoop): void {
    this.#dropIfEmpty(loop)
    this.#unloadExcess()
  }

  #touch(sessionId: string): SessionLoop | undefined {
    const loop = this.#loops.get(sessionId)
    if (loop === undefined) return undefined
    this.#loops.delete(sessionId)
    this.#loops.set(sessionId, loop)
    return loop
  }

  #load(sessionId: string): Promise<SessionLoop> {
    const loading = this.#loading.get(sessionId)
    if (loading !== undefined) return loading
    const damage = this.#damaged.get(sessionId)
    if (damage !== undefined) return Promise.reject(damage)
    const load = this.#loadOnce(sessionId).finally(() => this.#loading.delete(sessionId))
    this.#loading.set(sessionId, load)
    return load
  }

  async #loadOnce(sessionId: string): Promise<SessionLoop> {
    const { store, log } = this.#env
    const acquired = await store.acquire(sessionId)
    if (acquired.kind === 'held') throw new HeadwaterError('root_owned', `the session is served by ${acquired.by}`)
    try {
      const loaded = await loadSession(store, sessionId)
      const baseRevision = this.#bases.get(sessionId) ?? null
      const loop = new SessionLoop({ env: this.#env, sessionId, loaded, fence: acquired.fence, baseRevision })
      this.#loops.set(sessionId, loop)
      this.#unloadExcess()
      return loop
    } catch (error) {
      if (!isHeadwaterError(error) || error.code !== 'session_damaged') throw error
      this.#damaged.set(sessionId, error)
      log.error({ session_id: sessionId, code: error.code, kind: error.detail?.kind }, 'a session is damaged')
      throw error
    }
  }

  #dropIfEmpty(loop: SessionLoop): void {
    if (loop.core.state.revision === 0 && loop.isAtRest) this.#loops.delete(loop.sessionId)
  }

  /** Source: A7. */
  #unloadExcess(): void {
    if (this.#loops.size <= LIMITS.loadedSessions) return
    for (const loop of this.#loops.values()) {
      if (this.#loops.size <= LIMITS.loadedSessions) return
      if (!loop.isAtRest) continue
      const { baseRevision, durable } = loop.core
      if (baseRevision !== durable.revision) this.#bases.set(loop.sessionId, baseRevision)
      this.#loops.delete(loop.sessionId)
      void this.#env.store.release(loop.sessionId)
    }
  }
}
