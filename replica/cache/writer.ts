import type { CatalogRow, Freshness, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptEntry, TranscriptPage } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import { lineageOf } from '../../schema/projection/lineage.ts'
import type { CacheSink, Clock } from '../client/ports.ts'
import type { CacheEntry, CacheKey, CacheKind, ReplicaCache } from './contract.ts'
import { type Dated, goneFrom, isListOfLostPast, isOfLostPast } from './lost-past.ts'

/** The older part of a session's transcript as far as it was looked at, in order of `seq`; `revision` is the session's at the last look. */
export interface CachedHistory {
  readonly revision: number
  readonly entries: readonly TranscriptEntry[]
}

interface Pending {
  readonly key: CacheKey
  readonly hostEpoch: string
  readonly asOf: number | null
  readonly value: unknown
}

/** Keeps what a connection shows: the newest state of each thing, at most once in two seconds, off the way of what is shown. Source: O1. */
export class CacheWriter implements CacheSink {
  readonly #cache: ReplicaCache
  readonly #clock: Clock
  readonly #pending = new Map<string, Pending>()
  readonly #writtenAtMs = new Map<string, number>()
  #rootId = ''
  /** The builds of the documents that are kept, by session. */
  readonly #generations = new Map<string, string>()
  /** Archived sessions whose copies are gone. */
  readonly #archived = new Set<string>()
  /** The list as it was told last; null before the first time. */
  #listed: readonly CatalogRow[] | null = null
  /** The lineage of the leader's root, once a session tells it. */
  #lineage: string | null = null
  #cancel: (() => void) | null = null
  #writing: Promise<void> = Promise.resolve()
  #historyWork: Promise<void> = Promise.resolve()

  constructor(cache: ReplicaCache, clock: Clock) {
    this.#cache = cache
    this.#clock = clock
  }

  session(rootId: string, projection: SessionProjection, { asOf }: Freshness): void {
    const { hostEpoch, session } = projection
    const { sessionId: id, isArchived } = session
    this.#enter(rootId)
    this.#lineage = lineageOf(projection.generation)
    if (isArchived) {
      if (!this.#archived.has(id)) this.#forget(rootId, id, false)
      return
    }
    this.#archived.delete(id)
    const key: CacheKey = { rootId, kind: 'session', id }
    if (this.#generations.get(id) !== projection.generation) this.#keepAside(key, { value: projection, asOf })
    this.#note({ key, hostEpoch, asOf, value: projection })
  }

  catalog(
    rootId: string,
    place: { readonly hostEpoch: string; readonly asOf: number | null },
    rows: readonly CatalogRow[],
  ): void {
    const key: CacheKey = { rootId, kind: 'catalog', id: '' }
    this.#enter(rootId)
    const before = this.#listed
    this.#listed = rows
    if (before === null) this.#do(async () => this.#compare(rootId, await this.#readRows(key), rows))
    else this.#compare(rootId, before, rows)
    this.#note({ key, ...place, value: rows })
  }

  removed(rootId: string, sessionId: string): void {
    this.#forget(rootId, sessionId, true)
  }

  history(
    rootId: string,
    place: { readonly hostEpoch: string; readonly revision: number; readonly sessionId: string },
    page: TranscriptPage,
  ): void {
    if (this.#archived.has(place.sessionId)) return
    const key: CacheKey = { rootId, kind: 'history', id: place.sessionId }
    this.#historyWork = this.#historyWork.then(async () => {
      const known = (await this.#cache.read<CachedHistory>(key))?.value
      const value = mergeHistory(known, page.entries, place.revision)
      await this.#cache.write(key, { hostEpoch: place.hostEpoch, asOf: null, savedAt: Date.now(), value })
    })
  }

  address(address: string, rootId: string): void {
    this.#do(() => this.#cache.writeAddress(address, rootId))
  }

  /** Writes what waits; resolves when it is written. Source: V12. */
  async flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    this.#write([...this.#pending.keys()])
    // Work that waits may find more to do.
    for (let last: Promise<void> | null = null; last !== this.#writing; ) {
      last = this.#writing
      await last
    }
    await this.#historyWork
  }

  /** What is known of one root says nothing about another. */
  #enter(rootId: string): void {
    if (rootId === this.#rootId) return
    this.#rootId = rootId
    this.#generations.clear()
    this.#archived.clear()
    this.#listed = null
    this.#lineage = null
  }

  #do(work: () => Promise<void> | void): void {
    this.#writing = this.#writing.then(work)
  }

  async #readRows(key: CacheKey): Promise<readonly CatalogRow[]> {
    return (await this.#cache.read<readonly CatalogRow[]>(key))?.value ?? []
  }

  /** Sessions that were archived or are no more take their copies with them. Source: O3, experience 5.3. */
  #compare(rootId: string, before: readonly CatalogRow[], rows: readonly CatalogRow[]): void {
    const mayBeLost = isListOfLostPast(before, rows)
    for (const id of goneFrom(before, rows)) this.#forget(rootId, id, true, mayBeLost)
    for (const { sessionId, isArchived } of rows) {
      if (!isArchived) this.#archived.delete(sessionId)
      else if (!this.#archived.has(sessionId)) this.#forget(rootId, sessionId, false)
    }
  }

  /** The copy from before the leader's root went back stays, read-only, beside the one that takes its place. Source: V6. */
  #keepAside(key: CacheKey, current: Dated<SessionProjection>): void {
    if (this.#generations.size >= LIMITS.openDocuments) this.#generations.clear()
    this.#generations.set(key.id, current.value.generation)
    const waiting = this.#pending.get(nameOf(key))
    this.#do(async () => {
      const shown = waiting === undefined ? await this.#cache.read(key) : entryOf(waiting)
      if (shown === null || !isOfLostPast(shown as CacheEntry<SessionProjection>, current)) return
      await this.#cache.write({ ...key, kind: 'aside' }, shown)
    })
  }

  /** Removes the copies of a session; one of a past that the root has lost is kept aside if `mayBeLost`, or where that is known. */
  #forget(rootId: string, id: string, isGone: boolean, mayBeLost = false): void {
    const key = (kind: CacheKind): CacheKey => ({ rootId, kind, id })
    for (const kind of ['session', 'history'] as const) this.#pending.delete(nameOf(key(kind)))
    this.#generations.delete(id)
    if (!isGone) {
      if (this.#archived.size >= LIMITS.catalogRows) this.#archived.clear()
      this.#archived.add(id)
    }
    const lineage = this.#lineage
    this.#do(async () => {
      const shown = isGone ? await this.#cache.read<SessionProjection>(key('session')) : null
      const isLost =
        shown !== null && (mayBeLost || (lineage !== null && lineageOf(shown.value.generation) !== lineage))
      if (isLost) await this.#cache.write(key('aside'), shown)
      else await this.#cache.remove(key('aside'))
      await this.#cache.remove(key('session'))
      await this.#cache.remove(key('history'))
    })
  }

  #note(pending: Pending): void {
    const name = nameOf(pending.key)
    if (this.#pending.size >= LIMITS.openDocuments && !this.#pending.has(name)) return
    this.#pending.set(name, pending)
    this.#cancel ??= this.#clock.after(LIMITS.cacheWriteTickMs, () => {
      this.#cancel = null
      this.#writeDue()
    })
  }

  #writeDue(): void {
    const nowMs = this.#clock.now()
    const due = [...this.#pending.keys()].filter(
      name => nowMs - (this.#writtenAtMs.get(name) ?? Number.NEGATIVE_INFINITY) >= LIMITS.cacheWriteIntervalMs,
    )
    this.#write(due)
    if (this.#pending.size === 0) return
    this.#cancel ??= this.#clock.after(LIMITS.cacheWriteTickMs, () => {
      this.#cancel = null
      this.#writeDue()
    })
  }

  #write(names: readonly string[]): void {
    for (const name of names) {
      const pending = this.#pending.get(name)
      if (pending === undefined) continue
      this.#pending.delete(name)
      this.#writtenAtMs.set(name, this.#clock.now())
      const { key } = pending
      this.#do(() => this.#cache.write(key, entryOf(pending)))
    }
  }
}

function entryOf({ hostEpoch, asOf, value }: Pending): CacheEntry {
  return { hostEpoch, asOf, savedAt: Date.now(), value }
}

/** What was known, with a page that was read since; a session that went back has no history but that page. Source: O1, O3. */
function mergeHistory(
  known: CachedHistory | undefined,
  page: readonly TranscriptEntry[],
  revision: number,
): CachedHistory {
  const bySeq = new Map<number, TranscriptEntry>()
  if (known !== undefined && known.revision <= revision) for (const entry of known.entries) bySeq.set(entry.seq, entry)
  for (const entry of page) bySeq.set(entry.seq, entry)
  const entries = [...bySeq.values()].sort((a, b) => a.seq - b.seq).slice(-LIMITS.cacheHistoryEntries)
  return { revision, entries }
}

function nameOf({ rootId, kind, id }: CacheKey): string {
  return `${rootId} ${kind} ${id}`
}
