import type { KeyRange } from './keys.ts'

/** A value to put under a key, or to delete where `value` is null. */
export interface Op {
  readonly key: string
  readonly value: Uint8Array | null
}

/** Which keys to read, at most `limit` of them; the greatest ones first, when reversed. */
export interface ScanOptions extends KeyRange {
  readonly limit: number
  readonly reverse?: boolean
}

/** Keys sorted by bytes, each with a value: what a store reads from. A scan sees one state of all keys. */
export interface Table {
  get(key: string): Promise<Uint8Array | undefined>
  scan(options: ScanOptions): Promise<readonly (readonly [key: string, value: Uint8Array])[]>
  /** As `scan`, without values. */
  keys(options: ScanOptions): Promise<readonly string[]>
}
