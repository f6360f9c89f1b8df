import { expect, test } from 'vitest'
import { BATCH_KEY, DATABASE_ID_KEY, RING_START_KEY, ringKey } from '../../leader/log/keys.ts'
import { readDatabaseFacts } from '../../leader/log/level/batch-ring.ts'
import type { Table } from '../../leader/log/table.ts'
import { encodeNumber } from '../../leader/log/values.ts'

/** A database whose ring begins at `first`, of which the notes of `unreadable` fail their checksums. */
function tableOf(first: number, batch: number, unreadable: readonly number[]): Table {
  const values = new Map<string, Uint8Array>([
    [BATCH_KEY, encodeNumber(batch)],
    [DATABASE_ID_KEY, Buffer.alloc(16, 1)],
    [RING_START_KEY, encodeNumber(first)],
  ])
  for (let number = 1; number <= batch; number += 1) values.set(ringKey(number), encodeNumber(number))
  const broken = new Set(unreadable.map(ringKey))
  const get = async (key: string): Promise<Uint8Array | undefined> => {
    if (broken.has(key)) throw new Error('corruption')
    return values.get(key)
  }
  return {
    get,
    scan: async ({ gte, lt }: { readonly gte: string; readonly lt: string }) => {
      const keys = [...values.keys()].filter(key => key >= gte && key < lt).sort()
      return await Promise.all(keys.map(async key => [key, (await get(key)) as Uint8Array] as const))
    },
  } as unknown as Table
}

test('D4 a note of a batch that cannot be read is a batch that is missing, unless it came before what was accepted', async () => {
  expect(await readDatabaseFacts(tableOf(1, 9, []), 9)).toMatchObject({ batch: 9, missingBatch: null })
  expect(await readDatabaseFacts(tableOf(1, 9, [4, 6]), 9)).toMatchObject({ missingBatch: 4 })
  expect(await readDatabaseFacts(tableOf(7, 9, [4, 6]), 9)).toMatchObject({ missingBatch: null })
  expect(await readDatabaseFacts(tableOf(7, 9, [4, 8]), 9)).toMatchObject({ missingBatch: 8 })
})
