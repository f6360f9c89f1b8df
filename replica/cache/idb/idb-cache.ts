import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb'
import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import type { CacheEntry, CacheKey, ReplicaCache } from '../contract.ts'
import { decodeEntry, encodeEntry } from '../entry-text.ts'

/** Version of the database's stores. An older one is emptied; a newer one belongs to a newer build and is left alone. */
const VERSION = 1

/** `texts`: entries as they are encoded. `uses`: how large each is and when it was used last. `totals`: the bytes of all. */
interface Stores extends DBSchema {
  texts: { key: string; value: string }
  uses: { key: string; value: { readonly bytes: number; readonly usedAt: number }; indexes: { by_use: number } }
  totals: { key: 'bytes'; value: number }
}

type Database = IDBPDatabase<Stores>
type All = ('texts' | 'uses' | 'totals')[]
type Change = IDBPTransaction<Stores, All, 'readwrite'>

/** Which database, and how much it may hold. `wallNow` is the local clock, ms. */
export interface IdbCacheOptions {
  readonly name?: string
  readonly maxBytes?: number
  readonly wallNow?: () => number
}

/**
 * A cache in IndexedDB, shared by the tabs of an origin: every change is one transaction, so that an entry, its size and the bound stay together.
 * Where there is no IndexedDB, no room, or a newer build's database, nothing is kept. Source: O1, O4.
 */
export class IdbCache implements ReplicaCache {
  readonly #name: string
  readonly #maxBytes: number
  readonly #wallNow: () => number
  #opening: Promise<Database | null> | null = null
  #isClosed = false
  #lastUse = 0

  constructor({ name = 'headwater-copies', maxBytes = LIMITS.cacheBytes, wallNow = Date.now }: IdbCacheOptions = {}) {
    this.#name = name
    this.#maxBytes = maxBytes
    this.#wallNow = wallNow
  }

  async read<T>(key: CacheKey): Promise<CacheEntry<T> | null> {
    const name = nameOf(key)
    const text: unknown = await this.#attempt(database => database.get('texts', name), undefined)
    const entry = typeof text === 'string' ? decodeEntry<T>(key, text) : null
    if (entry !== null) await this.#change(change => this.#markUsed(change, name))
    return entry
  }

  async write(key: CacheKey, entry: CacheEntry): Promise<void> {
    await this.#put(key, encodeEntry(key, entry))
  }

  async remove(key: CacheKey): Promise<void> {
    await this.#change(change => drop(change, nameOf(key)))
  }

  async writeAddress(address: string, rootId: string): Promise<void> {
    const key = addressKey(address)
    await this.#put(key, encodeEntry(key, { hostEpoch: '', asOf: null, savedAt: this.#wallNow(), value: rootId }))
  }

  async readAddress(address: string): Promise<string | null> {
    const entry = await this.read<unknown>(addressKey(address))
    return typeof entry?.value === 'string' ? entry.value : null
  }

  async clear(): Promise<number> {
    let bytes = 0
    await this.#change(async change => {
      bytes = await totalOf(change)
      await Promise.all([
        change.objectStore('texts').clear(),
        change.objectStore('uses').clear(),
        change.objectStore('totals').clear(),
      ])
    })
    return bytes
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const database = await this.#opening
    this.#opening = null
    database?.close()
  }

  async #put(key: CacheKey, text: string): Promise<void> {
    const bytes = utf8Bytes(text)
    if (bytes > Math.min(LIMITS.cacheEntryBytes, this.#maxBytes)) {
      await this.remove(key)
      return
    }
    const outcome = await this.#change(change => this.#replace(change, nameOf(key), text))
    if (outcome !== 'no_room') return
    // The browser gives no more room than this: what was not used for long makes place, once.
    await this.#change(async change => keepUnder(change, (await totalOf(change)) / 2))
    await this.#change(change => this.#replace(change, nameOf(key), text))
  }

  async #replace(change: Change, name: string, text: string): Promise<void> {
    await drop(change, name)
    const bytes = utf8Bytes(text)
    await keepUnder(change, this.#maxBytes - bytes)
    await change.objectStore('texts').put(text, name)
    await change.objectStore('uses').put({ bytes, usedAt: this.#now() }, name)
    await change.objectStore('totals').put((await totalOf(change)) + bytes, 'bytes')
  }

  async #markUsed(change: Change, name: string): Promise<void> {
    const use = await change.objectStore('uses').get(name)
    if (use !== undefined) await change.objectStore('uses').put({ ...use, usedAt: this.#now() }, name)
  }

  /** The local time, never the same twice, so that one use is after another. */
  #now(): number {
    this.#lastUse = Math.max(this.#wallNow(), this.#lastUse + 0.001)
    return this.#lastUse
  }

  /** Makes a change as a whole, or nothing of it. */
  #change(make: (change: Change) => Promise<void>): Promise<'kept' | 'no_room' | 'failed'> {
    return this.#attempt(async database => {
      const change = database.transaction<All, 'readwrite'>(['texts', 'uses', 'totals'], 'readwrite')
      const done = change.done
      done.catch(() => {})
      try {
        await make(change)
        await done
        return 'kept'
      } catch (error) {
        abort(change)
        return (error as Error | null)?.name === 'QuotaExceededError' ? 'no_room' : 'failed'
      }
    }, 'failed')
  }

  async #attempt<T>(use: (database: Database) => Promise<T>, otherwise: T): Promise<T> {
    try {
      const database = await this.#database()
      return database === null ? otherwise : await use(database)
    } catch {
      return otherwise
    }
  }

  #database(): Promise<Database | null> {
    if (this.#isClosed) return Promise.resolve(null)
    this.#opening ??= this.#open().catch(() => {
      this.#opening = null
      return null
    })
    return this.#opening
  }

  async #open(): Promise<Database> {
    const letGo = (): void => {
      void opening.then(database => database.close())
      this.#opening = null
    }
    let giveUp: (error: Error) => void = () => {}
    const blocked = new Promise<never>((_, reject) => {
      giveUp = reject
    })
    const opening = openDB<Stores>(this.#name, VERSION, {
      upgrade: rebuild,
      // A tab of an older build holds it: this one keeps nothing until that one is gone.
      blocked: () => giveUp(new Error('another tab holds the database')),
      blocking: letGo,
      terminated: letGo,
    })
    opening.then(
      database => {
        if (this.#isClosed) database.close()
      },
      () => {},
    )
    return Promise.race([opening, blocked])
  }
}

function rebuild(database: Database): void {
  for (const store of [...database.objectStoreNames]) database.deleteObjectStore(store)
  database.createObjectStore('texts')
  database.createObjectStore('uses').createIndex('by_use', 'usedAt')
  database.createObjectStore('totals')
}

async function totalOf(change: Change): Promise<number> {
  const total: unknown = await change.objectStore('totals').get('bytes')
  return typeof total === 'number' ? total : 0
}

async function drop(change: Change, name: string): Promise<void> {
  const use = await change.objectStore('uses').get(name)
  await change.objectStore('texts').delete(name)
  if (use === undefined) return
  await change.objectStore('uses').delete(name)
  await change.objectStore('totals').put(Math.max(0, (await totalOf(change)) - use.bytes), 'bytes')
}

/** Lets the least recently used go until the rest is within the bound. Source: O4. */
async function keepUnder(change: Change, maxBytes: number): Promise<void> {
  let total = await totalOf(change)
  if (total <= maxBytes) return
  const names = await change.objectStore('uses').index('by_use').getAllKeys(null, LIMITS.cacheFiles)
  for (const name of names) {
    if (total <= maxBytes) return
    await drop(change, name)
    total = await totalOf(change)
  }
}

function abort(change: Change): void {
  try {
    change.abort()
  } catch {
    // It has ended already.
  }
}

function nameOf({ rootId, kind, id }: CacheKey): string {
  return JSON.stringify([rootId, kind, id])
}

function addressKey(address: string): CacheKey {
  return { rootId: '', kind: 'catalog', id: address }
}
