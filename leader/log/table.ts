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
  /** One state of all keys, kept while others write. Close it. */
  freeze(): Promise<FrozenTable>
  /** About how many bytes on the disk a range takes; what was written last may not be counted yet. */
  sizeOf(range: KeyRange): Promise<number>
  /** Gives the disk space of what was deleted in a range back. */
  squeeze(range: KeyRange): Promise<void>
}

/** One state of all keys. */
export interface FrozenTable extends Pick<Table, 'get' | 'scan' | 'keys' | 'sizeOf'> {
  /** False once the database it was taken of is closed: what cannot be read from then on is not damaged. */
  readonly isOpen: boolean
  /** All entries in order, or those of a range, values as they lie on the disk: unchecked, for who copies them. */
  pages(range?: KeyRange): AsyncIterable<readonly (readonly [key: string, stored: Uint8Array])[]>
  close(): Promise<void>
}
