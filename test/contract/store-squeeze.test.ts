import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLevelStore } from '../../leader/log/level-store.ts'
import { bytesOf, itemOf, NOTHING, own, SUITE_FENCE } from '../support/store-items.ts'
import { testTempDir } from '../support/temp-dir.ts'

const TEXT = 'text-5d0c9b7e1f3a42868e07c1d2b4f6a935'

test('S5 what somebody still reads leaves the disk when they have closed it', async () => {
  const path = join(testTempDir('squeeze'), 'database')
  const store = await openLevelStore({ path, create: true, fence: SUITE_FENCE })
  const isOnDisk = async (): Promise<boolean> => {
    const files = (await readdir(path)).map(name => readFile(join(path, name)).catch(() => Buffer.alloc(0)))
    return (await Promise.all(files)).some(bytes => bytes.includes(TEXT))
  }
  await own(store, 's')
  await store.append([itemOf('s', NOTHING, 1, { rows: [{ kind: 'turn', id: 't', value: bytesOf(TEXT) }] })])
  await store.release('s')
  const reader = await store.freeze()
  await store.purge('s', { receipts: [], segmentsThrough: null }, 100)
  let isSqueezed = false
  const squeezed = store.squeeze('s').then(() => {
    isSqueezed = true
  })
  expect(await reader.rows('turn', 's')).toHaveLength(1)
  expect([isSqueezed, await isOnDisk()]).toEqual([false, true])
  await reader.close()
  await squeezed
  expect(await isOnDisk()).toBe(false)
  await store.close()
})
