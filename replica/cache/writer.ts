import type { CatalogRow, Freshness, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptEntry, TranscriptPage } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { CacheSink, Clock } from '../client/ports.ts'
import type { CacheKey, ReplicaCache } from './contract.ts'

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
  #cancel: (() => void) | null = null
  #writing: Promise<void> = Promise.resolve()
  #historyWork: Promise<void> = Promise.resolve()

  constructor(cache: ReplicaCache, clock: Clock) {
    this.#cache = cache
    this.#clock = clock
  }

  session(rootId: string, projection: SessionProjection, { asOf }: Freshness): void {
    const { hostEpoch } = projection
    this.#note({
      key: { rootId, kind: 'session', id: projection.session.sessionId },
      hostEpoch,
      asOf,
      value: projection,
    })
  }

  catalog(
    rootId: string,
    place: { readonly hostEpoch: string; readonly asOf: number | null },
    rows: readonly CatalogRow[],
  ): void {
    this.#note({ key: { rootId, kind: 'catalog', id: '' }, ...place, value: rows })
  }

  removed(rootId: string, sessionId: string): void {
    for (const kind of ['session', 'history'] as const) {
      const key: CacheKey = { rootId, kind, id: sessionId }
      this.#pending.delete(nameOf(key))
      this.#writing = this.#writing.then(() => this.#cache.remove(key))
    }
  }

  history(
    rootId: string,
    place: { readonly hostEpoch: string; readonly revision: number; readonly sessionId: string },
    page: TranscriptPage,
  ): void {
    const key: CacheKey = { rootId, kind: 'history', id: place.sessionId }
    this.#historyWork = this.#historyWork.then(async () => {
      const known = (await this.#cache.read<CachedHistory>(key))?.value
      const value = mergeHistory(known, page.entries, place.revision)
      await this.#cache.write(key, { hostEpoch: place.hostEpoch, asOf: null, savedAt: Date.now(), value })
    })
  }

  address(address: string, rootId: string): void {
    this.#writing = this.#writing.then(() => this.#cache.writeAddress(address, rootId))
  }

  /** Writes what waits; resolves when it is written. Source: V12. */
  async flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    this.#write([...this.#pending.keys()])
    await this.#writing
    await this.#historyWork
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
      const { key, hostEpoch, asOf, value } = pending
      this.#writing = this.#writing.then(() => this.#cache.write(key, { hostEpoch, asOf, savedAt: Date.now(), value }))
    }
  }
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
