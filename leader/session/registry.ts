import type { Fault } from '../../schema/commands/host.ts'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { CLOSE_CODES } from '../../schema/wire/close-codes.ts'
import type { ForkSource } from '../domain/decision.ts'
import { readForkSource } from './commands/fork-source.ts'
import { inLineage } from './core/generation.ts'
import type { SessionEnvironment } from './environment.ts'
import { loadSession } from './load.ts'
import { SessionLoop } from './session-loop.ts'

/** What an epoch remembers of a session that it unloaded. */
interface Remembered {
  /** The revision this epoch started from. Source: V4. */
  readonly baseRevision: number
  /** A replica was ahead of it in this epoch. Source: V6. */
  readonly wentBack: boolean
}

/** How many sessions stay loaded, and are remembered after; for tests. */
export interface RegistryLimits {
  readonly loadedSessions: number
  readonly rememberedSessions: number
}

/** Unit: ms. */
const RETRY_MS = 1_000

/**
 * The sessions of a root that are loaded: each once, shared by whoever asks, the least recently used unloaded when there are too many.
 * A session that cannot be loaded is damaged; nobody else notices. Source: A7, A9.
 */
export class SessionRegistry {
  readonly #env: SessionEnvironment
  readonly #limits: RegistryLimits
  /** The least recently used first. */
  readonly #loops = new Map<string, SessionLoop>()
  readonly #loading = new Map<string, Promise<SessionLoop>>()
  /** How many are about to use a session: it is neither unloaded nor given up meanwhile. */
  readonly #uses = new Map<string, number>()
  readonly #remembered = new Map<string, Remembered>()
  /** Forks that are being made, by their source. */
  readonly #forks = new Map<string, Set<Promise<void>>>()
  /** Sessions that could not be loaded. */
  readonly #damaged = new Map<string, HeadwaterError>()
  /** Sessions that are readable but contradict themselves, and why. Source: X12. */
  readonly #quarantined = new Map<string, string>()
  /** When it was last tried to unload some, and how many were left loaded. */
  #unloaded = { atMs: Number.NEGATIVE_INFINITY, left: 0 }

  constructor(env: SessionEnvironment, limits: RegistryLimits = LIMITS) {
    this.#env = env
    this.#limits = limits
    env.store.on('lost', sessionId => this.#loops.get(sessionId)?.core.claimLost())
    env.presence?.onMove(clientInstanceId => {
      for (const loop of this.#loops.values()) loop.holds.clientMoved(clientInstanceId)
    })
    env.store.on('health', health => {
      if (health === 'fault') for (const loop of this.#loops.values()) loop.core.storageFailed()
    })
  }

  get env(): SessionEnvironment {
    return this.#env
  }

  /** Loaded sessions, the least recently used first. */
  get loaded(): Iterable<SessionLoop> {
    return this.#loops.values()
  }

  get faults(): Fault[] {
    const unreadable = [...this.#damaged].map(([sessionId, { code, detail }]) => ({
      code,
      sessionId,
      ...(typeof detail?.kind === 'string' ? { kind: detail.kind } : {}),
    }))
    const quarantined = [...this.#quarantined].map(([sessionId, message]) => ({
      code: 'session_damaged',
      sessionId,
      kind: 'contradiction',
      message,
    }))
    const faulty = [...this.#loops.values()].flatMap(({ sessionId, core: { fault } }) =>
      fault === null || this.#quarantined.has(sessionId) ? [] : [{ code: fault, sessionId }],
    )
    return [...unreadable, ...quarantined, ...faulty]
  }

  isDamaged(sessionId: string): boolean {
    return this.#damaged.has(sessionId) || this.#quarantined.has(sessionId)
  }

  /** The session if it is loaded already. */
  peek(sessionId: string): SessionLoop | undefined {
    return this.#loops.get(sessionId)
  }

  /** From now on the session is read-only and shown as damaged. Source: A9, X12. */
  quarantine(sessionId: string, reason: string): void {
    this.#quarantined.set(sessionId, reason)
    const loop = this.#loops.get(sessionId)
    if (loop !== undefined) {
      loop.core.quarantine = reason
      loop.core.room.announce()
    }
    this.#noteDamage(sessionId, { code: 'session_damaged', reason })
  }

  /**
   * The session, loaded now if need be; undefined if there is none. It may be unloaded as soon as nothing is at work in it: whoever waits
   * for something else first calls `using`. Throws `session_damaged`.
   */
  find(sessionId: string): Promise<SessionLoop | undefined> {
    return this.using(sessionId, loop => (loop.core.durable.revision === 0 ? undefined : loop))
  }

  /** The session, or the empty place where it may be created; as `find` for the rest. */
  open(sessionId: string): Promise<SessionLoop> {
    return this.using(sessionId, loop => loop)
  }

  /**
   * Works with a session, loaded now if need be, or with the empty place where it may be created. It stays loaded until the work is done.
   * Throws `session_damaged`, and what the work throws.
   */
  async using<T>(sessionId: string, work: (loop: SessionLoop) => T | Promise<T>): Promise<T> {
    this.#uses.set(sessionId, (this.#uses.get(sessionId) ?? 0) + 1)
    try {
      return await work(this.#touch(sessionId) ?? (await this.#load(sessionId)))
    } finally {
      const uses = (this.#uses.get(sessionId) ?? 1) - 1
      if (uses === 0) this.#uses.delete(sessionId)
      else this.#uses.set(sessionId, uses)
      this.#dropIfEmpty(sessionId)
      this.#unloadExcess()
    }
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
    const { store } = this.#env
    const acquired = await store.acquire(sessionId)
    if (acquired.kind === 'held') throw new HeadwaterError('root_owned', `the session is served by ${acquired.by}`)
    try {
      const stored = await loadSession(store, sessionId)
      const loaded =
        stored === null || stored.state.isDeleted === true
          ? stored
          : await inLineage(this.#env, stored, { sessionId, fence: acquired.fence })
      // What a compaction that was cut off has left is its purge's in a deleted session, and stays in a damaged one. Source: D1.
      const isWell = loaded !== null && loaded.state.isDeleted !== true && !this.#quarantined.has(sessionId)
      const isUntrimmed = isWell && (await store.untrimmed(sessionId)) !== undefined
      const { baseRevision = null, wentBack = false } = this.#remembered.get(sessionId) ?? {}
      const loop = new SessionLoop({
        env: this.#env,
        sessionId,
        loaded,
        fence: acquired.fence,
        baseRevision,
        wentBack,
        quarantine: this.#quarantined.get(sessionId) ?? null,
        onDamaged: reason => this.quarantine(sessionId, reason),
        onDeleted: () => this.#forget(sessionId),
        forkSource: (source, turnId) => this.#forkSource(source, turnId),
      })
      this.#loops.set(sessionId, loop)
      // Source: L6.
      if (isUntrimmed) loop.compaction.resume()
      return loop
    } catch (error) {
      void store.release(sessionId)
      if (isHeadwaterError(error) && error.code === 'session_damaged') {
        this.#damaged.set(sessionId, error)
        this.#noteDamage(sessionId, { code: error.code, kind: error.detail?.kind, err: error })
      }
      throw error
    }
  }

  #noteDamage(sessionId: string, fields: object): void {
    this.#env.log.error({ session_id: sessionId, ...fields }, 'a session is damaged')
    this.#env.onDamaged?.(sessionId)
  }

  /** A place that nothing was created in. */
  #dropIfEmpty(sessionId: string): void {
    const loop = this.#loops.get(sessionId)
    if (loop === undefined || this.#uses.has(sessionId)) return
    if (loop.core.state.revision === 0 && loop.isAtRest) this.#drop(loop)
  }

  /** Where more are at work than should be loaded, it is tried again only when there are more still, or after a while. Source: A7. */
  #unloadExcess(): void {
    const { loadedSessions } = this.#limits
    if (this.#loops.size <= loadedSessions) return
    const nowMs = this.#env.clock.monotonicMs()
    if (this.#loops.size <= this.#unloaded.left && nowMs - this.#unloaded.atMs < RETRY_MS) return
    for (const loop of this.#loops.values()) {
      if (this.#loops.size <= loadedSessions) break
      if (!loop.isAtRest || this.#uses.has(loop.sessionId)) continue
      this.#remember(loop)
      this.#drop(loop)
    }
    this.#unloaded = { atMs: nowMs, left: this.#loops.size }
  }

  #drop(loop: SessionLoop): void {
    this.#loops.delete(loop.sessionId)
    void this.#env.store.release(loop.sessionId)
  }

  async #forkSource(sessionId: string, turnId: string): Promise<ForkSource | undefined> {
    return await this.using(sessionId, async ({ core: { quarantine, durable } }) => {
      if (quarantine !== null) throw new HeadwaterError('session_damaged', undefined, { reason: quarantine })
      return durable.header === null || durable.isDeleted === true
        ? undefined
        : await readForkSource(this.#env.store, durable, turnId)
    })
  }

  /** Keeps what a session holds while it is being forked: its purge waits until the fork is stored, or is not. Source: S5, S6. */
  async forking<T>(sourceSessionId: string, work: () => Promise<T>): Promise<T> {
    const underWay = this.#forks.get(sourceSessionId) ?? new Set()
    const fork = work()
    const settled = fork.then(
      () => {},
      () => {},
    )
    this.#forks.set(sourceSessionId, underWay.add(settled))
    try {
      return await fork
    } finally {
      underWay.delete(settled)
      if (underWay.size === 0) this.#forks.delete(sourceSessionId)
    }
  }

  /** Resolves when no fork of this session is under way that began before. */
  async whenForked(sourceSessionId: string): Promise<void> {
    await Promise.all(this.#forks.get(sourceSessionId) ?? [])
  }

  /** The session was deleted: whoever follows it is told, and from now on its id leads to nothing. Source: S5. */
  #forget(sessionId: string): Promise<void> {
    const loop = this.#loops.get(sessionId)
    loop?.core.room.closeAll(CLOSE_CODES.not_found, 'session_removed')
    this.#quarantined.delete(sessionId)
    this.#remembered.delete(sessionId)
    if (loop !== undefined) this.#drop(loop)
    return this.#env.onDeleted?.(sessionId) ?? Promise.resolve()
  }

  #remember({ sessionId, core: { baseRevision, durable, wentBack } }: SessionLoop): void {
    this.#remembered.delete(sessionId)
    if (baseRevision === durable.revision && !wentBack) return
    const [oldest] = this.#remembered.keys()
    if (oldest !== undefined && this.#remembered.size >= this.#limits.rememberedSessions) {
      this.#remembered.delete(oldest)
    }
    this.#remembered.set(sessionId, { baseRevision, wentBack })
  }
}
