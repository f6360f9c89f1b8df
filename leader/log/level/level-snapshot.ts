import type { Level } from 'level'
import type { KeyRange } from '../keys.ts'
import type { FrozenTable, ScanOptions } from '../table.ts'
import { openValue } from './checked-value.ts'
import { drain, SCAN_STEP_BYTES, SCAN_STEP_ENTRIES } from './drain.ts'
import { storageFault } from './storage-error.ts'

type Database = Level<string, Uint8Array>

/** A snapshot of an open LevelDB. It ends with the handle it was taken of: whoever still reads then gets a `storage_fault`. Source: D3. */
export class LevelSnapshot implements FrozenTable {
  readonly #database: Database
  readonly #snapshot: ReturnType<Database['snapshot']>
  readonly #sizeOf: (range: KeyRange) => Promise<number>

  constructor(database: Database, sizeOf: (range: KeyRange) => Promise<number>) {
    this.#database = database
    this.#snapshot = database.snapshot()
    this.#sizeOf = sizeOf
  }

  get isOpen(): boolean {
    return this.#database.status === 'open'
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    try {
      const stored = this.#database.getSync(key, { snapshot: this.#snapshot })
      return stored === undefined ? undefined : openValue(key, stored)
    } catch (error) {
      throw storageFault(error, 'reading')
    }
  }

  async scan(options: ScanOptions): Promise<(readonly [string, Uint8Array])[]> {
    try {
      const entries = await drain(this.#database.iterator(this.#options(options)))
      return entries.map(([key, stored]) => [key, openValue(key, stored)] as const)
    } catch (error) {
      throw storageFault(error, 'reading')
    }
  }

  async keys(options: ScanOptions): Promise<string[]> {
    try {
      return await drain(this.#database.keys(this.#options(options)))
    } catch (error) {
      throw storageFault(error, 'reading')
    }
  }

  sizeOf(range: KeyRange): Promise<number> {
    return this.#sizeOf(range)
  }

  async *pages(range: Partial<KeyRange> = {}): AsyncGenerator<readonly (readonly [string, Uint8Array])[]> {
    const iterator = this.#database.iterator({
      ...range,
      snapshot: this.#snapshot,
      highWaterMarkBytes: SCAN_STEP_BYTES,
      fillCache: false,
    })
    try {
      for (;;) {
        const page = await iterator.nextv(SCAN_STEP_ENTRIES)
        if (page.length === 0) return
        yield page
      }
    } catch (error) {
      throw storageFault(error, 'reading')
    } finally {
      await iterator.close()
    }
  }

  async close(): Promise<void> {
    await this.#snapshot.close()
  }

  #options({ gte, lt, limit, reverse = false }: ScanOptions) {
    return { gte, lt, limit, reverse, highWaterMarkBytes: SCAN_STEP_BYTES, snapshot: this.#snapshot }
  }
}
