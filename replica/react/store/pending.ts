import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { Freshness } from '../../../schema/entities/projection.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { realSurroundings } from '../../client/ports.ts'
import type { LeaderConnection } from '../../client/types.ts'
import type { PendingView, Readable, ReplicaStore } from '../types.ts'
import { Cell, Grouping } from './cell.ts'

const NEVER: Freshness = Object.freeze({ state: 'offline', asOf: null })
const NOTHING: PendingView = Object.freeze({ interactions: null, freshness: NEVER })

/** One for each store, shared by all who read it. */
const KNOWN = new WeakMap<ReplicaStore, Pending>()

/** The open interactions over all sessions of a store's leader, oldest first. Source: I4, experience 10.2. */
export function pendingOf(store: ReplicaStore): Readable<PendingView> {
  const known = KNOWN.get(store) ?? new Pending(store)
  KNOWN.set(store, known)
  return known.cell
}

/** Reads them while somebody wants to know: when the catalog says that their number is another one, and now and then while there are any. */
class Pending {
  readonly cell: Cell<PendingView>
  readonly #store: ReplicaStore
  #stops: (() => void)[] = []
  #isReading = false
  /** What the catalog said when they were read last; null: not read under this leader. */
  #readAt: string | null = null
  #cancelRefresh: (() => void) | null = null

  constructor(store: ReplicaStore) {
    this.#store = store
    this.cell = new Cell(NOTHING, new Grouping(queueMicrotask), { begin: () => this.#begin(), end: () => this.#end() })
  }

  #begin(): void {
    const look = (): void => void this.#look()
    this.#stops = [this.#store.catalog.subscribe(look), this.#store.link.subscribe(look)]
    look()
  }

  #end(): void {
    for (const stop of this.#stops) stop()
    this.#cancelRefresh?.()
    this.#cancelRefresh = null
    this.#readAt = null
    this.#show(this.cell.getSnapshot().interactions)
  }

  async #look(): Promise<void> {
    // A leader that is gone does not answer: what is under way may stay so until it is back.
    if (this.#liveConnection() === null) this.#readAt = null
    this.#show(this.cell.getSnapshot().interactions)
    while (this.cell.isRead && !this.#isReading) {
      const connection = this.#liveConnection()
      const said = this.#said()
      if (connection === null || said === this.#readAt) return
      this.#isReading = true
      const found = await readAll(connection).catch(() => null)
      this.#isReading = false
      this.#refreshLater(found === null || found.length > 0)
      if (found === null) return
      this.#readAt = this.#liveConnection() === connection ? said : null
      this.#show(found)
    }
  }

  #refreshLater(isNeeded: boolean): void {
    this.#cancelRefresh?.()
    if (!isNeeded || !this.cell.isRead) return
    this.#cancelRefresh = realSurroundings.clock.after(LIMITS.storePendingRefreshMs, () => {
      this.#readAt = null
      void this.#look()
    })
  }

  #liveConnection(): LeaderConnection | null {
    const link = this.#store.link.getSnapshot()
    return link.kind === 'connected' && link.freshness.state === 'live' ? this.#store.connection : null
  }

  /** What the catalog tells of them, and who does. */
  #said(): string {
    const waiting = this.#store.catalog.getSnapshot().rows?.filter(({ pendingCount }) => pendingCount > 0) ?? []
    const rows = waiting.map(({ sessionId, pendingCount, lastActivityAt }) => [sessionId, pendingCount, lastActivityAt])
    return JSON.stringify([this.#store.connection?.hostEpoch, rows])
  }

  #show(found: readonly InteractionSnapshot[] | null): void {
    const known = this.cell.getSnapshot()
    const isSame = JSON.stringify(found) === JSON.stringify(known.interactions)
    const interactions = isSame ? known.interactions : Object.freeze([...(found ?? [])])
    const link = this.#store.link.getSnapshot()
    const state = this.#liveConnection() === null ? 'offline' : this.#readAt === null ? 'syncing' : 'live'
    const asOf = 'freshness' in link ? link.freshness.asOf : known.freshness.asOf
    const isAsTrue = known.freshness.state === state
    if (isSame && isAsTrue) return
    this.cell.set(
      Object.freeze({ interactions, freshness: isAsTrue ? known.freshness : Object.freeze({ state, asOf }) }),
    )
  }
}

async function readAll(connection: LeaderConnection): Promise<readonly InteractionSnapshot[]> {
  const found: InteractionSnapshot[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < LIMITS.storePendingPages; pages++) {
    const input: { cursor?: string } = cursor === null ? {} : { cursor }
    const page: { interactions: InteractionSnapshot[]; nextCursor: string | null } = await connection.request(
      'interaction.list',
      input,
    )
    found.push(...page.interactions)
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return found
}
