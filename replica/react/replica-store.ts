import type { CatalogRow, SessionProjection } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import { isOfLostPast } from '../cache/lost-past.ts'
import type { OfflineReader } from '../cache/offline-reader.ts'
import { realSurroundings, type Surroundings } from '../client/ports.ts'
import type { ConnectResult, LeaderConnection } from '../client/types.ts'
import { Grouping, type Schedule } from './store/cell.ts'
import { StoredCopies } from './store/copies.ts'
import { catalogView, followableCatalog, followableSession, sessionView } from './store/documents.ts'
import { Followed } from './store/followed.ts'
import { History } from './store/history.ts'
import { LeaderLine } from './store/leader-line.ts'
import type { CatalogView, HistoryView, LinkState, Readable, ReplicaStore, SessionView } from './types.ts'

/** What a store of screens works with. */
export interface ReplicaStoreOptions {
  /** Finds the leader, or starts one; asked again until it succeeds or a person must do something. */
  readonly connect?: (signal: AbortSignal) => Promise<ConnectResult>
  /** A connection that is there already: nothing is looked for, and it is not closed with the store. */
  readonly connection?: LeaderConnection
  /** What was last seen; null where nothing ever was. */
  readonly openOffline?: () => Promise<OfflineReader | null>
  /** How often readers are told; default: in a microtask. */
  readonly schedule?: Schedule
  readonly surroundings?: Pick<Surroundings, 'clock' | 'random'>
  /** The local clock, ms. */
  readonly wallNow?: () => number
}

/** Makes a store and begins to look for the leader. Source: experience 5.1, 10. */
export function createReplicaStore(options: ReplicaStoreOptions): ReplicaStore {
  const store = new ScreenStore(options)
  store.start()
  return store
}

type FollowedSession = Followed<SessionProjection, SessionView>

interface SharedSession {
  readonly followed: FollowedSession
  readonly history: History
}

/** The store of a surface with screens. */
class ScreenStore implements ReplicaStore {
  readonly catalog: Readable<CatalogView>
  readonly #line: LeaderLine
  readonly #copies: StoredCopies
  readonly #grouping: Grouping
  readonly #surroundings: Pick<Surroundings, 'clock' | 'random'>
  readonly #followedCatalog: Followed<readonly CatalogRow[], CatalogView>
  /** The least recently asked for first. */
  readonly #sessions = new Map<string, SharedSession>()

  constructor(options: ReplicaStoreOptions) {
    const { connect, connection, openOffline, schedule = queueMicrotask } = options
    const { surroundings = realSurroundings, wallNow = Date.now } = options
    this.#surroundings = surroundings
    this.#grouping = new Grouping(schedule)
    this.#copies = new StoredCopies(openOffline)
    this.#line = new LeaderLine({ connect, connection, surroundings, wallNow, grouping: this.#grouping })
    this.#line.onChange(() => {
      const { open } = this.#line
      if (open !== null && open.rootId !== '') this.#copies.belongTo(open.rootId)
    })
    this.#followedCatalog = this.#followCatalog()
    this.catalog = this.#followedCatalog.cell
  }

  start(): void {
    this.#line.start()
  }

  get link(): Readable<LinkState> {
    return this.#line.link
  }

  get connection(): LeaderConnection | null {
    return this.#line.connection
  }

  session(sessionId: string): Readable<SessionView> {
    return this.#session(sessionId).followed.cell
  }

  history(sessionId: string): Readable<HistoryView> {
    return this.#session(sessionId).history.cell
  }

  loadEarlier(sessionId: string): Promise<void> {
    return this.#session(sessionId).history.loadEarlier()
  }

  retryNow(): void {
    this.#line.retryNow()
    this.#followedCatalog.retry()
    for (const { followed } of this.#sessions.values()) followed.retry()
  }

  async close(): Promise<void> {
    this.#followedCatalog.stop()
    for (const { followed } of this.#sessions.values()) followed.stop()
    await this.#line.close()
    await this.#copies.close()
  }

  #session(sessionId: string): SharedSession {
    const session = this.#sessions.get(sessionId) ?? this.#share(sessionId)
    this.#touch(sessionId, session)
    return session
  }

  #touch(sessionId: string, session: SharedSession): void {
    this.#sessions.delete(sessionId)
    this.#sessions.set(sessionId, session)
    this.#forgetIdle()
  }

  #share(sessionId: string): SharedSession {
    const history = new History({
      sessionId,
      line: this.#line,
      copies: this.#copies,
      grouping: this.#grouping,
      clock: this.#surroundings.clock,
      session: () => session.followed.cell,
    })
    const session: SharedSession = { history, followed: this.#followSession(sessionId, () => session) }
    return session
  }

  #forgetIdle(): void {
    const idle = [...this.#sessions].filter(([, { followed }]) => !followed.isActive)
    for (const [sessionId] of idle.slice(0, -LIMITS.storeIdleSessions)) this.#sessions.delete(sessionId)
  }

  #followCatalog(): Followed<readonly CatalogRow[], CatalogView> {
    return new Followed({
      line: this.#line,
      grouping: this.#grouping,
      surroundings: this.#surroundings,
      open: async connection => followableCatalog(await connection.openCatalog(), connection.closed),
      copy: () =>
        this.#copies.read(async reader => {
          const { freshness, ...rows } = await reader.catalog()
          const value = Object.freeze(Object.values(rows) as CatalogRow[])
          const isKnown = value.length > 0 || freshness.asOf !== null
          return isKnown ? { rootId: reader.rootId, value, asOf: freshness.asOf, aside: null } : null
        }),
      isOfLostPast: () => false,
      view: catalogView,
      onMissing: () => () => {},
    })
  }

  #followSession(sessionId: string, shared: () => SharedSession): FollowedSession {
    return new Followed<SessionProjection, SessionView>({
      line: this.#line,
      grouping: this.#grouping,
      surroundings: this.#surroundings,
      open: async connection => followableSession(await connection.openSessionSubscription({ sessionId })),
      copy: () =>
        this.#copies.read(async reader => {
          const kept = await reader.session(sessionId)
          const aside = await asideOf(reader, sessionId)
          if (kept === null) return aside && { rootId: reader.rootId, value: null, asOf: null, aside }
          const { freshness, ...projection } = kept
          return { rootId: reader.rootId, value: Object.freeze(projection), asOf: freshness.asOf, aside }
        }),
      isOfLostPast,
      view: sessionView,
      // It may have been forgotten between being asked for and being read.
      onRead: () => this.#touch(sessionId, shared()),
      onValue: projection => shared().history.follow(projection),
      onMissing: found => this.#onListed(sessionId, found),
    })
  }

  /** Calls once the catalog has the session. */
  #onListed(sessionId: string, found: () => void): () => void {
    const stop = this.catalog.subscribe(() => {
      const isListed = this.catalog.getSnapshot().rows?.some(row => row.sessionId === sessionId) ?? false
      if (isListed) found()
    })
    return stop
  }
}

async function asideOf(reader: OfflineReader, sessionId: string): Promise<SessionView['aside']> {
  const kept = await reader.aside(sessionId)
  if (kept === null) return null
  const { freshness, ...projection } = kept
  return Object.freeze({ projection: Object.freeze(projection), since: freshness.asOf })
}
