import { join } from 'node:path'
import { LevelHandle } from '../../leader/log/level/level-handle.ts'
import type { Op } from '../../leader/log/table.ts'

const SIZES = { writeBufferBytes: 1024 * 1024, cacheBytes: 1024 * 1024 }

/** A database nobody else has open, below everything that knows what its records mean. */
export interface RawDatabase {
  /** Values as they lie on the disk, by key. */
  readonly stored: ReadonlyMap<string, Uint8Array>
  /** Writes values as they are to lie on the disk. */
  putStored(key: string, value: Uint8Array): Promise<void>
  /** Writes values with their checksum, or deletes them. */
  apply(...ops: readonly Op[]): Promise<void>
}

/** Opens the database of a root that no leader has, for damage to be done. */
export async function damageDatabase(root: string, damage: (database: RawDatabase) => Promise<void>): Promise<void> {
  const handle = await LevelHandle.open(join(root, 'database'), false, SIZES)
  try {
    const frozen = await handle.freeze()
    const stored = new Map<string, Uint8Array>()
    for await (const page of frozen.pages()) for (const [key, value] of page) stored.set(key, value)
    await frozen.close()
    await damage({
      stored,
      putStored: (key, value) => handle.writeStored([[key, value]]),
      apply: (...ops) => handle.write(ops, 1),
    })
  } finally {
    await handle.close()
  }
}

/** A copy with one byte changed in its middle. */
export function flipped(value: Uint8Array | undefined): Uint8Array {
  if (value === undefined) throw new Error('there is nothing to change')
  const copy = Uint8Array.from(value)
  const middle = Math.floor(copy.length / 2)
  copy[middle] = (copy[middle] ?? 0) ^ 0x20
  return copy
}
