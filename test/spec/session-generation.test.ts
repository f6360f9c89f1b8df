import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { MemoryFailure } from '../../leader/log/memory-store.ts'
import { LIMITS } from '../../schema/limits.ts'
import { newDocument } from '../../schema/projection/layout.ts'
import { SessionReader } from '../../schema/projection/read.ts'
import { RoomSocket } from '../support/room-socket.ts'
import { keepBusy } from '../support/session/crowd.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'

function generationOf(socket: RoomSocket): string {
  const generation = socket.awareness.at(-1)?.generation
  if (generation === undefined) throw new Error('no generation was told')
  return generation
}

function shown(doc: Y.Doc): unknown {
  return new SessionReader(doc).read({ hostEpoch: 'e', baseRevision: 1, presence: [], presenceCount: 0 })
}

/** Changes the title until the document is garbage by half, and so is built anew as soon as nobody is attached. */
async function litter(world: SessionWorld, changes: number): Promise<void> {
  let { revision } = (await world.ok('session.get', { sessionId: SESSION })).session
  for (let change = 0; change < changes; change++) {
    const patch = { title: `${'long title '.repeat(16)}${revision}` }
    await world.ok('session.update', { sessionId: SESSION, expectedRevision: revision, patch })
    revision += 1
  }
}

/** Leaves as many dead records as it takes: entries of a queue come and go. */
async function makeDirty(world: SessionWorld): Promise<void> {
  for (let round = 0; round < 12; round++) {
    for (let entry = 0; entry < 12; entry++) await world.submit(SESSION, `m-${round}-${entry}`)
    await world.ok('queue.retract', { sessionId: SESSION, retractId: `r-${round}` })
  }
}

/** A replica of `socket`'s document that knows more than its leader, and says of which generation. */
async function joinAhead(world: SessionWorld, socket: RoomSocket): Promise<RoomSocket> {
  const ahead = newDocument()
  Y.applyUpdate(ahead, Y.encodeStateAsUpdate(socket.doc))
  ahead.getMap('elsewhere').set('key', 'written under a writer the leader does not know')
  const replica = new RoomSocket('ahead', ahead)
  const outcome = await world.host.joinSession(SESSION, { generation: generationOf(socket) }, replica)
  if (outcome.kind === 'refused') {
    replica.close(outcome.closeCode, outcome.reason)
    return replica
  }
  replica.membership = outcome.membership
  replica.ask()
  return replica
}

test('V7 a document that nobody follows is built anew when half of it is garbage, with all that it shows', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  await world.start(SESSION, 't-1')
  const { core } = await world.loop(SESSION)
  const socket = await world.join(SESSION)
  const generation = generationOf(socket)
  await makeDirty(world)
  expect((await world.onDisk(SESSION)).document.generation).toBe(generation)
  socket.membership?.leave()
  await litter(world, 2)
  await world.advance(33)
  expect(core.isIdle).toBe(true)
  const { document, state } = await world.onDisk(SESSION)
  expect(document.generation).not.toBe(generation)
  expect(document.stats().garbageBytes).toBeLessThan(document.stats().liveBytes)
  expect(state).toEqual(core.durable)
  // It goes on from there.
  await litter(world, 3)
  await world.onDisk(SESSION)
})

test('V6 V7 while a new generation is made nothing of the old one is shown as live: members are closed 4410 and come back', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const run = await world.start(SESSION, 't-1')
  await world.during(run.text('streamed before '))
  const members = [await world.join(SESSION), await world.join(SESSION)]
  const old = generationOf(members[0] as RoomSocket)
  const stock = await world.join(SESSION)
  world.store.faults.hold()
  const replica = await joinAhead(world, members[0] as RoomSocket)
  expect(replica.closed?.code).toBe(4410)
  await world.store.faults.held()
  for (const member of members) member.look()
  // The build is being stored: decided is nothing, flushed is nothing, and nobody was sent anything of either build.
  const update = world.call('session.update', { sessionId: SESSION, expectedRevision: 2, patch: { title: 'after' } })
  const text = run.text('streamed meanwhile ')
  await world.advance(99)
  expect(members.flatMap(member => member.look()).filter(kind => kind !== 'awareness')).toEqual([])
  world.store.faults.release()
  expect(await world.during(update)).toMatchObject({ ok: true })
  await world.during(text)
  expect([...members, stock].map(member => member.closed?.code)).toEqual([4410, 4410, 4410])

  // With the old generation nobody gets in; with an empty document everybody does.
  const late = await world.join(SESSION, old)
  expect(late.closed?.code).toBe(4410)
  const fresh = await world.join(SESSION)
  expect(generationOf(fresh)).not.toBe(old)
  expect(fresh.awareness.at(-1)?.wentBack).toBe(true)
  await world.during(run.text('and after'))
  const onDisk = await world.onDisk(SESSION)
  expect(shown(fresh.doc)).toEqual(shown(onDisk.document.doc))
  expect(onDisk.document.openBlocks().map(block => block.text)).toEqual([
    'streamed before streamed meanwhile and after',
  ])
  expect(onDisk.document.generation).toBe(generationOf(fresh))
  await run.end()
  expect((await world.onDisk(SESSION)).document.openBlocks()).toEqual([])
})

test('D1 V6 the document of a damaged session is not built anew, though a replica is ahead of it', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const first = await world.join(SESSION)
  const stored = await world.store.document(SESSION)
  world.sessions.quarantine(SESSION, 'for the test')
  expect((await joinAhead(world, first)).closed?.code).toBe(4410)
  await world.advance(33)
  expect(await world.store.document(SESSION)).toEqual(stored)
  const fresh = await world.join(SESSION)
  expect([fresh.closed, generationOf(fresh)]).toEqual([undefined, generationOf(first)])
})

test('V6 a root that went back gets one new generation for a session in an epoch, however many replicas are ahead', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 1 } })
  await world.create(SESSION)
  const first = await world.join(SESSION)
  expect((await joinAhead(world, first)).closed?.code).toBe(4410)
  await world.advance(33)
  const second = await world.join(SESSION)
  const generation = generationOf(second)
  expect(generation).not.toBe(generationOf(first))
  expect((await joinAhead(world, second)).closed?.code).toBe(4410)
  await world.advance(33)
  const third = await world.join(SESSION)
  expect([generationOf(third), third.awareness.at(-1)?.wentBack]).toEqual([generation, true])
  // Also when it was unloaded meanwhile.
  for (const socket of [first, second, third]) socket.membership?.leave()
  await world.create('s-2')
  await world.advance(1_100)
  await world.create('s-3')
  expect([...world.sessions.loaded].map(loop => loop.sessionId)).not.toContain(SESSION)
  const fourth = await world.join(SESSION)
  await joinAhead(world, fourth)
  await world.advance(33)
  expect(generationOf(await world.join(SESSION))).toBe(generation)
  expect(world.logged.filter(line => line.message.includes('went back'))).toHaveLength(1)
})

test('V6 a new generation that is asked for while the log is being shortened is made after it', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const socket = await world.join(SESSION)
  const { compact } = world.store
  let started = 0
  let finish = (): void => {}
  world.store.compact = async (session, fence, snapshot) => {
    started += 1
    if (started === 1) await new Promise<void>(resolve => (finish = resolve))
    return await compact.call(world.store, session, fence, snapshot)
  }
  await litter(world, LIMITS.updatesPerSnapshot)
  expect(started).toBe(1)
  await joinAhead(world, socket)
  await settle()
  expect(socket.closed).toBeUndefined()
  finish()
  await world.advance(33)
  expect(started).toBe(2)
  expect(socket.closed?.code).toBe(4410)
  await world.onDisk(SESSION)
})

test.each(['failed', 'full', 'unknown_stored', 'unknown_absent'] as const satisfies readonly MemoryFailure[])(
  'V7 E7 a build that could not be stored (%s) leaves one document: the one on disk',
  async failure => {
    const world = await SessionWorld.inMemory()
    await world.create(SESSION)
    const run = await world.start(SESSION, 't-1')
    await world.during(run.text('one '))
    const socket = await world.join(SESSION)
    world.store.faults.failNext(failure)
    await joinAhead(world, socket)
    if (failure === 'full') {
      await world.advance(99)
      world.store.faults.freeSpace()
    }
    await world.during(run.text('two '))
    const update = { sessionId: SESSION, expectedRevision: 2, patch: { title: 'after' } }
    expect(await world.during(world.call('session.update', update))).toMatchObject({ ok: true })
    await world.during(run.text('three'))
    const { document } = await world.onDisk(SESSION)
    const fresh = await world.join(SESSION)
    expect(generationOf(fresh)).toBe(document.generation)
    expect(shown(fresh.doc)).toEqual(shown(document.doc))
    expect(document.openBlocks().map(block => block.text)).toEqual(['one two three'])
  },
)

test('A7 the log of a document that was long already when it was loaded is shortened', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 1 } })
  await world.create(SESSION)
  await litter(world, LIMITS.updatesPerSnapshot - 10)
  await world.create('s-2')
  expect((await world.store.document(SESSION)).snapshot).toBeNull()
  await litter(world, 10)
  await world.advance(33)
  const { snapshot, updates } = await world.store.document(SESSION)
  expect(snapshot?.through).toBeGreaterThan(LIMITS.updatesPerSnapshot - 10)
  expect(updates.length).toBeLessThan(10)
  await world.onDisk(SESSION)
})

test('A7 V7 a session that never comes to rest is held up for its upkeep', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  let revision = 0
  await keepBusy(world, () => {
    if (revision === 3 * LIMITS.updatesPerSnapshot) return null
    revision += 1
    const patch = { title: `title ${revision}` }
    return world.ok('session.update', { sessionId: SESSION, expectedRevision: revision, patch })
  })
  const { snapshot, updates } = await world.store.document(SESSION)
  expect(snapshot).not.toBeNull()
  expect(updates.length).toBeLessThan(2.5 * LIMITS.updatesPerSnapshot)
  expect((await world.onDisk(SESSION)).state.header?.revision).toBe(revision + 1)
})

test('V7 E7 a session that is loaded again and again under new writers is built anew before it has more than 256', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  let socket = await world.join(SESSION)
  const generations = new Set([generationOf(socket)])
  let most = 0
  for (let load = 0; load < 150; load++) {
    world.store.faults.failNext('failed')
    const lost = { sessionId: SESSION, expectedRevision: 0, patch: { title: 'lost' } }
    expect(await world.call('session.update', lost)).toMatchObject({ ok: false })
    await litter(world, 1)
    await settle()
    if (socket.closed !== undefined) socket = await world.join(SESSION)
    generations.add(generationOf(socket))
    most = Math.max(most, (await world.onDisk(SESSION)).document.doc.store.clients.size)
  }
  expect(most).toBeGreaterThan(LIMITS.documentWriterIds - 8)
  expect(most).toBeLessThanOrEqual(LIMITS.documentWriterIds + 8)
  expect(generations.size).toBe(2)
})
