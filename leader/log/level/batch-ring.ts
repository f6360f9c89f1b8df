import { LIMITS } from '../../../schema/limits.ts'
import { BATCH_KEY, DATABASE_ID_KEY, RING_RANGE, RING_START_KEY, ringKey } from '../keys.ts'
import type { Table } from '../table.ts'
import { decodeNumber } from '../values.ts'

/**
 * What a database says of itself. `databaseId` is null for one that was written before databases had ids; `missingBatch` is the number of a
 * batch that should be there and is not, as far back as the ring remembers. Source: D4.
 */
export interface DatabaseFacts {
  readonly databaseId: string | null
  readonly batch: number
  readonly missingBatch: number | null
}

/** Reads what an open database says of itself. `batch` is the number of its newest batch. */
export async function readDatabaseFacts(table: Table, batch: number): Promise<DatabaseFacts> {
  const id = await table.get(DATABASE_ID_KEY)
  return {
    databaseId: id === undefined ? null : Buffer.from(id).toString('hex'),
    batch,
    missingBatch: await findMissingBatch(table, batch),
  }
}

/**
 * LevelDB opens a log with a damaged middle without a word and goes on behind it. So each batch leaves its number in a ring, and the numbers
 * up to the newest one must follow each other. Source: D4.
 */
async function findMissingBatch(table: Table, batch: number): Promise<number | null> {
  const start = await table.get(RING_START_KEY)
  if (start === undefined) return null
  const first = Math.max(decodeNumber(start), batch - LIMITS.batchRing + 1)
  const noted = await readRing(table)
  for (let number = first; number <= batch; number += 1) {
    if (!(noted === null ? await isNoted(table, number) : noted.has(number))) return number
  }
  return null
}

/** All notes; null where one of them cannot be read, which may be an old one that does not matter any more. */
async function readRing(table: Table): Promise<ReadonlySet<number> | null> {
  try {
    const entries = await table.scan({ ...RING_RANGE, limit: LIMITS.batchRing })
    return new Set(entries.map(([, value]) => decodeNumber(value)))
  } catch {
    return null
  }
}

/** A note that cannot be read is one that is not there. */
async function isNoted(table: Table, number: number): Promise<boolean> {
  try {
    const value = await table.get(ringKey(number))
    return value !== undefined && decodeNumber(value) === number
  } catch {
    return false
  }
}

/** The number of the newest batch in a database; undefined where it says none. */
export async function readBatch(table: Table): Promise<number | undefined> {
  const value = await table.get(BATCH_KEY)
  return value === undefined ? undefined : decodeNumber(value)
}
