import { expect, test } from 'vitest'
import { openMemoryStore } from '../../leader/log/memory-store.ts'
import { after, itemOf, NOTHING, SUITE_FENCE } from '../support/store-items.ts'

async function openOwned(...sessions: readonly string[]) {
  const store = await openMemoryStore({ fence: SUITE_FENCE })
  for (const session of sessions) await store.acquire(session)
  await store.append(sessions.map(session => itemOf(session, NOTHING)))
  return store
}

test('A2 a batch that hangs is not seen by anyone; when it fails nobody ever saw it', async () => {
  const store = await openOwned('s')
  store.faults.hold()
  store.faults.failNext('failed')
  const pending = store.append([itemOf('s', after(NOTHING))])
  await store.faults.held()
  const dependent = store.append([itemOf('s', after(NOTHING, 2))])
  expect(await store.head('s')).toEqual(after(NOTHING))
  expect(await store.ledger('s', 1, 10)).toEqual([])
  expect((await store.document('s')).updates).toHaveLength(1)
  store.faults.release()
  expect(await pending).toMatchObject([{ kind: 'failed', code: 'persistence_failed' }])
  expect(await dependent).toMatchObject([{ kind: 'failed', code: 'persistence_failed' }])
  expect(await store.append([itemOf('s', after(NOTHING))])).toEqual([{ kind: 'committed', head: after(NOTHING, 2) }])
})

test('A2 a batch that hangs and is let go is stored, and so is what filled the next one', async () => {
  const store = await openOwned('s')
  store.faults.hold()
  const writes = [1, 2, 3].map(count => store.append([itemOf('s', after(NOTHING, count))]))
  await store.faults.held()
  writes.push(store.append([itemOf('s', after(NOTHING, 4))]))
  store.faults.release()
  expect(await Promise.all(writes)).toEqual([2, 3, 4, 5].map(n => [{ kind: 'committed', head: after(NOTHING, n) }]))
})

test.each([
  ['unknown_stored' as const, 2],
  ['unknown_absent' as const, 1],
])('E7 after an outcome that is unknown (%s) only acquire is legal, and it tells the truth', async (failure, count) => {
  const store = await openOwned('s', 't')
  const healths: string[] = []
  store.on('health', health => healths.push(health))
  store.faults.failNext(failure)
  expect(await store.append([itemOf('s', after(NOTHING))])).toEqual([{ kind: 'unknown' }])
  await new Promise(setImmediate)
  expect(healths).toEqual(['recovering', 'ok'])
  expect(await store.append([itemOf('s', after(NOTHING, count))])).toEqual([{ kind: 'fenced' }])
  const head = after(NOTHING, count)
  expect(await store.acquire('s')).toEqual({ kind: 'owned', fence: SUITE_FENCE, head })
  expect(await store.append([itemOf('s', head), itemOf('t', after(NOTHING))])).toEqual([
    { kind: 'committed', head: after(head) },
    { kind: 'committed', head: after(NOTHING, 2) },
  ])
})

test('E8 a full disk refuses everything until there is space', async () => {
  const store = await openOwned('s')
  store.faults.failNext('full')
  const writes = [store.append([itemOf('s', after(NOTHING))]), store.append([itemOf('s', after(NOTHING, 2))])]
  expect(await Promise.all(writes)).toEqual([[{ kind: 'full' }], [{ kind: 'full' }]])
  expect(store.health).toBe('full')
  expect(await store.append([itemOf('s', after(NOTHING))])).toEqual([{ kind: 'full' }])
  await expect(store.putArtifactPiece('h', 0, new Uint8Array(1))).rejects.toMatchObject({ code: 'storage_full' })
  expect(await store.head('s')).toEqual(after(NOTHING))
  store.faults.freeSpace()
  expect(await store.append([itemOf('s', after(NOTHING))])).toEqual([{ kind: 'committed', head: after(NOTHING, 2) }])
})

test('A1 a session that another leader took is lost and cannot be written', async () => {
  const store = await openOwned('s', 't')
  const lost: string[] = []
  const stop = store.on('lost', session => lost.push(session))
  store.faults.hold()
  const flying = store.append([itemOf('t', after(NOTHING))])
  await store.faults.held()
  const waiting = store.append([itemOf('s', after(NOTHING))])
  store.faults.takeSession('s', 'other', 'http://127.0.0.1:1')
  store.faults.release()
  expect(await flying).toMatchObject([{ kind: 'committed' }])
  expect(await waiting).toEqual([{ kind: 'fenced' }])
  expect(await store.acquire('s')).toEqual({ kind: 'held', by: 'other', url: 'http://127.0.0.1:1' })
  expect(lost).toEqual(['s'])
  stop()
  store.faults.returnSession('s')
  expect(await store.acquire('s')).toEqual({ kind: 'owned', fence: SUITE_FENCE, head: after(NOTHING) })
})
