import 'fake-indexeddb/auto'
import { randomUUID } from 'node:crypto'
import { openDB } from 'idb'
import { expect, onTestFinished, test } from 'vitest'
import type { CacheEntry, CacheKey } from '../../replica/cache/contract.ts'
import { IdbCache } from '../../replica/cache/idb/idb-cache.ts'
import { within } from '../support/wait-for.ts'

const SESSION: CacheKey = { rootId: 'a'.repeat(64), kind: 'session', id: 'session-1' }

function entry(value: unknown): CacheEntry {
  return { hostEpoch: 'epoch-1', asOf: 1_000, savedAt: 2_000, value }
}

const key = (id: string): CacheKey => ({ ...SESSION, id })

/** A cache on a database of its own, and further tabs on the same one. */
function opened(maxBytes = 1_000_000): { readonly name: string; readonly cache: IdbCache; tab(): IdbCache } {
  const name = `copies-${randomUUID()}`
  const tab = (): IdbCache => {
    const cache = new IdbCache({ name, maxBytes })
    onTestFinished(() => cache.close())
    return cache
  }
  return { name, cache: tab(), tab }
}

/** What is stored, read past the cache. */
async function stored(name: string): Promise<{ readonly texts: readonly string[]; readonly total: number }> {
  const database = await openDB(name)
  const texts = (await database.getAll('texts')) as string[]
  const total = (await database.get('totals', 'bytes')) as number
  database.close()
  return { texts, total }
}

interface Putting {
  readonly name: string
  put(...args: unknown[]): unknown
}

/** From now on putting a text fails whenever `isFull`, as where the browser has no room. */
function limitRoom(isFull: () => boolean): void {
  const { prototype } = (globalThis as unknown as { IDBObjectStore: { prototype: Putting } }).IDBObjectStore
  const { put } = prototype
  onTestFinished(() => {
    prototype.put = put
  })
  prototype.put = function (this: Putting, ...args: unknown[]): unknown {
    if (this.name === 'texts' && isFull()) throw new DOMException('no room', 'QuotaExceededError')
    return put.apply(this, args)
  }
}

test('O1 torn, altered and foreign entries are a cold start, never an error', async () => {
  const { name, cache } = opened()
  await cache.write(SESSION, entry({ text: 'whole' }))
  const [whole = ''] = (await stored(name)).texts
  const database = await openDB(name)
  onTestFinished(() => database.close())
  const [place] = await database.getAllKeys('texts')
  const altered = whole.replace('whole', 'other')
  expect(altered).not.toBe(whole)
  for (const value of [
    whole.slice(0, -1),
    whole.slice(0, 20),
    '',
    altered,
    7,
    null,
    { text: whole },
    new Uint8Array(9),
  ]) {
    await database.put('texts', value, place)
    expect(await cache.read(SESSION)).toBeNull()
  }
  await database.put('texts', whole, place)
  expect(await cache.read(SESSION)).toEqual(entry({ text: 'whole' }))
  await database.put('texts', whole, JSON.stringify([SESSION.rootId, 'session', 'session-2']))
  expect(await cache.read(key('session-2'))).toBeNull()
})

test('O4 the bound holds after every write, and the least recently used go first', async () => {
  const { name, cache } = opened(10_000)
  await cache.write(key('one'), entry('x'.repeat(2_500)))
  await cache.write(key('two'), entry('x'.repeat(2_500)))
  await cache.write(key('three'), entry('x'.repeat(2_500)))
  await cache.read(key('one'))
  await cache.write(key('four'), entry('x'.repeat(2_500)))
  expect(await cache.read(key('two'))).toBeNull()
  expect((await cache.read(key('one')))?.value).toHaveLength(2_500)
  for (let i = 0; i < 40; i++) {
    await cache.write(key(`more-${i % 7}`), entry('y'.repeat(500 + i * 40)))
    const { texts, total } = await stored(name)
    expect(total).toBe(texts.reduce((sum, text) => sum + text.length, 0))
    expect(total).toBeLessThanOrEqual(10_000)
  }
  await cache.write(key('more-1'), entry('z'.repeat(20_000)))
  expect(await cache.read(key('more-1'))).toBeNull()
})

test('O1 tabs write at the same time, and each entry stays whole', async () => {
  const { name, cache, tab } = opened()
  const other = tab()
  const writes = Array.from({ length: 40 }, (_, i) =>
    (i % 2 === 0 ? cache : other).write(key(`${i % 4}`), entry({ i })),
  )
  await Promise.all([...writes, cache.remove(key('3'))])
  for (const id of ['0', '1', '2']) expect(await other.read(key(id))).toEqual(await cache.read(key(id)))
  const { texts, total } = await stored(name)
  expect(total).toBe(texts.reduce((sum, text) => sum + text.length, 0))
})

test('O1 where the browser has no room older entries make place; where there is none nothing is kept, and nothing fails', async () => {
  const { name, cache } = opened()
  await cache.write(key('old'), entry('x'.repeat(2_000)))
  await cache.write(SESSION, entry('before'))
  let refused = 0
  limitRoom(() => {
    refused += 1
    return refused === 1
  })
  await cache.write(SESSION, entry('after'))
  expect(refused).toBe(2)
  expect((await cache.read(SESSION))?.value).toBe('after')
  expect(await cache.read(key('old'))).toBeNull()
  limitRoom(() => true)
  await cache.write(key('new'), entry('never'))
  expect(await cache.read(key('new'))).toBeNull()
  const { texts, total } = await stored(name)
  expect(total ?? 0).toBe(texts.reduce((sum, text) => sum + text.length, 0))
})

test('O1 the database of a newer build is left alone, and a tab of an older one holds nobody up', async () => {
  const { name, tab } = opened()
  const newer = await openDB(name, 99, { upgrade: database => void database.createObjectStore('theirs') })
  const cache = tab()
  await within(cache.write(SESSION, entry('x')), 2_000, 'a write beside a newer build')
  expect(await cache.read(SESSION)).toBeNull()
  expect([...newer.objectStoreNames]).toEqual(['theirs'])
  newer.close()

  const second = opened()
  await second.cache.write(SESSION, entry('kept'))
  // A newer build may take the database over: this one lets it go.
  const taken = await within(openDB(second.name, 2, { upgrade: () => {} }), 2_000, 'a newer build taking over')
  await second.cache.write(SESSION, entry('not kept'))
  expect(await second.cache.read(SESSION)).toBeNull()
  taken.close()
})

test('O1 without IndexedDB, or after close, nothing is kept and nothing fails', async () => {
  const { cache, tab } = opened()
  await cache.write(SESSION, entry('x'))
  await cache.close()
  await cache.write(SESSION, entry('y'))
  expect(await cache.read(SESSION)).toBeNull()
  expect(await cache.clear()).toBe(0)
  expect((await tab().read(SESSION))?.value).toBe('x')
  const place = globalThis as { indexedDB?: unknown }
  const kept = place.indexedDB
  onTestFinished(() => {
    place.indexedDB = kept
  })
  Reflect.deleteProperty(place, 'indexedDB')
  const without = tab()
  await without.write(SESSION, entry('x'))
  await without.writeAddress('http://127.0.0.1:20000', 'root')
  expect(await without.read(SESSION)).toBeNull()
  expect(await without.readAddress('http://127.0.0.1:20000')).toBeNull()
})
