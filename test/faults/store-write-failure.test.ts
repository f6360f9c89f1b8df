import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLevelStore } from '../../leader/log/level-store.ts'
import type { Store, StoreHealth } from '../../leader/log/store.ts'
import { after, itemOf, NOTHING, SUITE_FENCE } from '../support/store-items.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

const ABSENT = { kind: 'failed', code: 'persistence_failed' }

type Failure = 'not_stored' | 'stored' | 'swallowed'

interface Bed {
  readonly path: string
  readonly store: Store
  readonly healths: StoreHealth[]
  readonly lost: string[]
  /** How the next writes fail, in order. */
  readonly failures: Failure[]
}

async function openBed(): Promise<Bed> {
  const path = join(testTempDir('fault'), 'database')
  const failures: Failure[] = []
  const interceptWrite = async (write: () => Promise<void>): Promise<void> => {
    const failure = failures.shift()
    if (failure !== 'not_stored' && failure !== 'swallowed') await write()
    if (failure === 'stored' || failure === 'not_stored') throw new Error('IO error: made to fail')
  }
  const store = await openLevelStore({ path, create: true, fence: SUITE_FENCE, interceptWrite })
  const healths: StoreHealth[] = []
  const lost: string[] = []
  store.on('health', health => healths.push(health))
  store.on('lost', session => lost.push(session))
  onTestFinished(() => store.close())
  for (const session of ['a', 'b']) await store.acquire(session)
  await store.append([itemOf('a', NOTHING), itemOf('b', NOTHING)])
  return { path, store, healths, lost, failures }
}

test('E7 a batch that failed and is not on disk is proved absent; what was decided on it falls, the rest goes on', async () => {
  const { store, healths, failures } = await openBed()
  const reads = [store.head('a'), store.document('a')]
  failures.push('not_stored')
  const first = store.append([itemOf('a', after(NOTHING))])
  await new Promise(setImmediate)
  const dependent = store.append([itemOf('a', after(NOTHING, 2))])
  const other = store.append([itemOf('b', after(NOTHING))])
  expect(await first).toMatchObject([ABSENT])
  expect(await dependent).toMatchObject([ABSENT])
  expect(await other).toEqual([{ kind: 'committed', head: after(NOTHING, 2) }])
  expect(healths).toEqual(['recovering', 'ok'])
  expect(await Promise.all(reads)).toMatchObject([after(NOTHING), { updates: [{ number: 1 }] }])
  expect(await store.append([itemOf('a', after(NOTHING))])).toEqual([{ kind: 'committed', head: after(NOTHING, 2) }])
  expect((await store.ledger('a', 0, 10)).map(record => record.revision)).toEqual([1, 2])
})

test('E7 a batch that was reported as failed and is on disk is durable, and what waited on it is stored', async () => {
  const { store, healths, failures } = await openBed()
  failures.push('stored')
  const outcomes = [2, 3, 4].map(count => store.append([itemOf('a', after(NOTHING, count - 1))]))
  await new Promise(setImmediate)
  outcomes.push(store.append([itemOf('a', after(NOTHING, 4))]))
  expect(await Promise.all(outcomes)).toEqual([2, 3, 4, 5].map(n => [{ kind: 'committed', head: after(NOTHING, n) }]))
  expect(healths).toEqual(['recovering', 'ok'])
  expect((await store.document('a')).updates.map(update => update.number)).toEqual([1, 2, 3, 4, 5])
})

test('E7 a disk that shows neither state is a fault for good: read-only, and nothing is acknowledged', async () => {
  const { store, healths, failures } = await openBed()
  failures.push('swallowed', 'not_stored')
  await store.append([itemOf('a', after(NOTHING))])
  expect(await store.append([itemOf('b', after(NOTHING))])).toEqual([{ kind: 'unknown' }])
  expect(healths).toEqual(['recovering', 'fault'])
  expect(await store.append([itemOf('a', after(NOTHING))])).toMatchObject([{ kind: 'failed', code: 'storage_fault' }])
  await expect(store.putRootRecord('epoch', new Uint8Array(1))).rejects.toMatchObject({ code: 'storage_fault' })
  expect(await store.head('a')).toEqual(after(NOTHING))
  expect((await store.ledger('a', 0, 10)).length).toBe(1)
})

test('E7 while I/O does not probe well outcomes are unknown and reading goes on; then the truth is found', async () => {
  const { path, store, healths, lost, failures } = await openBed()
  mkdirSync(`${path}.probe`)
  failures.push('stored')
  const first = store.append([itemOf('a', after(NOTHING))])
  await new Promise(setImmediate)
  const waiting = store.append([itemOf('b', after(NOTHING))])
  expect(await first).toEqual([{ kind: 'unknown' }])
  expect(await waiting).toMatchObject([ABSENT])
  expect(store.health).toBe('recovering')
  expect(await store.append([itemOf('b', after(NOTHING))])).toMatchObject([ABSENT])
  expect(await store.head('b')).toEqual(after(NOTHING))
  expect(await store.acquire('a')).toMatchObject({ kind: 'owned' })
  rmdirSync(`${path}.probe`)
  await waitFor(() => store.health === 'ok')
  expect(healths).toEqual(['recovering', 'ok'])
  expect(lost).toEqual([])
  expect(await store.acquire('a')).toMatchObject({ kind: 'owned', head: after(NOTHING, 2) })
  expect(await store.append([itemOf('a', after(NOTHING, 2)), itemOf('b', after(NOTHING))])).toEqual([
    { kind: 'committed', head: after(NOTHING, 3) },
    { kind: 'committed', head: after(NOTHING, 2) },
  ])
})

test('E7 after an unknown outcome only acquire is legal, also when the batch proves to be absent', async () => {
  const { path, store, lost, failures } = await openBed()
  mkdirSync(`${path}.probe`)
  failures.push('not_stored')
  expect(await store.append([itemOf('a', after(NOTHING))])).toEqual([{ kind: 'unknown' }])
  rmdirSync(`${path}.probe`)
  await waitFor(() => store.health === 'ok')
  expect(await store.append([itemOf('a', after(NOTHING))])).toEqual([{ kind: 'fenced' }])
  expect(await store.acquire('a')).toMatchObject({ kind: 'owned', head: after(NOTHING) })
  expect(await store.append([itemOf('a', after(NOTHING))])).toEqual([{ kind: 'committed', head: after(NOTHING, 2) }])
  expect(lost).toEqual([])
})

test('E7 every acknowledged write survives any series of failures, and every refused one is absent', async () => {
  const { store, failures } = await openBed()
  let head = after(NOTHING)
  const kinds: Failure[] = ['stored', 'not_stored', 'not_stored', 'stored']
  for (let round = 0; round < 40; round += 1) {
    const failure = kinds[round % 5]
    if (failure !== undefined) failures.push(failure)
    const [outcome] = await store.append([itemOf('a', head)])
    expect(outcome?.kind).toBe(failure === 'not_stored' ? 'failed' : 'committed')
    if (outcome?.kind === 'committed') head = outcome.head
    expect(await store.head('a')).toEqual(head)
  }
  const revisions = (await store.ledger('a', 0, 100)).map(record => record.revision)
  expect(revisions).toEqual(Array.from({ length: head.revision }, (_, index) => index + 1))
})
