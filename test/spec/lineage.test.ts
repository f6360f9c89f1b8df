import { expect, test } from 'vitest'
import { beginLineage, readLineage } from '../../leader/lineage.ts'
import { type MemoryDisk, openMemoryStore } from '../../leader/log/memory-store.ts'
import { verifySession } from '../../leader/verify/verify-session.ts'
import { lineageOf } from '../../schema/projection/lineage.ts'
import { SessionWorld } from '../support/session/session-world.ts'

/** A disk with one session of the first lineage. */
async function diskWithSession(): Promise<MemoryDisk> {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  return world.store.disk
}

const generationOf = async ({ store }: SessionWorld): Promise<string> =>
  (await store.document('s')).snapshot?.generation ?? 'not built anew'

test('V7 a root has no lineage until one is begun, and then a random one each time', async () => {
  const store = await openMemoryStore()
  expect(await readLineage(store)).toEqual({ id: '', foreignThrough: 0 })
  const first = await beginLineage(store)
  expect(first).toMatch(/^[0-9a-f]{8}$/)
  expect((await readLineage(store)).id).toBe(first)
  expect(await beginLineage(store)).not.toBe(first)
  expect([lineageOf(`${first}.g`), lineageOf('g'), lineageOf('0123abcd-1234')]).toEqual([first, '', ''])
})

test('V7 a document of another lineage is built anew when it is loaded, once, and goes on from there', async () => {
  const disk = await diskWithSession()
  const lineage = await beginLineage(await openMemoryStore({ disk }))
  for (const epochNumber of [2, 3]) {
    const store = await openMemoryStore({ disk })
    expect((await store.document('s')).snapshot === null).toBe(epochNumber === 2)
    const world = new SessionWorld({ store, epochNumber, env: { lineage } })
    await world.ok('session.update', {
      sessionId: 's',
      operationId: `o${epochNumber}`,
      expectedRevision: epochNumber - 1,
      patch: { title: `title ${epochNumber}` },
    })
    expect(lineageOf(await generationOf(world))).toBe(lineage)
    expect((await store.document('s')).updates.map(({ number }) => number)).toEqual(epochNumber === 2 ? [2] : [2, 3])
    expect((await verifySession(await store.freeze(), 's')).faults).toEqual([])
  }
})

test('V7 E8 a document that cannot be stored anew is not shown and not written on; the next try does it', async () => {
  const store = await openMemoryStore({ disk: await diskWithSession() })
  const lineage = await beginLineage(store)
  const world = new SessionWorld({ store, epochNumber: 2, env: { lineage } })
  store.faults.failNext('failed')
  await expect(world.sessions.open('s')).rejects.toMatchObject({ code: 'persistence_failed' })
  expect((await store.document('s')).snapshot).toBe(null)
  await world.sessions.open('s')
  expect(lineageOf(await generationOf(world))).toBe(lineage)
})
