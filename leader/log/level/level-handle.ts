import { Level } from 'level'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { KeyRange } from '../keys.ts'
import type { FrozenTable, Op, ScanOptions, Table } from '../table.ts'
import { checkedValue, openValue } from './checked-value.ts'
import { drain, SCAN_STEP_BYTES } from './drain.ts'
import { LevelSnapshot } from './level-snapshot.ts'
import { storageFault } from './storage-error.ts'

type Database = Level<string, Uint8Array>

/** What LevelDB can beside what every engine of this kind can; the package's types do not tell. */
interface SpaceOf {
  approximateSize(start: string, end: string): Promise<number>
  compactRange(start: string, end: string): Promise<void>
}

const spaceOf = (database: Database): SpaceOf => database as unknown as SpaceOf

const SYNCED = { sync: true } as const

/** Above this a batch is given as an array: a chained one keeps its native memory until the garbage collector comes by. */
const CHAINED_BATCH_BYTES = 1024 * 1024

async function openDatabase(path: string, createIfMissing: boolean, sizes: HandleSizes): Promise<Database> {
  const database: Database = new Level<string, Uint8Array>(path, { keyEncoding: 'utf8', valueEncoding: 'view' })
  await database.open({
    createIfMissing,
    writeBufferSize: sizes.writeBufferBytes,
    cacheSize: sizes.cacheBytes,
  })
  return database
}

/** Memory of a database: what waits to become a table, and what is kept of tables. */
export interface HandleSizes {
  readonly writeBufferBytes: number
  readonly cacheBytes: number
}

/**
 * An open LevelDB that can be exchanged for a newly opened one under its readers: a scan ends before the old one is closed, and
 * what comes while none is open waits for the new one. Nothing else in the process touches the directory. Source: R4, E7.
 */
export class LevelHandle implements Table {
  readonly #path: string
  readonly #sizes: HandleSizes
  #database: Database | null
  #writtenBytes = 0
  #scans = 0
  #scansEnded: (() => void) | null = null
  #opened: PromiseWithResolvers | null = null

  private constructor(path: string, sizes: HandleSizes, database: Database) {
    this.#path = path
    this.#sizes = sizes
    this.#database = database
  }

  /** Opens a database, as a new one only where `create` says so. Rejects with the error of LevelDB. Source: R7. */
  static async open(path: string, create: boolean, sizes: HandleSizes): Promise<LevelHandle> {
    return new LevelHandle(path, sizes, await openDatabase(path, create, sizes))
  }

  /** False while it is closed and could not be opened again yet. */
  get isOpen(): boolean {
    return this.#database !== null
  }

  /** At most this many bytes are in logs, and so become tables when the database is opened again. */
  get reopenBytes(): number {
    return Math.min(this.#writtenBytes, 2 * this.#sizes.writeBufferBytes) + LIMITS.storageProbeBytes
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const database = this.#database ?? (await this.#current())
    try {
      const stored = database.getSync(key)
      return stored === undefined ? undefined : openValue(key, stored)
    } catch (error) {
      throw storageFault(error, 'reading')
    }
  }

  async scan({ gte, lt, limit, reverse = false }: ScanOptions): Promise<(readonly [string, Uint8Array])[]> {
    const range = { gte, lt, limit, reverse, highWaterMarkBytes: SCAN_STEP_BYTES }
    return await this.#scanning(async database =>
      (await drain(database.iterator(range))).map(([key, stored]) => [key, openValue(key, stored)] as const),
    )
  }

  async keys({ gte, lt, limit, reverse = false }: ScanOptions): Promise<string[]> {
    const range = { gte, lt, limit, reverse, highWaterMarkBytes: SCAN_STEP_BYTES }
    return await this.#scanning(database => drain(database.keys(range)))
  }

  async freeze(): Promise<FrozenTable> {
    return new LevelSnapshot(this.#database ?? (await this.#current()), range => this.sizeOf(range))
  }

  async sizeOf({ gte, lt }: KeyRange): Promise<number> {
    return await this.#scanning(database => spaceOf(database).approximateSize(gte, lt))
  }

  async squeeze({ gte, lt }: KeyRange): Promise<void> {
    await this.#scanning(database => spaceOf(database).compactRange(gte, lt))
  }

  /** Writes operations whole and synced. Rejects with the error of LevelDB; then this database must not be written again. */
  async write(ops: readonly Op[], bytes: number): Promise<void> {
    const database = this.#database
    if (database === null) throw new HeadwaterError('storage_fault', 'the database is not open', { kind: 'other' })
    this.#writtenBytes += bytes
    if (bytes > CHAINED_BATCH_BYTES) {
      await database.batch(
        ops.map(({ key, value }) =>
          value === null ? { type: 'del', key } : { type: 'put', key, value: checkedValue(key, value) },
        ),
        SYNCED,
      )
      return
    }
    const batch = database.batch()
    for (const { key, value } of ops) {
      if (value === null) batch.del(key)
      else batch.put(key, checkedValue(key, value))
    }
    await batch.write(SYNCED)
  }

  /** Writes entries as they are stored, in a synced batch. Rejects with the error of LevelDB. */
  async writeStored(entries: readonly (readonly [key: string, stored: Uint8Array])[]): Promise<void> {
    const database = this.#database ?? (await this.#current())
    await database.batch(
      entries.map(([key, value]) => ({ type: 'put', key, value })),
      SYNCED,
    )
  }

  /**
   * Closes the database, if it is open, and opens it again. If that fails it rejects with the error of LevelDB, and readers wait
   * for the next try.
   */
  async reopen(): Promise<void> {
    const old = this.#database
    this.#database = null
    this.#opened ??= withResolvers()
    if (old !== null) await this.#closeQuietly(old)
    const database = await openDatabase(this.#path, false, this.#sizes)
    this.#writtenBytes = 0
    this.#database = database
    this.#opened.resolve()
    this.#opened = null
  }

  /** Gives up on opening again: who waits for it, and who comes later, gets a `storage_fault`. Without effect on an open one. */
  abandon(): void {
    this.#opened?.resolve()
    this.#opened = null
  }

  /** Waits for scans, then closes for good. */
  async close(): Promise<void> {
    const database = this.#database
    this.#database = null
    this.abandon()
    if (database !== null) await this.#closeQuietly(database)
  }

  async #closeQuietly(database: Database): Promise<void> {
    if (this.#scans > 0) {
      await new Promise<void>(resolve => {
        this.#scansEnded = resolve
      })
    }
    await database.close()
  }

  async #scanning<T>(scan: (database: Database) => Promise<T>): Promise<T> {
    const database = this.#database ?? (await this.#current())
    this.#scans += 1
    try {
      return await scan(database)
    } catch (error) {
      throw storageFault(error, 'reading')
    } finally {
      this.#scans -= 1
      if (this.#scans === 0) this.#scansEnded?.()
    }
  }

  async #current(): Promise<Database> {
    const opened = this.#opened
    if (opened === null) throw new HeadwaterError('storage_fault', 'the database is closed', { kind: 'closed' })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, LIMITS.storeReadWaitMs)
    })
    await Promise.race([opened.promise, late])
    clearTimeout(timer)
    if (this.#database === null) {
      throw new HeadwaterError('storage_fault', 'the database could not be opened again yet', { kind: 'closed' })
    }
    return this.#database
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}
