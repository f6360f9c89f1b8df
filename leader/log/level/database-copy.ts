import { createHash } from 'node:crypto'
import { LIMITS } from '../../../schema/limits.ts'
import { BATCH_KEY } from '../keys.ts'
import type { FrozenReader } from '../store.ts'
import { decodeNumber } from '../values.ts'
import { openValue } from './checked-value.ts'
import { LevelHandle } from './level-handle.ts'

/** What a database holds: its entries, the bytes of their keys and values, its sessions, its newest batch, and a digest of all entries in order. */
export interface DatabaseContent {
  readonly records: number
  readonly bytes: number
  readonly sessions: number
  readonly batch: number
  readonly digest: string
}

/** Sums up entries as they go by. */
class ContentSum {
  readonly #hash = createHash('sha256')
  readonly #length = Buffer.allocUnsafe(8)
  #records = 0
  #bytes = 0
  #sessions = 0
  #batch = 0

  add(key: string, stored: Uint8Array): void {
    this.#length.writeUInt32LE(key.length, 0)
    this.#length.writeUInt32LE(stored.length, 4)
    this.#hash.update(this.#length).update(key).update(stored)
    this.#records += 1
    this.#bytes += key.length + stored.length
    if (key.startsWith('h')) this.#sessions += 1
    if (key === BATCH_KEY) this.#batch = decodeNumber(openValue(key, stored))
  }

  get progress(): CopyProgress {
    return { records: this.#records, bytes: this.#bytes }
  }

  finish(): DatabaseContent {
    return {
      ...this.progress,
      sessions: this.#sessions,
      batch: this.#batch,
      digest: `sha256:${this.#hash.digest('hex')}`,
    }
  }
}

/** How far a copy is. */
export interface CopyProgress {
  readonly records: number
  readonly bytes: number
}

/** Reads all entries and sums them up. */
export async function sumUp(
  source: Pick<FrozenReader, 'entries'>,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<DatabaseContent> {
  const sum = new ContentSum()
  for await (const page of source.entries()) {
    for (const [key, stored] of page) sum.add(key, stored)
    onProgress(sum.progress)
  }
  return sum.finish()
}

/**
 * Copies all entries into a new database, which is on the disk and closed when it resolves; a page of them is in memory at a time. Rejects with
 * the error of LevelDB where the target cannot be written. Source: R4, D3.
 */
export async function copyDatabase(
  source: Pick<FrozenReader, 'entries'>,
  target: string,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<DatabaseContent> {
  const sizes = { writeBufferBytes: LIMITS.databaseWriteBufferBytes, cacheBytes: LIMITS.databaseCacheBytes }
  const handle = await LevelHandle.open(target, true, sizes)
  const sum = new ContentSum()
  try {
    for await (const page of source.entries()) {
      await handle.writeStored(page)
      for (const [key, stored] of page) sum.add(key, stored)
      onProgress(sum.progress)
    }
    return sum.finish()
  } finally {
    await handle.close()
  }
}
