import 'fake-indexeddb/auto'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CacheEntry, CacheKey, ReplicaCache } from '../../replica/cache/contract.ts'
import { IdbCache } from '../../replica/cache/idb/idb-cache.ts'
import { MemoryCache } from '../../replica/cache/memory-cache.ts'
import { FileCache } from '../../replica/cache/node/file-cache.ts'
import { testTempDir } from '../support/temp-dir.ts'

const ROOT = 'a'.repeat(64)
const OTHER_ROOT = 'b'.repeat(64)
const SESSION: CacheKey = { rootId: ROOT, kind: 'session', id: 'session-1' }

function entry(value: unknown): CacheEntry {
  return { hostEpoch: 'epoch-1', asOf: 1_000, savedAt: 2_000, value }
}

const KINDS: Readonly<Record<string, (maxBytes: number) => ReplicaCache>> = {
  memory: maxBytes => new MemoryCache(maxBytes),
  files: maxBytes => new FileCache(testTempDir('cache'), maxBytes),
  indexeddb: maxBytes => new IdbCache({ name: `copies-${randomUUID()}`, maxBytes }),
}

describe.each(Object.entries(KINDS))('%s', (_name, open) => {
  test('O1 what was written last is read, with its epoch and time', async () => {
    const cache = open(1_000_000)
    expect(await cache.read(SESSION)).toBeNull()
    await cache.write(SESSION, entry({ text: 'first' }))
    await cache.write(SESSION, entry({ text: 'naïve 🦊' }))
    expect(await cache.read(SESSION)).toEqual(entry({ text: 'naïve 🦊' }))
    await cache.remove(SESSION)
    expect(await cache.read(SESSION)).toBeNull()
    await cache.close()
  })

  test('O3 an entry of another root, kind or session is never read', async () => {
    const cache = open(1_000_000)
    await cache.write(SESSION, entry('mine'))
    expect(await cache.read({ ...SESSION, rootId: OTHER_ROOT })).toBeNull()
    expect(await cache.read({ ...SESSION, kind: 'history' })).toBeNull()
    expect(await cache.read({ ...SESSION, id: 'session-2' })).toBeNull()
    await cache.close()
  })

  test('O2 an address leads to the root that was found under it last', async () => {
    const cache = open(1_000_000)
    expect(await cache.readAddress('http://127.0.0.1:20000')).toBeNull()
    await cache.writeAddress('http://127.0.0.1:20000', ROOT)
    await cache.writeAddress('http://127.0.0.1:20000', OTHER_ROOT)
    expect(await cache.readAddress('http://127.0.0.1:20000')).toBe(OTHER_ROOT)
    await cache.close()
  })

  test('O4 clearing removes everything and says how much that was', async () => {
    const cache = open(1_000_000)
    await cache.write(SESSION, entry('x'.repeat(10_000)))
    expect(await cache.clear()).toBeGreaterThan(10_000)
    expect(await cache.read(SESSION)).toBeNull()
    expect(await cache.clear()).toBe(0)
    await cache.close()
  })
})

test('O4 the memory cache lets the least recently used entries go first', async () => {
  const cache = new MemoryCache(3_000)
  const key = (id: string): CacheKey => ({ ...SESSION, id })
  await cache.write(key('one'), entry('x'.repeat(1_000)))
  await cache.write(key('two'), entry('x'.repeat(1_000)))
  await cache.read(key('one'))
  await cache.write(key('three'), entry('x'.repeat(1_000)))
  expect(await cache.read(key('two'))).toBeNull()
  expect(await cache.read(key('one'))).not.toBeNull()
})

test('O4 the folder is kept under its bound, and what dead writers left goes', async () => {
  const folder = testTempDir('cache')
  const cache = new FileCache(folder, 100_000)
  for (let i = 0; i < 130; i++) await cache.write({ ...SESSION, id: `session-${i}` }, entry('x'.repeat(5_000)))
  await cache.close()
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  // It is swept once in 64 writes: what came since may stand over the bound.
  expect(bytes).toBeLessThan(100_000 + 64 * 6_000)
  expect(await cache.read({ ...SESSION, id: 'session-129' })).not.toBeNull()
  expect(await cache.read({ ...SESSION, id: 'session-0' })).toBeNull()
})

test('O1 torn, altered and foreign files are a cold start, never an error', async () => {
  const folder = testTempDir('cache')
  const cache = new FileCache(folder)
  await cache.write(SESSION, entry({ text: 'whole' }))
  const [name] = readdirSync(folder)
  const path = join(folder, name as string)
  const whole = readFileSync(path)
  for (let cut = 0; cut < whole.length; cut += 7) {
    writeFileSync(path, whole.subarray(0, cut))
    expect(await cache.read(SESSION)).toBeNull()
  }
  for (let at = 0; at < whole.length; at += 5) {
    const flipped = Buffer.from(whole)
    flipped[at] = (flipped[at] as number) ^ 0x10
    writeFileSync(path, flipped)
    expect(await cache.read(SESSION)).toBeNull()
  }
  writeFileSync(path, whole)
  expect(await cache.read(SESSION)).toEqual(entry({ text: 'whole' }))
})

test('O1 files are for their user alone, and several caches share a folder', async () => {
  const folder = join(testTempDir('cache'), 'deep', 'er')
  const [one, two] = [new FileCache(folder), new FileCache(folder)]
  const writes = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? one : two).write(SESSION, entry({ i })))
  await Promise.all(writes)
  expect(await two.read(SESSION)).toEqual(await one.read(SESSION))
  const names = readdirSync(folder)
  expect(names).toHaveLength(1)
  expect(statSync(join(folder, names[0] as string)).mode & 0o777).toBe(0o600)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})
