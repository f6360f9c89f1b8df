import { expect, onTestFinished, test, vi } from 'vitest'
import * as Y from 'yjs'
import { isAhead, stepBetween } from '../../replica/client/document/acceptance.ts'
import { asOfAfter, documentFreshness, nextFreshness } from '../../replica/client/freshness.ts'
import type { SessionSubscription } from '../../replica/client/types.ts'
import type { CatalogRow, PresenceRow } from '../../schema/entities/projection.ts'
import { newDocument, readHead, section } from '../../schema/projection/layout.ts'
import { SessionReader } from '../../schema/projection/read.ts'
import { applyUpdate, readPosition } from '../../schema/projection/replicated.ts'
import { encodeSyncStep2, encodeSyncUpdate } from '../../schema/wire/sync.ts'
import { SessionWriter } from '../support/replica/session-writer.ts'
import { SESSION, World } from '../support/replica/world.ts'

/** A world in which one session is followed. */
async function followed(world = new World(), writer = new SessionWriter('s1', 'g1')) {
  const connection = await world.connect()
  world.leader.serve(SESSION, writer.doc)
  const session = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  return { world, connection, writer, session }
}

/** What a fresh reader of the leader's document shows. */
function truth(writer: SessionWriter, session: SessionSubscription): unknown {
  const { hostEpoch, presence, presenceCount } = session.current
  const doc = newDocument()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(writer.doc))
  return new SessionReader(doc).read({ hostEpoch, baseRevision: 1, presence, presenceCount })
}

const shown = (session: SessionSubscription) => [
  session.freshness.state,
  session.current.session.title,
  session.current.revision,
]

test('V2 V4 a subscription opens with the state, its epoch and where the epoch began', async () => {
  const { session, writer } = await followed()
  expect(session.current).toEqual(truth(writer, session))
  expect([session.hostEpoch, session.current.projectionRevision, session.current.generation]).toEqual([
    'epoch-1',
    1,
    'g1',
  ])
  expect(session.snapshot).toBe(session.current)
  expect(session.freshness).toEqual({ state: 'live', asOf: expect.any(Number) })
})

test('V1 a view is live only when step 2 and the awareness are there', async () => {
  const world = new World()
  const connection = await world.connect()
  world.leader.serve(SESSION, new SessionWriter('s1', 'g1').doc)
  let isOpen = false
  void connection.openSessionSubscription({ sessionId: 's1' }).then(() => {
    isOpen = true
  })
  await new Promise(resolve => setImmediate(resolve))
  // open, step 1, step 2
  for (let i = 0; i < 3; i++) {
    expect(world.network.step()).toBe(true)
    await new Promise(resolve => setImmediate(resolve))
    expect(isOpen).toBe(false)
  }
  await world.network.flush()
  expect(isOpen).toBe(true)
})

test('V1 a replica sends nothing on a document but sync step 1, and offers its ticket as the second protocol', async () => {
  // The fake leader throws at any other message.
  const { world, writer, session } = await followed()
  world.leader.publish(SESSION, writer.retitle('one'))
  await world.network.flush()
  expect([world.leader.asked(SESSION), world.leader.joins]).toEqual([1, [SESSION]])
  expect(shown(session)).toEqual(['live', 'one', 2])
})

test('V3 V5 transitions and deltas are shown one by one, and what did not change keeps its identity', async () => {
  const { world, writer, session } = await followed()
  const first = session.current
  world.leader.publish(SESSION, writer.delta({ b1: 'Hel' }))
  await world.network.flush()
  const second = session.current
  expect([second.revision, second.projectionRevision]).toEqual([1, 1])
  expect(second.session).toBe(first.session)
  expect(second.queue).toBe(first.queue)
  world.leader.publish(SESSION, writer.delta({ b1: 'lo' }))
  world.leader.publish(SESSION, writer.seal('b1', 1))
  await world.network.flush()
  expect(session.current).toEqual(truth(writer, session))
  expect(session.current.transcript.entries.map(entry => entry.kind === 'assistant' && entry.text)).toEqual(['Hello'])
  expect([session.current.revision, session.current.projectionRevision]).toEqual([2, 2])
})

test('V5 an update after a missing one is not shown before the document was synced again', async () => {
  const { world, writer, session } = await followed()
  const seen: unknown[] = []
  session.onChange(() => seen.push(shown(session)))
  writer.retitle('missed')
  world.leader.publish(SESSION, writer.retitle('two later'))
  await world.network.flush()
  expect(seen).toEqual([
    ['syncing', 'a session', 1],
    ['live', 'two later', 3],
  ])
  expect(world.leader.asked(SESSION)).toBe(2)
  expect(session.current).toEqual(truth(writer, session))
})

test('V5 parts that wait for a missing update are a resync, not a wait', async () => {
  const { world, writer, session } = await followed()
  writer.delta({ b1: 'first ' })
  world.leader.publish(SESSION, writer.delta({ b1: 'second' }))
  await world.network.step()
  await world.network.flush()
  expect(session.freshness.state).toBe('live')
  expect(session.current).toEqual(truth(writer, session))
  expect(session.doc.store.pendingStructs).toBe(null)
})

test('V5 a message that is no update is a resync, a torn one ends the socket', async () => {
  const { world, writer, session } = await followed()
  world.leader.publish(SESSION, Uint8Array.of(1, 1, 200, 3))
  await world.network.flush()
  expect([session.freshness.state, world.leader.asked(SESSION)]).toEqual(['live', 2])
  const joins = world.leader.joins.length
  for (const follower of world.leader.serve(SESSION, writer.doc).followers) follower.end.send('text')
  await world.pass(1_000)
  expect(session.freshness.state).toBe('live')
  expect(world.leader.joins.length).toBeGreaterThan(joins)
})

test('V5 an answer with parts missing is never shown: an empty copy takes its place', async () => {
  const { world, writer, session } = await followed()
  writer.retitle('missing')
  const torn = writer.retitle('after it')
  const seen: unknown[] = []
  session.onChange(() => seen.push(shown(session)))
  for (const end of world.leader.followers(SESSION)) end.send(encodeSyncStep2(torn))
  await world.pass(1_000)
  expect(seen).toEqual([
    ['syncing', 'a session', 1],
    ['live', 'after it', 3],
  ])
  expect(world.leader.joins).toEqual([SESSION, SESSION])
  expect(session.current).toEqual(truth(writer, session))
})

test('V10 V5 a whole state that was not asked for may jump, and is one resync', async () => {
  const { world, writer, session } = await followed()
  const frames = session[Symbol.asyncIterator]()
  for (const title of ['dropped', 'dropped too', 'newest']) writer.retitle(title)
  for (const end of world.leader.followers(SESSION)) end.send(encodeSyncStep2(Y.encodeStateAsUpdate(writer.doc)))
  world.leader.announce(SESSION, [])
  await world.network.flush()
  expect(shown(session)).toEqual(['live', 'newest', 4])
  world.leader.publish(SESSION, writer.retitle('next'))
  await world.network.flush()
  const kinds = [await frames.next(), await frames.next()].map(({ value }) => value.kind)
  expect(kinds).toEqual(['subscription.session_resynced', 'subscription.session_projection'])
})

test('V5 the next position is the only one that follows', () => {
  const at = (revision: number, delta: number, generation = 'g') => ({ generation, revision, delta, at: 0 })
  const step = (after: Parameters<typeof stepBetween>[1]) => stepBetween(at(5, 2), after)
  expect([step(at(5, 3)), step(at(6, 0))]).toEqual(['delta', 'transition'])
  const gaps = [at(5, 2), at(5, 4), at(6, 1), at(7, 0), at(4, 9), at(6, 0, 'h'), null]
  expect(gaps.map(step)).toEqual(gaps.map(() => 'gap'))
  expect([isAhead(at(5, 3), at(5, 2)), isAhead(at(5, 2), at(5, 2)), isAhead(at(4, 9), at(5, 0))]).toEqual([
    true,
    false,
    false,
  ])
})

test('V6 after a loss only what is missing travels, in the same epoch and after a restart', async () => {
  const { world, writer, session } = await followed()
  world.leader.publish(SESSION, writer.delta({ b1: 'x'.repeat(10_000) }))
  await world.network.flush()
  world.kill()
  await world.network.flush()
  expect(shown(session)).toEqual(['offline', 'a session', 1])
  const restarted = world.start({ hostEpoch: 'epoch-2' })
  writer.retitle('while away')
  restarted.serve(SESSION, writer.doc)
  let bytes = 0
  session.doc.on('update', (update: Uint8Array) => {
    bytes += update.length
  })
  const doc = session.doc
  await world.pass(3_000)
  expect(restarted.joins).toEqual([`${SESSION}?generation=g1`])
  expect(shown(session)).toEqual(['live', 'while away', 2])
  expect(session.doc).toBe(doc)
  expect(bytes).toBeLessThan(1_000)
  expect(session.current).toEqual(truth(writer, session))
  expect([session.hostEpoch, session.current.hostEpoch, session.current.queue.hostEpoch]).toEqual([
    'epoch-1',
    'epoch-2',
    'epoch-2',
  ])
})

test('V6 V7 a rebuilt document replaces the copy; nothing of the old build is shown as live', async () => {
  const { world, writer, session } = await followed()
  world.leader.publish(SESSION, writer.delta({ b1: 'old build' }))
  await world.network.flush()
  const old = session.doc
  const rebuilt = new SessionWriter('s1', 'g2', 2)
  rebuilt.retitle('rebuilt')
  const live: string[] = []
  session.onChange(() => {
    if (session.freshness.state === 'live') live.push(session.current.generation)
  })
  world.leader.serve(SESSION, rebuilt.doc)
  await world.network.flush()
  expect(live).toEqual(['g2'])
  expect(session.doc).not.toBe(old)
  expect(session.current).toEqual(truth(rebuilt, session))
  expect(session.aside).toBe(null)
  expect(readHead(old)).toEqual({ revision: 1, delta: 1, at: expect.any(Number) })
})

test('V6 BL-11 a leader that went back wins: the newer copy is set aside, read-only', async () => {
  const { world, writer, session } = await followed()
  const backup = Y.encodeStateAsUpdate(writer.doc)
  for (const title of ['one', 'two', 'three']) world.leader.publish(SESSION, writer.retitle(title))
  await world.network.flush()
  const newer = session.current
  world.kill()
  await world.network.flush()

  const restored = world.start({ hostEpoch: 'epoch-2' })
  const doc = newDocument()
  Y.applyUpdate(doc, backup)
  const room = restored.serve(SESSION, doc)
  const rebuilt = new SessionWriter('s1', 'g2', 2)
  const seen: string[] = []
  session.onChange(() => {
    if (session.freshness.state === 'live') seen.push(session.current.session.title)
    // The leader rebuilds under a new generation as soon as it has seen that a replica is ahead.
    if (room.wentBack && restored.joins.length === 2) restored.serve(SESSION, rebuilt.doc).wentBack = true
  })
  await world.pass(5_000)
  expect(seen.every(title => title === 'a session')).toBe(true)
  expect([session.freshness.state, session.current.generation]).toEqual(['live', 'g2'])
  expect(session.current).toEqual(truth(rebuilt, session))
  expect(session.aside?.projection).toBe(newer)
  expect(session.aside).toBe(session.aside)
  for (let i = 0; i < 20; i++) restored.publish(SESSION, rebuilt.retitle(`after ${i}`))
  await world.network.flush()
  expect(session.current).toEqual(truth(rebuilt, session))
})

test('V6 a leader that closes even an empty copy is tried again with back-off, not in a storm', async () => {
  const { world, session } = await followed()
  world.network.leader = {
    ...world.leader,
    open: end => {
      if (end.path === '/v1/commands') return world.leader.open(end)
      world.leader.joins.push(end.path)
      end.close(4410, 'other_generation')
      return { message: () => {}, close: () => {} }
    },
    http: request => world.leader.http(request),
  }
  world.leader.serve(SESSION, new SessionWriter('s1', 'g2').doc)
  const before = world.leader.joins.length
  await world.pass(20_000)
  expect(world.leader.joins.length - before).toBeLessThan(15)
  expect(session.freshness.state).toBe('syncing')
})

test('V4 presence and the leader’s facts give a new value, no revision', async () => {
  const { world, session } = await followed()
  const before = session.current
  const row: PresenceRow = { connectionId: 'c1', surface: 'tui', clientInstanceId: 'i2', since: 5 }
  world.leader.announce(SESSION, [row])
  await world.network.flush()
  const after = session.current
  expect(after).toEqual({ ...before, presence: [row], presenceCount: 1 })
  expect([after.session === before.session, after.transcript === before.transcript]).toEqual([true, true])
  world.leader.announce(SESSION, [row])
  await world.network.flush()
  expect(session.current).toBe(after)
})

test('D1 a session that is found damaged is shown so', async () => {
  const { world, session } = await followed()
  world.leader.announce(SESSION, [], { isDamaged: true })
  await world.network.flush()
  expect([session.current.session.status, session.freshness.state]).toEqual(['damaged', 'live'])
})

test('D1 A9 a session that the leader cannot read is refused as damaged; one that was open is shown on as damaged, not as live', async () => {
  const { world, session } = await followed()
  world.leader.damage(SESSION)
  await world.network.flush()
  expect(session.current.session.status).toBe('damaged')
  expect(session.freshness.state).not.toBe('live')
  const joins = world.leader.joins.length
  await world.pass(60_000)
  expect(world.leader.joins).toHaveLength(joins)
  const other = new World()
  const connection = await other.connect()
  other.leader.serve(SESSION, new SessionWriter('s1', 'g1').doc)
  other.leader.damage(SESSION)
  await expect(other.during(connection.openSessionSubscription({ sessionId: 's1' }))).rejects.toMatchObject({
    name: 'ReplicaOperationError',
    code: 'session_damaged',
  })
})

test('V9 A10 a document that goes silent is not live for longer than 15 s, and comes back', async () => {
  const { world, session, writer } = await followed()
  const path = SESSION
  const quiet = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5_000) {
      await world.pass(5_000)
      world.leader.publish(path, Uint8Array.of(0, 0))
      await world.network.flush()
    }
  }
  await quiet(60_000)
  expect([session.freshness.state, world.leader.joins.length]).toEqual(['live', 1])
  expect(world.clock.now() - (session.freshness.asOf ?? 0)).toBeLessThanOrEqual(5_100)
  // Its socket swallows everything while the command link is well.
  const room = world.leader.serve(SESSION, writer.doc)
  room.followers.clear()
  await world.pass(12_100)
  expect(world.leader.joins.length).toBeGreaterThan(1)
})

test('A10 a loss shows at once, with the time of the last proof', async () => {
  const { world, writer, session } = await followed()
  await world.pass(2_000)
  world.leader.publish(SESSION, writer.retitle('last'))
  await world.network.flush()
  const states: string[] = []
  session.onChange(() => states.push(session.freshness.state))
  world.kill()
  await world.network.flush()
  expect(states).toEqual(['offline'])
  expect(session.freshness).toEqual({ state: 'offline', asOf: writer.head.at })
})

test('A10 freshness is a function of connection, phase and proofs', () => {
  const states = (['live', 'syncing', 'offline'] as const).map(connection =>
    (['live', 'joining', 'offline'] as const).map(phase => documentFreshness(connection, phase)),
  )
  expect(states).toEqual([
    ['live', 'syncing', 'syncing'],
    ['syncing', 'syncing', 'syncing'],
    ['offline', 'offline', 'offline'],
  ])
  expect(asOfAfter(null, { kind: 'quiet', leaderTime: null })).toBe(null)
  expect(asOfAfter(7, { kind: 'quiet', leaderTime: null })).toBe(7)
  expect(asOfAfter(7, { kind: 'quiet', leaderTime: 9 })).toBe(9)
  expect(asOfAfter(7, { kind: 'said', at: 5 })).toBe(5)
  expect(asOfAfter(7, { kind: 'published', at: 8 })).toBe(8)
  const known = nextFreshness({ state: 'offline', asOf: null }, 'live', 3)
  expect(nextFreshness(known, 'live', 3)).toBe(known)
  expect(Object.isFrozen(known)).toBe(true)
})

test('V2 documents are shared by all who opened them and closed with the last', async () => {
  const { world, connection, session } = await followed()
  const other = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  expect(world.leader.joins.length).toBe(1)
  expect(other.current).toBe(session.current)
  expect(other.doc).toBe(session.doc)
  await session.close()
  await world.network.flush()
  expect(other.freshness.state).toBe('live')
  await other.close()
  await other.close()
  await world.network.flush()
  expect(world.leader.serve(SESSION, new SessionWriter('s1', 'g3').doc).followers.size).toBe(0)
  expect(other.freshness.state).toBe('offline')
  const again = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  expect([again.current.generation, world.leader.joins.at(-1)]).toEqual(['g3', SESSION])
})

test('V2 an unknown session is not found; an id that cannot be one is refused here', async () => {
  const world = new World()
  const connection = await world.connect()
  await expect(world.during(connection.openSessionSubscription({ sessionId: 's9' }))).rejects.toMatchObject({
    name: 'ReplicaOperationError',
    code: 'not_found',
  })
  await expect(connection.openSessionSubscription({ sessionId: 'a/b' })).rejects.toMatchObject({ path: 'sessionId' })
  expect(world.leader.joins).toEqual(['/v1/sync/session/s9'])
})

test('S7 the catalog is followed like a session: rows newest first, unchanged ones with their identity', async () => {
  const world = new World()
  const connection = await world.connect()
  const doc = newDocument()
  const row = (sessionId: string, lastActivityAt: number): CatalogRow => ({
    sessionId,
    title: sessionId,
    status: 'idle',
    isArchived: false,
    lastActivityAt,
    queueCount: 0,
    pendingCount: 0,
    revision: 1,
  })
  let revision = 0
  const change = (rows: readonly CatalogRow[]): Uint8Array => {
    let update: Uint8Array = new Uint8Array()
    doc.once('update', (bytes: Uint8Array) => {
      update = bytes
    })
    revision += 1
    doc.transact(() => {
      for (const one of rows) doc.getMap('rows').set(one.sessionId, one)
      section(doc, 'origin').set('origin', { schema: 1, generation: 'g1' })
      section(doc, 'head').set('head', { revision, delta: 0, at: 1 })
    })
    return update
  }
  change([row('a', 10), row('b', 20)])
  world.leader.serve('/v1/sync/catalog', doc)
  const catalog = await world.during(connection.openCatalog())
  const before = catalog.current
  expect(before.map(one => one.sessionId)).toEqual(['b', 'a'])
  world.leader.publish('/v1/sync/catalog', change([row('a', 30)]))
  await world.network.flush()
  expect(catalog.current.map(one => one.sessionId)).toEqual(['a', 'b'])
  expect(catalog.current[1]).toBe(before[0])
  await catalog.close()
  expect(catalog.freshness.state).toBe('offline')
})

test('V5 an update that brings nothing new is told apart from one that does, and from a torn one', () => {
  const writer = new SessionWriter('s1', 'g1')
  const doc = newDocument()
  expect(applyUpdate(doc, Y.encodeStateAsUpdate(writer.doc))).toBe('applied')
  expect(applyUpdate(doc, Y.encodeStateAsUpdate(writer.doc))).toBe('unchanged')
  expect(applyUpdate(doc, Uint8Array.of(0, 0))).toBe('unchanged')
  expect(applyUpdate(doc, Uint8Array.of(9, 9, 9))).toBe('torn')
  writer.delta({ b1: 'missing' })
  expect(applyUpdate(doc, writer.delta({ b1: ' parts' }))).toBe('torn')
  expect(readPosition(newDocument())).toBe(null)
  expect(encodeSyncUpdate(Uint8Array.of(0, 0)).length).toBe(5)
})

test('W7 A10 the replica’s own clock is never read: times are the leader’s, durations monotonic', async () => {
  const read = vi.spyOn(Date, 'now').mockImplementation(() => {
    throw new Error('the wall clock was read')
  })
  onTestFinished(() => read.mockRestore())
  const { world, connection, session } = await followed()
  await world.pass(6_000)
  world.kill()
  await world.pass(1_000)
  expect(session.freshness.state).toBe('offline')
  const leaderNow = world.clock.now()
  for (const asOf of [session.freshness.asOf, connection.freshness.asOf]) {
    expect(leaderNow - (asOf ?? 0)).toBeLessThanOrEqual(7_000)
  }
  expect(read).not.toHaveBeenCalled()
})

test('V3 a delta makes only the block anew that grew', async () => {
  const { world, writer, session } = await followed()
  world.leader.publish(SESSION, writer.delta({ b1: 'thought' }, { kind: 'thinking', startedAt: 1 }))
  world.leader.publish(SESSION, writer.delta({ b2: 'answer' }, { startedAt: 2 }))
  await world.network.flush()
  const [thought, answer] = session.current.transcript.entries
  world.leader.publish(SESSION, writer.delta({ b2: ' goes on' }))
  await world.network.flush()
  const [sameThought, longer] = session.current.transcript.entries
  expect(sameThought).toBe(thought)
  expect([answer, longer]).toMatchObject([{ text: 'answer' }, { text: 'answer goes on' }])
  expect(session.current).toEqual(truth(writer, session))
})
