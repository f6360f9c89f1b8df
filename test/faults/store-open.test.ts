import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { openLevelReader, openLevelStore } from '../../leader/log/level-store.ts'
import { after, itemOf, NOTHING, SUITE_FENCE } from '../support/store-items.ts'
import { testTempDir } from '../support/temp-dir.ts'

/** A closed database with one session of five transitions. */
async function makeDatabase(): Promise<string> {
  const path = join(testTempDir('open'), 'database')
  const store = await openLevelStore({ path, create: true, fence: SUITE_FENCE })
  await store.acquire('s')
  await store.append([itemOf('s', NOTHING, 5)])
  await store.close()
  return path
}

function openAgain(path: string) {
  return openLevelStore({ path, create: false, fence: SUITE_FENCE })
}

test('R7 an existing database that is gone is damage and is not made anew', async () => {
  const path = join(testTempDir('open'), 'database')
  await expect(openAgain(path)).rejects.toMatchObject({ code: 'storage_fault', detail: { kind: 'missing' } })
  expect(() => readdirSync(path)).toThrow()
})

test('R7 a database without CURRENT is damage, and its files stay', async () => {
  const path = await makeDatabase()
  rmSync(join(path, 'CURRENT'))
  const before = readdirSync(path).filter(name => /\.(log|ldb)$|^MANIFEST/.test(name))
  await expect(openAgain(path)).rejects.toMatchObject({ code: 'storage_fault', detail: { kind: 'missing' } })
  expect(readdirSync(path)).toEqual(expect.arrayContaining(before))
  expect(before.length).toBeGreaterThan(0)
})

test('R7 a database that opens empty because its log was deleted is damage, not emptiness', async () => {
  const path = await makeDatabase()
  for (const name of readdirSync(path)) if (name.endsWith('.log')) rmSync(join(path, name))
  await expect(openAgain(path)).rejects.toMatchObject({ code: 'storage_fault', detail: { kind: 'missing' } })
})

test('R7 a database that is open already is not opened twice', async () => {
  const path = await makeDatabase()
  const store = await openAgain(path)
  await expect(openAgain(path)).rejects.toMatchObject({ code: 'storage_fault', detail: { kind: 'locked' } })
  expect(await store.head('s')).toEqual(after(NOTHING, 5))
  await store.close()
})

test('R7 creating is repeated when the owner died before it noted it, and keeps what is there', async () => {
  const path = await makeDatabase()
  const store = await openLevelStore({ path, create: true, fence: SUITE_FENCE })
  expect(await store.head('s')).toEqual(after(NOTHING, 5))
  await store.close()
})

test('R7 a database of a later format is refused, not opened as ours', async () => {
  const path = await makeDatabase()
  const database = new Level<string, Uint8Array>(path, { keyEncoding: 'utf8', valueEncoding: 'view' })
  await database.put('zformat', new Uint8Array([0, 0, 0, 0, 0, 99]), { sync: true })
  await database.close()
  await expect(openAgain(path)).rejects.toMatchObject({ code: 'incompatible' })
})

test('R9 a reader works on its own copy of the files and sees what was durable', async () => {
  const path = await makeDatabase()
  const view = join(testTempDir('view'), 'database')
  mkdirSync(view)
  for (const name of readdirSync(path)) if (name !== 'LOCK') copyFileSync(join(path, name), join(view, name))
  const store = await openAgain(path)
  await store.acquire('s')
  await store.append([itemOf('s', after(NOTHING, 5))])
  const reader = await openLevelReader({ path: view })
  expect(await reader.head('s')).toEqual(after(NOTHING, 5))
  expect((await reader.document('s')).updates).toHaveLength(5)
  expect(await reader.sessions(undefined, 10)).toEqual(['s'])
  await reader.close()
  await store.close()
})

test('R9 reading after close is refused, not answered as empty', async () => {
  const path = await makeDatabase()
  const reader = await openLevelReader({ path })
  await reader.close()
  await expect(reader.head('s')).rejects.toMatchObject({ code: 'storage_fault' })
  await expect(reader.document('s')).rejects.toMatchObject({ code: 'storage_fault' })
})

test('D1 a value in which a bit changed on disk is corruption, and never read as what was written', async () => {
  const path = await makeDatabase()
  await (await openAgain(path)).close()
  const table = readdirSync(path).find(name => name.endsWith('.ldb')) as string
  const whole = readFileSync(join(path, table))
  // Letters of a value: a change in them leaves the table readable, and LevelDB does not notice it.
  const words = whole.indexOf('record ')
  expect(words).toBeGreaterThan(0)
  for (let at = words; at < words + 'record '.length; at++) {
    const copy = join(testTempDir('flip'), 'database')
    cpSync(path, copy, { recursive: true })
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] as number) ^ 1
    writeFileSync(join(copy, table), changed)
    const store = await openAgain(copy)
    await expect(store.ledger('s', 0, 10)).rejects.toMatchObject({
      code: 'storage_fault',
      detail: { kind: 'corruption' },
    })
    await store.close()
  }
})
