import { createHash, randomUUID } from 'node:crypto'
import { mkdir, opendir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMITS } from '../../../schema/limits.ts'
import type { CacheEntry, CacheKey, ReplicaCache } from '../contract.ts'
import { decodeEntry, encodeEntry } from '../entry-text.ts'

const FILE = /^[0-9a-f]{64}\.json$/
const LEFT_OVER = /^[0-9a-f]{64}\.json\.[0-9a-f-]{36}$/
const WRITES_PER_SWEEP = 64
const LEFT_OVER_MS = 60 * 60 * 1_000
/** A file's time says when it was last used; within this it is not set again. */
const USED_MS = 60 * 1_000

/**
 * A cache of files in a folder, one for each entry, named by the digest of what it is about, readable by its user alone. Written by
 * rename, without fsync: what a crash tears is a cold start. Several processes may share it. Source: O1, O4.
 */
export class FileCache implements ReplicaCache {
  readonly #folder: string
  readonly #maxBytes: number
  #writes = 0
  #sweeping: Promise<void> | null = null

  constructor(folder: string, maxBytes: number = LIMITS.cacheBytes) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  async read<T>(key: CacheKey): Promise<CacheEntry<T> | null> {
    const path = this.#path(nameOf(key))
    const text = await readText(path)
    const entry = text === null ? null : decodeEntry<T>(key, text)
    if (entry !== null) await markUsed(path)
    return entry
  }

  async write(key: CacheKey, entry: CacheEntry): Promise<void> {
    await this.#put(nameOf(key), encodeEntry(key, entry))
  }

  async remove(key: CacheKey): Promise<void> {
    await rm(this.#path(nameOf(key)), { force: true }).catch(() => {})
  }

  async writeAddress(address: string, rootId: string): Promise<void> {
    const key = addressKey(address)
    const known = await this.readAddress(address)
    if (known === rootId) return
    await this.#put(nameOf(key), encodeEntry(key, { hostEpoch: '', asOf: null, savedAt: Date.now(), value: rootId }))
  }

  async readAddress(address: string): Promise<string | null> {
    const entry = await this.read<string>(addressKey(address))
    return typeof entry?.value === 'string' ? entry.value : null
  }

  async clear(): Promise<number> {
    let bytes = 0
    for (const file of await this.#files()) {
      bytes += file.bytes
      await rm(join(this.#folder, file.name), { force: true }).catch(() => {})
    }
    return bytes
  }

  async close(): Promise<void> {
    await this.#sweeping
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }

  async #put(name: string, text: string): Promise<void> {
    const path = this.#path(name)
    const temporary = `${path}.${randomUUID()}`
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
      await rename(temporary, path)
    } catch {
      await rm(temporary, { force: true }).catch(() => {})
      return
    }
    this.#writes += 1
    if (this.#writes % WRITES_PER_SWEEP === 1) this.#sweeping ??= this.#sweep().finally(() => (this.#sweeping = null))
  }

  /** Removes the least recently used entries beyond the bound, and what dead writers left. Source: O4. */
  async #sweep(): Promise<void> {
    const files = (await this.#files()).sort((a, b) => b.usedAt - a.usedAt)
    let bytes = 0
    for (const { name, bytes: size, usedAt } of files) {
      const isLeftOver = LEFT_OVER.test(name)
      bytes += isLeftOver ? 0 : size
      const isOver = isLeftOver ? Date.now() - usedAt > LEFT_OVER_MS : bytes > this.#maxBytes
      if (isOver) await rm(this.#path(name), { force: true }).catch(() => {})
    }
  }

  async #files(): Promise<{ readonly name: string; readonly bytes: number; readonly usedAt: number }[]> {
    const found: { name: string; bytes: number; usedAt: number }[] = []
    try {
      for await (const { name } of await opendir(this.#folder)) {
        if (!FILE.test(name) && !LEFT_OVER.test(name)) continue
        const stats = await stat(this.#path(name)).catch(() => null)
        if (stats !== null) found.push({ name, bytes: stats.size, usedAt: stats.mtimeMs })
        if (found.length >= LIMITS.cacheFiles) break
      }
    } catch {
      // nothing was ever kept
    }
    return found
  }
}

function nameOf({ rootId, kind, id }: CacheKey): string {
  return `${createHash('sha256')
    .update(JSON.stringify([rootId, kind, id]))
    .digest('hex')}.json`
}

function addressKey(address: string): CacheKey {
  return { rootId: '', kind: 'catalog', id: address }
}

async function readText(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path)
    return size > LIMITS.cacheEntryBytes ? null : await readFile(path, 'utf8')
  } catch {
    return null
  }
}

async function markUsed(path: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(path)
    const now = Date.now()
    if (now - mtimeMs > USED_MS) await utimes(path, now / 1_000, now / 1_000)
  } catch {
    // it went meanwhile
  }
}
