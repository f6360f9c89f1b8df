import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { openLevelStore } from '../../leader/log/level-store.ts'
import type { AppendOutcome, SessionHead, Store } from '../../leader/log/store.ts'
import { LIMITS } from '../../schema/limits.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { after, NOTHING, SUITE_FENCE } from '../support/store-items.ts'
import { waitFor } from '../support/wait-for.ts'

const PIECE_BYTES = 64 * 1024
const MIB = 1024 * 1024

function smallDisk(context: TestContext, sizeMiB: number): string {
  const disk = mountSmallDisk(sizeMiB)
  if ('reason' in disk) context.skip(disk.reason)
  return 'path' in disk ? disk.path : ''
}

/** Random, so that it needs the same room in a table as in the log. */
async function appendPiece(store: Store, session: string, head: SessionHead): Promise<AppendOutcome> {
  const transition = {
    record: { revision: head.revision + 1, bytes: new TextEncoder().encode(`record ${head.revision + 1}`) },
    update: { number: head.update + 1, bytes: randomBytes(PIECE_BYTES) },
  }
  const item = { session, fence: SUITE_FENCE, expectedHead: head, transitions: [transition] }
  const [outcome] = await store.append([item])
  if (outcome === undefined) throw new Error('no outcome')
  return outcome
}

/** Writes until the store refuses; the last acknowledged head and the refusal. */
async function fill(store: Store, session: string, from: SessionHead): Promise<[SessionHead, AppendOutcome]> {
  let head = from
  for (let count = 0; count < 1_000; count += 1) {
    const outcome = await appendPiece(store, session, head)
    if (outcome.kind !== 'committed') return [head, outcome]
    head = outcome.head
  }
  throw new Error('the disk did not get full')
}

async function expectWhole(store: Store, session: string, head: SessionHead): Promise<void> {
  expect(await store.head(session)).toEqual(head)
  const numbers = Array.from({ length: head.update }, (_, index) => index + 1)
  expect((await store.document(session)).updates.map(update => update.number)).toEqual(numbers)
  expect((await store.ledger(session, 0, 1_000)).map(record => record.revision)).toEqual(numbers)
}

test('E8 a full disk refuses writes, loses nothing acknowledged, stays readable and resumes by itself', async context => {
  const disk = smallDisk(context, 24)
  const path = join(disk, 'database')
  const ballastPath = join(disk, 'ballast')
  const filler = join(disk, 'filler')
  const store = await openLevelStore({ path, create: true, fence: SUITE_FENCE, ballastPath })
  const healths: string[] = []
  store.on('health', health => healths.push(health))
  await waitFor(() => existsSync(ballastPath) && statSync(ballastPath).size === LIMITS.ballastBytes)
  writeFileSync(filler, randomBytes(6 * MIB))
  await Promise.all([store.acquire('s'), store.acquire('t')])

  const [head, refusal] = await fill(store, 's', NOTHING)
  expect(['full', 'unknown']).toContain(refusal.kind)
  expect(head.update).toBeGreaterThan(5)
  expect(store.health).toBe('full')
  expect(existsSync(ballastPath)).toBe(false)
  for (let count = 0; count < 3; count += 1) expect(await appendPiece(store, 't', NOTHING)).toEqual({ kind: 'full' })
  await expect(store.putRootRecord('epoch', new Uint8Array(8))).rejects.toMatchObject({ code: 'storage_full' })
  await expectWhole(store, 's', head)

  rmSync(filler)
  const freedAt = performance.now()
  await waitFor(() => store.health === 'ok', { deadlineMs: 10_000 })
  expect(performance.now() - freedAt).toBeLessThan(10_000)
  expect(statSync(ballastPath).size).toBe(LIMITS.ballastBytes)
  expect(healths).toEqual(['recovering', 'full', 'ok'])
  expect(await store.acquire('s')).toMatchObject({ kind: 'owned', head })
  expect(await appendPiece(store, 's', head)).toEqual({ kind: 'committed', head: after(head) })
  expect(await appendPiece(store, 't', NOTHING)).toEqual({ kind: 'committed', head: after(NOTHING) })
  await store.close()

  const again = await openLevelStore({ path, create: false, fence: SUITE_FENCE, ballastPath })
  await expectWhole(again, 's', after(head))
  await again.close()
})

test('E8 with nothing to free, the database stays open for reading until there is room to open it again', async context => {
  const disk = smallDisk(context, 12)
  const path = join(disk, 'database')
  const filler = join(disk, 'filler')
  const store = await openLevelStore({ path, create: true, fence: SUITE_FENCE })
  await store.acquire('s')
  writeFileSync(filler, randomBytes(7 * MIB))
  const [head, refusal] = await fill(store, 's', NOTHING)
  expect(refusal).toEqual({ kind: 'unknown' })
  expect(store.health).toBe('full')
  expect(await appendPiece(store, 's', head)).toEqual({ kind: 'full' })
  await expectWhole(store, 's', head)

  rmSync(filler)
  await waitFor(() => store.health === 'ok', { deadlineMs: 10_000 })
  expect(await store.acquire('s')).toMatchObject({ kind: 'owned', head })
  expect(await appendPiece(store, 's', head)).toEqual({ kind: 'committed', head: after(head) })
  await expectWhole(store, 's', after(head))
  await store.close()
})

test('E8 a store that is opened on a full disk frees its ballast, is readable and resumes when there is room', async context => {
  const disk = smallDisk(context, 28)
  const path = join(disk, 'database')
  const ballastPath = join(disk, 'ballast')
  const filler = join(disk, 'filler')
  const store = await openLevelStore({ path, create: true, fence: SUITE_FENCE, ballastPath })
  await store.acquire('s')
  let head = NOTHING
  for (let count = 0; count < 20; count += 1) {
    const outcome = await appendPiece(store, 's', head)
    if (outcome.kind === 'committed') head = outcome.head
  }
  await waitFor(() => existsSync(ballastPath) && statSync(ballastPath).size === LIMITS.ballastBytes)
  await store.close()
  fillDisk(filler)

  const again = await openLevelStore({ path, create: false, fence: SUITE_FENCE, ballastPath })
  expect(again.health).toBe('full')
  expect(await again.acquire('s')).toMatchObject({ kind: 'owned', head })
  expect(await appendPiece(again, 's', head)).toEqual({ kind: 'full' })
  await expectWhole(again, 's', head)
  rmSync(filler)
  await waitFor(() => again.health === 'ok', { deadlineMs: 10_000 })
  expect(await appendPiece(again, 's', head)).toEqual({ kind: 'committed', head: after(head) })
  await again.close()
})

function fillDisk(path: string): void {
  const piece = randomBytes(4096)
  try {
    for (let count = 0; count < 100_000; count += 1) writeFileSync(path, piece, { flag: 'a' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return
    throw error
  }
  throw new Error('the disk did not get full')
}
