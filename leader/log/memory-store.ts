import type { FailedBatch } from './commit/committer.ts'
import type { Fate } from './commit/outcomes.ts'
import { BATCH_KEY, type KeyRange } from './keys.ts'
import { LogStore } from './log-store.ts'
import type { AppendOutcome, Store } from './store.ts'
import type { FrozenTable, Op, ScanOptions, Table } from './table.ts'
import { decodeNumber } from './values.ts'

/** Keys and values in memory. It outlives the stores opened on it, as a disk does. */
export class MemoryDisk implements Table {
  readonly #values = new Map<string, Uint8Array>()
  #sorted: string[] = []
  #isSorted = true

  async freeze(): Promise<FrozenTable> {
    const copy = new MemoryDisk()
    copy.apply([...this.#values].map(([key, value]) => ({ key, value })))
    return {
      isOpen: true,
      get: key => copy.get(key),
      scan: options => copy.scan(options),
      keys: options => copy.keys(options),
      sizeOf: range => copy.sizeOf(range),
      async *pages(range = { gte: '', lt: '\x7f' }) {
        yield await copy.scan({ ...range, limit: copy.#values.size })
      },
      close: async () => {},
    }
  }

  async sizeOf(range: KeyRange): Promise<number> {
    const keys = this.#range({ ...range, limit: this.#values.size })
    return keys.reduce((sum, key) => sum + key.length + (this.#values.get(key)?.length ?? 0), 0)
  }

  async squeeze(): Promise<void> {}

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.#values.get(key)
  }

  async scan(options: ScanOptions): Promise<readonly (readonly [string, Uint8Array])[]> {
    return this.#range(options).map(key => [key, this.#values.get(key) ?? new Uint8Array()])
  }

  async keys(options: ScanOptions): Promise<readonly string[]> {
    return this.#range(options)
  }

  /** Applies operations whole, with copies of their values. */
  apply(ops: readonly Op[]): void {
    for (const { key, value } of ops) {
      if (value === null) {
        if (this.#values.delete(key)) this.#isSorted = false
        continue
      }
      if (!this.#values.has(key)) this.#isSorted = false
      this.#values.set(key, value.slice())
    }
  }

  #range({ gte, lt, limit, reverse = false }: ScanOptions): string[] {
    if (!this.#isSorted) this.#sorted = [...this.#values.keys()].sort()
    this.#isSorted = true
    const inside = this.#sorted.filter(key => key >= gte && key < lt)
    return (reverse ? inside.reverse() : inside).slice(0, limit)
  }
}

/**
 * How a batch fails. `failed`: absent, its items get `failed`. `full`: absent, its items get `full`, and so do all later ones
 * until `freeSpace`. `unknown_stored` and `unknown_absent`: its items get `unknown`, and it is stored or it is not.
 */
export type MemoryFailure = 'failed' | 'full' | 'unknown_stored' | 'unknown_absent'

/** What a test does to a store in memory. */
export interface MemoryFaults {
  /** From the next batch on, writes hang until `release`. */
  hold(): void
  release(): void
  /** Resolves when a batch hangs. */
  held(): Promise<void>
  /** The next batch fails in this way; called several times, the ones after it too. */
  failNext(failure: MemoryFailure): void
  freeSpace(): void
  /** From now on it is not learnt what became of an unknown batch, and all is refused, until `learn`. */
  keepUnknown(): void
  learn(): void
  /** Another leader takes the session: its claim is lost, and `acquire` says who serves it until `returnSession`. */
  takeSession(session: string, by: string, url: string): void
  returnSession(session: string): void
}

/** Defaults: a new disk, fence 1, ownership always proved. */
export interface MemoryStoreOptions {
  readonly disk?: MemoryDisk
  readonly fence?: number
  readonly prove?: () => void | Promise<void>
}

/** A store in memory, with what it stands on. */
export type MemoryStore = Store & { readonly faults: MemoryFaults; readonly disk: MemoryDisk }

const FULL: AppendOutcome = { kind: 'full' }
const FAILED: AppendOutcome = { kind: 'failed', code: 'persistence_failed', message: 'the batch was made to fail' }

/** Opens a store in memory, on a disk that was used before or on a new one. It keeps what the contract says and fails on demand. */
export async function openMemoryStore(options: MemoryStoreOptions = {}): Promise<MemoryStore> {
  const { disk = new MemoryDisk(), fence = 1, prove } = options
  const writes = new FailingWrites(disk)
  const holders = new Map<string, { by: string; url: string }>()
  const memory = { isKeptUnknown: false }
  const count = await disk.get(BATCH_KEY)
  const store: LogStore = new LogStore({
    table: disk,
    fence,
    batchNumber: count === undefined ? 0 : decodeNumber(count),
    write: ops => writes.write(ops),
    ...(prove === undefined ? {} : { prove }),
    settle: async failed => settle(store, failed, memory),
    holder: session => holders.get(session),
    close: async () => {},
  })
  const faults: MemoryFaults = {
    hold: () => writes.hold(),
    release: () => writes.release(),
    held: () => writes.held(),
    failNext: failure => writes.failNext(failure),
    freeSpace: () => store.setHealth('ok', null),
    keepUnknown: () => {
      memory.isKeptUnknown = true
    },
    learn: () => {
      memory.isKeptUnknown = false
      store.setHealth('ok', null)
    },
    takeSession: (session, by, url) => {
      holders.set(session, { by, url })
      store.loseClaim(session)
    },
    returnSession: session => {
      holders.delete(session)
    },
  }
  return Object.assign(store, { faults, disk })
}

class InjectedFailure extends Error {
  readonly failure: MemoryFailure

  constructor(failure: MemoryFailure) {
    super(`the batch was made to fail: ${failure}`)
    this.failure = failure
  }
}

class FailingWrites {
  readonly #disk: MemoryDisk
  readonly #failures: MemoryFailure[] = []
  #isHolding = false
  #isHanging = false
  #released: (() => void)[] = []
  #watchers: (() => void)[] = []

  constructor(disk: MemoryDisk) {
    this.#disk = disk
  }

  async write(ops: readonly Op[]): Promise<void> {
    if (this.#isHolding) await this.#hang()
    const failure = this.#failures.shift()
    if (failure === undefined || failure === 'unknown_stored') this.#disk.apply(ops)
    if (failure !== undefined) throw new InjectedFailure(failure)
  }

  failNext(failure: MemoryFailure): void {
    this.#failures.push(failure)
  }

  hold(): void {
    this.#isHolding = true
  }

  release(): void {
    this.#isHolding = false
    for (const resolve of this.#released.splice(0)) resolve()
  }

  held(): Promise<void> {
    if (this.#isHanging) return Promise.resolve()
    return new Promise(resolve => this.#watchers.push(resolve))
  }

  async #hang(): Promise<void> {
    this.#isHanging = true
    for (const resolve of this.#watchers.splice(0)) resolve()
    await new Promise<void>(resolve => this.#released.push(resolve))
    this.#isHanging = false
  }
}

/** As the store on a disk does it: while the fate is unknown everything else is refused. */
function settle(store: LogStore, { error }: FailedBatch, memory: { readonly isKeptUnknown: boolean }): Fate {
  if (!(error instanceof InjectedFailure)) throw error
  if (error.failure === 'failed') return { kind: 'absent', outcome: FAILED }
  if (error.failure === 'full') {
    store.setHealth('full', FULL)
    return { kind: 'absent', outcome: FULL }
  }
  store.setHealth('recovering', FAILED)
  setImmediate(() => {
    if (!memory.isKeptUnknown) store.setHealth('ok', null)
  })
  return { kind: 'unknown' }
}
