import type { HostState } from '../schema/commands/host.ts'
import { HeadwaterError, isHeadwaterError } from '../schema/errors.ts'
import { LIMITS } from '../schema/limits.ts'
import { PROTOCOL } from '../schema/version.ts'
import { composeLeader, type LeaderParts } from './compose.ts'
import { drainSessions, within } from './drain.ts'
import type { Backend } from './execution/backend.ts'
import { watchIdle } from './idle-watch.ts'
import { removeRegistration, writeRegistration } from './log/root/endpoint/registration.ts'
import { clearSocket, type SocketPlace, socketPlace } from './log/root/endpoint/socket-place.ts'
import type { RootOwner } from './log/root/owner.ts'
import { readPlaces } from './log/root/places.ts'
import { endImport } from './offline/import/unfinished-import.ts'
import { openRootStore, type RootStore } from './open-root-store.ts'
import { type RecoverySummary, recoverSessions } from './recovery.ts'
import type { SessionRegistry } from './session/registry.ts'
import { type Logger, silentLogger } from './telemetry/logger.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { type Listeners, startListeners, type TcpOptions } from './transport/listener.ts'

/** How a leader is started. */
export interface StartLeaderOptions {
  /** Taken over: released when the leader closes, also when starting fails. */
  readonly owner: RootOwner
  /** Idle time after which the leader closes by itself; absent: never. Unit: ms. */
  readonly idleGraceMs?: number
  /** Beside the built-in ones; the same `kind` replaces. */
  readonly backends?: readonly Backend[]
  readonly host?: string
  /** Absent or 0: any free port; `root`: the one stored in the root; `none`: the socket alone. */
  readonly port?: number | 'root' | 'none'
  /** A busy port is no failure: the leader runs on the socket alone and logs so. Source: W1. */
  readonly orSocketAlone?: boolean
  readonly tls?: TcpOptions['tls']
  readonly publicUrl?: string
  readonly allowedHosts?: readonly string[]
  readonly isInsecure?: boolean
  readonly logger?: Logger
}

/** A leader in this process. Source: interfaces 3. */
export interface Leader {
  readonly hostEpoch: string
  /** Null without a TCP port. */
  readonly url: string | null
  readonly socketPath: string
  readonly state: HostState
  /** Drains and releases the root; resolves when no handle keeps Node alive. Idempotent. Source: E6. */
  close(options?: { readonly now?: boolean }): Promise<void>
  /** Resolves after a drain; rejects with what would be an exit code: `ownership_lost`, or `timeout` past the shutdown grace. */
  readonly closed: Promise<void>
}

/**
 * Starts a leader on an owned root; resolves when it is ready. Installs no signal handler and never ends the process. When starting fails
 * everything is released and the promise rejects. Source: E2, E6.
 */
export async function startLeader(options: StartLeaderOptions): Promise<Leader> {
  const { owner } = options
  let store: RootStore | undefined
  const metrics = createMetrics()
  try {
    store = await openRootStore(owner, {
      onBatch: seconds => metrics.batchSyncSeconds.observe(seconds),
      ...(options.logger === undefined ? {} : { log: options.logger }),
    })
    const tenure = new Tenure(options, { store, metrics })
    await tenure.start()
    return tenure
  } catch (error) {
    metrics.close()
    await store?.close().catch(() => {})
    await owner.close().catch(() => {})
    throw error
  }
}

class Tenure implements Leader {
  readonly closed: Promise<void>
  readonly #options: StartLeaderOptions
  readonly #store: RootStore
  readonly #metrics: Metrics
  readonly #logger: Logger
  #parts: LeaderParts | undefined
  #place: SocketPlace | undefined
  #listeners: Listeners | undefined
  #isDraining = false
  #closing: Promise<void> | null = null
  #timers: (() => void)[] = []
  #resolveClosed: () => void = () => {}
  #rejectClosed: (error: Error) => void = () => {}

  constructor(options: StartLeaderOptions, made: { readonly store: RootStore; readonly metrics: Metrics }) {
    this.#options = options
    this.#store = made.store
    this.#metrics = made.metrics
    this.#logger = options.logger ?? silentLogger()
    this.closed = new Promise((resolve, reject) => {
      this.#resolveClosed = resolve
      this.#rejectClosed = reject
    })
    // Whoever does not look at `closed` is told by `close`.
    this.closed.catch(() => {})
  }

  get #wired(): LeaderParts {
    if (this.#parts === undefined) throw new Error('the leader is not wired yet')
    return this.#parts
  }

  get hostEpoch(): string {
    return this.#wired.epoch.hostEpoch
  }

  get url(): string | null {
    return this.#listeners?.url ?? null
  }

  get socketPath(): string {
    return this.#place?.socketPath ?? ''
  }

  get state(): HostState {
    return this.#wired.host.state
  }

  async start(): Promise<void> {
    const { owner, backends = [] } = this.#options
    this.#parts = await composeLeader({
      owner,
      store: this.#store,
      metrics: this.#metrics,
      backends,
      logger: this.#logger,
      isDraining: () => this.#isDraining,
      // After the reply has left.
      shutdown: now => void setImmediate(() => void this.close({ now })),
    })
    try {
      await this.#open()
    } catch (error) {
      this.#isDraining = true
      await this.#letGo({ drain: false })
      await this.#unregister()
      throw error
    }
  }

  async #open(): Promise<void> {
    const { owner, idleGraceMs } = this.#options
    const { host, catalog, sessions, logger } = this.#wired
    this.#place = await socketPlace(owner.capability.rootId, readPlaces())
    await clearSocket(owner, this.#place.socketPath)
    await this.#listen(this.#place)
    host.moveTo('recovering')
    await this.#register()
    await catalog.load()
    const isReadOnly = this.#store.regression !== null
    if (!isReadOnly) await endImport(this.#store)
    const summary = isReadOnly ? {} : await this.#recover(sessions)
    host.moveTo('ready')
    this.#listeners?.announceState()
    await this.#register()
    logger.info({ ...summary, url: this.url, socket: this.socketPath }, 'ready')
    if (!isReadOnly) this.#wired.keptCheck.start()
    if (!isReadOnly) await this.#wired.purges.resume()
    this.#watchOwnership(owner)
    if (idleGraceMs !== undefined) this.#watchIdle(idleGraceMs)
  }

  #recover(sessions: SessionRegistry): Promise<RecoverySummary> {
    return recoverSessions(sessions, (done, total) =>
      this.#wired.host.moveTo('recovering', `recovering ${done}/${total}`),
    )
  }

  async #listen(place: SocketPlace): Promise<void> {
    const { host: name = '127.0.0.1', port = 0, tls, publicUrl, allowedHosts, isInsecure } = this.#options
    const { host, credentials, roster, logger, metrics } = this.#wired
    const tcp =
      port === 'none'
        ? {}
        : {
            tcp: {
              host: name,
              port: port === 'root' ? await this.#options.owner.port() : port,
              ...(tls === undefined ? {} : { tls }),
              ...(publicUrl === undefined ? {} : { publicUrl }),
              ...(allowedHosts === undefined ? {} : { allowedHosts }),
              ...(isInsecure === undefined ? {} : { isInsecure }),
            },
          }
    const common = { host, socketPath: place.socketPath, credentials, roster, logger, metrics }
    try {
      this.#listeners = await startListeners({ ...common, ...tcp })
    } catch (error) {
      const isBusy = isHeadwaterError(error) && error.code === 'port_busy'
      if (!isBusy || this.#options.orSocketAlone !== true) throw error
      logger.warn({ code: 'port_busy' }, 'the TCP port is in use: this leader runs on its socket alone')
      this.#listeners = await startListeners(common)
    }
  }

  /** Written when listening and again when ready. Source: R8. */
  async #register(): Promise<void> {
    const { host, epoch, owner } = this.#wired
    const place = this.#place as SocketPlace
    const { inode, birthTimeNs } = owner.capability.identity
    await writeRegistration(place.registrationPath, {
      rootId: owner.capability.rootId,
      hostEpoch: epoch.hostEpoch,
      url: this.url,
      socketPath: place.socketPath,
      pid: process.pid,
      protocol: PROTOCOL,
      state: host.state,
      createdAt: epoch.startedAt,
      directory: { inode, birthTimeNs },
    })
  }

  /** Source: R5. */
  #watchOwnership(owner: RootOwner): void {
    const timer = setInterval(() => {
      try {
        owner.prove()
      } catch {
        void this.#loseOwnership()
      }
    }, LIMITS.ownershipProofMs)
    timer.unref()
    this.#timers.push(() => clearInterval(timer))
    const off = this.#store.on('health', health => {
      if (health !== 'fault') return
      try {
        owner.prove()
      } catch {
        void this.#loseOwnership()
      }
    })
    this.#timers.push(off)
  }

  #watchIdle(graceMs: number): void {
    const { busy, roster } = this.#wired
    const stop = watchIdle({ busy, arrivals: () => roster.arrivals, graceMs, onIdle: () => void this.close() })
    this.#timers.push(stop)
  }

  /** The root is somebody else's: stop at once, without another write. Source: R5. */
  async #loseOwnership(): Promise<void> {
    if (this.#closing !== null) return
    this.#isDraining = true
    this.#wired.host.moveTo('draining')
    this.#closing = this.#shut({ drain: false }).then(() => {})
    this.#logger.error({ code: 'ownership_lost' }, 'the data root was lost')
    await this.#closing
    this.#rejectClosed(new HeadwaterError('ownership_lost'))
  }

  close(options: { readonly now?: boolean } = {}): Promise<void> {
    if (this.#closing === null) this.#closing = this.#drain(options.now === true)
    else if (options.now === true) for (const loop of this.#wired.sessions.loaded) loop.runs.cutShort()
    return this.#closing
  }

  async #drain(now: boolean): Promise<void> {
    const { host, sessions, logger } = this.#wired
    this.#isDraining = true
    host.moveTo('draining')
    this.#listeners?.announceState()
    logger.info({}, 'draining')
    // What is only read has nothing to bring to an end.
    const isClean = this.#store.regression !== null || (await drainSessions(sessions, host, now))
    const isShut = await this.#shut({ drain: true })
    if (isClean && isShut) this.#resolveClosed()
    else this.#rejectClosed(new HeadwaterError('timeout', 'not everything ended in time; the next start recovers it'))
  }

  /**
   * Ownership is released last, and not at all while a write may still be under way: it ends with the process then. False when something
   * did not end. Never rejects. Source: E6, R10.
   */
  async #shut(how: { readonly drain: boolean }): Promise<boolean> {
    await this.#letGo(how)
    if (how.drain) await this.#unregister()
    if (!(await this.#ends('store', this.#store.close()))) return false
    return await this.#ends('owner', this.#wired.owner.close())
  }

  /** Lets go of everything but the store and the root. */
  async #letGo(how: { readonly drain: boolean }): Promise<void> {
    const { catalog, metrics, keptCheck, purges } = this.#wired
    this.#stopTimers()
    await this.#ends('check', keptCheck.stop())
    await this.#ends('purges', purges.stop())
    catalog.close()
    if (this.#listeners !== undefined) await this.#ends('listeners', this.#listeners.close(how))
    await this.#ends('backends', this.#closeBackends())
    metrics.close()
  }

  /** True when the part ended in time. */
  async #ends(part: string, end: Promise<unknown>): Promise<boolean> {
    const hasEnded = end.then(
      () => true,
      error => {
        this.#logger.error({ part, err: error }, 'a part of the leader did not end well')
        return false
      },
    )
    const outcome = await within(hasEnded, LIMITS.shutdownGraceMs)
    if (outcome === null) this.#logger.error({ part }, 'a part of the leader does not end')
    return outcome === true
  }

  async #unregister(): Promise<void> {
    if (this.#place === undefined) return
    await removeRegistration(this.#place.registrationPath, this.hostEpoch).catch(() => false)
  }

  #stopTimers(): void {
    for (const stop of this.#timers.splice(0)) stop()
  }

  async #closeBackends(): Promise<void> {
    await Promise.allSettled([...this.#wired.backends.values()].map(backend => backend.close?.()))
  }
}
