import { utf8Bytes } from '../../schema/text.ts'
import type { CacheEntry, CacheKey, ReplicaCache } from './contract.ts'
import { decodeEntry, encodeEntry } from './entry-text.ts'

/** A cache that ends with the process. `maxBytes` bounds what it keeps. */
export class MemoryCache implements ReplicaCache {
  readonly #maxBytes: number
  /** The least recently used first. */
  readonly #texts = new Map<string, string>()
  readonly #addresses = new Map<string, string>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  async read<T>(key: CacheKey): Promise<CacheEntry<T> | null> {
    const name = nameOf(key)
    const text = this.#texts.get(name)
    if (text === undefined) return null
    this.#texts.delete(name)
    this.#texts.set(name, text)
    return decodeEntry<T>(key, text)
  }

  async write(key: CacheKey, entry: CacheEntry): Promise<void> {
    const name = nameOf(key)
    const text = encodeEntry(key, entry)
    this.#drop(name)
    this.#texts.set(name, text)
    this.#bytes += utf8Bytes(text)
    for (const oldest of this.#texts.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.#drop(oldest)
    }
  }

  async remove(key: CacheKey): Promise<void> {
    this.#drop(nameOf(key))
  }

  async writeAddress(address: string, rootId: string): Promise<void> {
    this.#addresses.set(address, rootId)
  }

  async readAddress(address: string): Promise<string | null> {
    return this.#addresses.get(address) ?? null
  }

  async clear(): Promise<number> {
    const bytes = this.#bytes
    this.#texts.clear()
    this.#addresses.clear()
    this.#bytes = 0
    return bytes
  }

  async close(): Promise<void> {}

  #drop(name: string): void {
    const text = this.#texts.get(name)
    if (text === undefined) return
    this.#texts.delete(name)
    this.#bytes -= utf8Bytes(text)
  }
}

function nameOf({ rootId, kind, id }: CacheKey): string {
  return `${rootId} ${kind} ${id}`
}
