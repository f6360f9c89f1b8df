import type { InteractionSnapshot } from '../../schema/entities/interaction.ts'
import type { CatalogRow, Freshness, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { LeaderConnection } from '../client/types.ts'

/** A value that changes, as `useSyncExternalStore` wants it: the same snapshot until something changes. */
export interface Readable<T> {
  getSnapshot(): T
  subscribe(listener: () => void): () => void
}

/**
 * How it stands with the leader; `since` and `retryAt` by the local clock, ms. `lost` and `connecting` come back by themselves; `unauthorized` and
 * `incompatible` need a person.
 */
export type LinkState =
  | { readonly kind: 'connecting'; readonly since: number }
  | { readonly kind: 'connected'; readonly freshness: Freshness }
  | {
      readonly kind: 'lost'
      readonly freshness: Freshness
      readonly since: number
      readonly reason: string
      /** When the next attempt is made, where that is known here. */
      readonly retryAt?: number
    }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'incompatible'; readonly leader: string; readonly replica: string }
  | { readonly kind: 'closed'; readonly reason: string }

/** The sessions. `rows` is null until something is known, from the leader or from a copy. */
export interface CatalogView {
  readonly rows: readonly CatalogRow[] | null
  readonly freshness: Freshness
}

/** A session as it is seen here: from the leader, or the copy that was last seen; null while nothing is known. */
export interface SessionView {
  readonly projection: SessionProjection | null
  readonly freshness: Freshness
  /** The newer state that was seen before the leader's root went back. Source: V6. */
  readonly aside: { readonly projection: SessionProjection; readonly since: number | null } | null
  /** Why there is nothing to see, or never will be: `not_found`, `session_damaged`, … */
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** Older entries than the projection has, oldest first, as far as they were loaded. */
export interface HistoryView {
  readonly entries: readonly TranscriptEntry[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** What waits for a person, over all sessions, oldest first; null until it was read. What it was at the last look while there is no leader. */
export interface PendingView {
  readonly interactions: readonly InteractionSnapshot[] | null
  readonly freshness: Freshness
}

/** The transcript of a session as far as it is known here: older pages that were loaded and the live part, joined without gaps or doubles. */
export interface TranscriptView {
  readonly entries: readonly TranscriptEntry[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly failure: { readonly code: string; readonly message: string } | null
}

/**
 * What screens read. It begins with copies, finds the leader, keeps what it shows through losses, and shares subscriptions: a session is
 * opened by its first subscriber and closed a second after its last one.
 */
export interface ReplicaStore {
  readonly link: Readable<LinkState>
  readonly catalog: Readable<CatalogView>
  session(sessionId: string): Readable<SessionView>
  history(sessionId: string): Readable<HistoryView>
  /** Loads one page more of older entries, from the leader, else from copies. Never throws. */
  loadEarlier(sessionId: string): Promise<void>
  /** The connection, or null while none was ever there. */
  readonly connection: LeaderConnection | null
  /** Tries again now. */
  retryNow(): void
  close(): Promise<void>
}
