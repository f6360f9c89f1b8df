import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { expect, test } from 'vitest'
import { tryAcquireRootReader } from '../../leader/log/root/reader.ts'
import { type RootCapability, resolveRoot } from '../../leader/log/root/resolve.ts'
import { listNames, own, readRoot } from '../support/root/roots.ts'
import { testTempDir } from '../support/temp-dir.ts'

/** A root with a database of two tables' worth of records and some in the log. */
async function rootWithDatabase(): Promise<RootCapability> {
  const root = await resolveRoot({ path: testTempDir() })
  const owner = await own(root)
  await write(owner.databasePath, 0, 200)
  await owner.markDatabaseCreated()
  await owner.close()
  return root
}

async function write(path: string, from: number, to: number): Promise<void> {
  const database = new ClassicLevel(path)
  for (let i = from; i < to; i++) await database.put(key(i), `value ${i}`)
  await database.compactRange(key(0), key(to - 2))
  await database.put(key(to), `value ${to}`, { sync: true })
  await database.close()
}

function key(i: number): string {
  return String(i).padStart(6, '0')
}

async function count(path: string): Promise<number> {
  const database = new ClassicLevel(path, { createIfMissing: false })
  const keys = await database.keys().all()
  await database.close()
  return keys.length
}

test('R9 a reader sees the whole database, in a directory of its own without LOCK', async () => {
  const root = await rootWithDatabase()
  const reader = await readRoot(root)
  expect(reader.isEmpty).toBe(false)
  expect(reader.capability).toBe(root)
  expect(reader.databasePath).not.toBe(join(root.path, 'database'))
  expect(listNames(reader.databasePath)).not.toContain('LOCK')
  expect(await count(reader.databasePath)).toBe(201)
})

test('R9 tables are hard links, everything else is a copy', async () => {
  const root = await rootWithDatabase()
  const reader = await readRoot(root)
  const names = listNames(reader.databasePath)
  const isShared = names.map(name => {
    const inodes = [reader.databasePath, join(root.path, 'database')].map(path => statSync(join(path, name)).ino)
    return inodes[0] === inodes[1]
  })
  expect(names.some(name => name.endsWith('.ldb'))).toBe(true)
  expect(isShared).toEqual(names.map(name => name.endsWith('.ldb')))
})

test('R9 the anchor is copied beside the database', async () => {
  const root = await rootWithDatabase()
  writeFileSync(join(root.path, 'anchor.json'), '{"batch":7}')
  const reader = await readRoot(root)
  expect(readFileSync(join(reader.databasePath, '..', 'anchor.json'), 'utf8')).toBe('{"batch":7}')
})

test('R9 readers coexist, also when they come at once, and hinder no later owner', async () => {
  const root = await rootWithDatabase()
  const readers = await Promise.all([readRoot(root), readRoot(root), readRoot(root)])
  const owner = await own(root)
  owner.prove()
  await write(owner.databasePath, 201, 300)
  expect(await Promise.all(readers.map(reader => count(reader.databasePath)))).toEqual([201, 201, 201])
  expect(await count(owner.databasePath)).toBe(301)
})

test('R9 a reader can harm nothing: what it writes and deletes stays in its view', async () => {
  const root = await rootWithDatabase()
  const reader = await readRoot(root)
  await write(reader.databasePath, 500, 600)
  await ClassicLevel.destroy(reader.databasePath)
  const owner = await own(root)
  expect(await count(owner.databasePath)).toBe(201)
})

test('R9 while an owner holds the root a reader gets undefined, and one later sees what the owner wrote', async () => {
  const root = await rootWithDatabase()
  const owner = await own(root)
  expect(await tryAcquireRootReader(root)).toBeUndefined()
  owner.prove()
  await write(owner.databasePath, 201, 210)
  await owner.close()
  expect(await count((await readRoot(root)).databasePath)).toBe(211)
})

test('R9 a root without a database gives an empty view, also if one was begun and never marked', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const first = await readRoot(root)
  expect({ isEmpty: first.isEmpty, names: listNames(first.databasePath) }).toEqual({ isEmpty: true, names: [] })
  mkdirSync(join(root.path, 'database'))
  writeFileSync(join(root.path, 'database', 'CURRENT'), 'half made')
  const second = await readRoot(root)
  expect({ isEmpty: second.isEmpty, names: listNames(second.databasePath) }).toEqual({ isEmpty: true, names: [] })
})

test('R7 a database that is gone is damage in the view too, not an empty root', async () => {
  const root = await rootWithDatabase()
  rmSync(join(root.path, 'database'), { recursive: true })
  const reader = await readRoot(root)
  expect(reader.isEmpty).toBe(false)
  await expect(count(reader.databasePath)).rejects.toThrow()
  expect(existsSync(join(root.path, 'database'))).toBe(false)
})

test('R9 close removes the view, is idempotent, and leaves the root as it was', async () => {
  const root = await rootWithDatabase()
  const before = listNames(root.path)
  const [one, two] = [await readRoot(root), await readRoot(root)]
  await Promise.all([one.close(), one.close()])
  expect([one.closed, two.closed]).toEqual([true, false])
  expect([existsSync(one.databasePath), existsSync(two.databasePath)]).toEqual([false, true])
  await expect(one.run(async () => 1)).rejects.toMatchObject({ code: 'invalid_lease' })
  expect(await two.run(async () => 2)).toBe(2)
  await two.close()
  expect(listNames(root.path)).toEqual(before)
})
