/**
 * What an entry is about: the catalog of a root, a session's projection, the older history of a session that was looked at, or a session's
 * projection from before the leader's root went back (V6).
 */
export type CacheKind = 'catalog' | 'session' | 'history' | 'aside'

/** Names an entry; `id` is a session's id, '' for the catalog. */
export interface CacheKey {
  readonly rootId: string
  readonly kind: CacheKind
  readonly id: string
}

/**
 * What was last seen of something. `asOf` is the leader's time of the last proof that it was true, `savedAt` the local time of writing;
 * both in ms. Source: O1, E1.
 */
export interface CacheEntry<T = unknown> {
  readonly hostEpoch: string
  readonly asOf: number | null
  readonly savedAt: number
  readonly value: T
}

/**
 * Where a replica keeps what it saw, shared by several processes or tabs. Nothing here is an error at the user: what is torn, foreign or
 * cannot be read is not there, what cannot be written is not kept. The least recently used entries go first where there are too many
 * bytes. Source: O1, O4.
 */
export interface ReplicaCache {
  /** The entry, or null. Reading counts as use. */
  read<T>(key: CacheKey): Promise<CacheEntry<T> | null>
  /** Puts an entry in the old one's place, whole or not at all. */
  write(key: CacheKey, entry: CacheEntry): Promise<void>
  remove(key: CacheKey): Promise<void>
  /** Remembers which root an address led to, so that it can be read without it. */
  writeAddress(address: string, rootId: string): Promise<void>
  readAddress(address: string): Promise<string | null>
  /** Removes everything; gives how many bytes that were. */
  clear(): Promise<number>
  close(): Promise<void>
}
