import type { CatalogRow, Freshness, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptEntry, TranscriptPage } from '../../schema/entities/transcript.ts'
import { deepFreeze } from '../../schema/frozen.ts'
import { LIMITS } from '../../schema/limits.ts'
import { ReplicaOperationError } from '../client/types.ts'
import type { CacheKey, ReplicaCache } from './contract.ts'
import type { CachedHistory } from './writer.ts'

/** Something as it was last seen: `freshness.state` is `offline`, `asOf` the leader's time of its last proof. */
export type Kept<T> = T & { readonly freshness: Freshness }

/** Reads what this replica saw, without any leader. Everything is frozen; nothing can be changed here. Source: O1, O2. */
export class OfflineReader {
  readonly rootId: string
  readonly #cache: ReplicaCache

  constructor(rootId: string, cache: ReplicaCache) {
    this.rootId = rootId
    this.#cache = cache
  }

  /** The sessions, most recently active first; none, and `asOf` null, if the list was never seen. */
  async catalog(): Promise<Kept<readonly CatalogRow[]>> {
    const entry = await this.#cache.read<readonly CatalogRow[]>({ rootId: this.rootId, kind: 'catalog', id: '' })
    return deepFreeze(Object.assign([...(entry?.value ?? [])], { freshness: offlineAsOf(entry?.asOf ?? null) }))
  }

  /** A session as it was last shown; null if it was never opened here. */
  async session(sessionId: string): Promise<Kept<SessionProjection> | null> {
    const entry = await this.#cache.read<SessionProjection>({ rootId: this.rootId, kind: 'session', id: sessionId })
    return entry === null ? null : deepFreeze({ ...entry.value, freshness: offlineAsOf(entry.asOf) })
  }

  /** A session as it was shown before the leader's root went back, read-only; null unless that happened. Source: V6. */
  async aside(sessionId: string): Promise<Kept<SessionProjection> | null> {
    const entry = await this.#cache.read<SessionProjection>({ rootId: this.rootId, kind: 'aside', id: sessionId })
    return entry === null ? null : deepFreeze({ ...entry.value, freshness: offlineAsOf(entry.asOf) })
  }

  /**
   * The newest `limit` entries before `before` (or the newest at all), as far back as this replica has read. `hasMore` says that the
   * session has older ones, here or on the leader. Throws ReplicaOperationError `not_found`.
   */
  async transcript(
    sessionId: string,
    options: { readonly before?: number; readonly limit?: number } = {},
  ): Promise<TranscriptPage> {
    const { before = Number.POSITIVE_INFINITY, limit = LIMITS.transcriptPageEntries } = options
    const session = await this.session(sessionId)
    if (session === null) throw new ReplicaOperationError('not_found', 'this session was never opened here')
    const key: CacheKey = { rootId: this.rootId, kind: 'history', id: sessionId }
    const history = (await this.#cache.read<CachedHistory>(key))?.value
    const older = history !== undefined && history.revision <= session.revision ? history.entries : []
    const entries = contiguous(older, session.transcript.entries)
      .filter(entry => entry.seq < before)
      .slice(-limit)
    const firstSeq = entries[0]?.seq ?? 0
    return deepFreeze({ entries, firstSeq, lastSeq: entries.at(-1)?.seq ?? 0, hasMore: firstSeq > 1 })
  }

  close(): Promise<void> {
    return this.#cache.close()
  }
}

function offlineAsOf(asOf: number | null): Freshness {
  return { state: 'offline', asOf }
}

/** The entries of the live part with all older ones that follow on to it without a gap. */
function contiguous(older: readonly TranscriptEntry[], live: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  let next = live[0]?.seq ?? 0
  const found: TranscriptEntry[] = []
  for (let i = older.length - 1; i >= 0; i--) {
    const entry = older[i] as TranscriptEntry
    if (entry.seq >= next) continue
    if (entry.seq !== next - 1) break
    found.push(entry)
    next = entry.seq
  }
  return [...found.reverse(), ...live]
}
