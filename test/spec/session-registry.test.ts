import { expect, test } from 'vitest'
import { drainSessions } from '../../leader/drain.ts'
import { openMemoryStore } from '../../leader/log/memory-store.ts'
import { recoverSessions } from '../../leader/recovery.ts'
import { CATALOG_ROWS } from '../../schema/projection/layout.ts'
import { RoomSocket } from '../support/room-socket.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'

async function createAll(world: SessionWorld, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, number) => `s-${number + 1}`)
  for (const id of ids) await world.create(id)
  return ids
}

function loaded(world: SessionWorld): string[] {
  return [...world.sessions.loaded].map(loop => loop.sessionId)
}

/** Counts the calls of the store's methods from now on, by name and session. */
function countCalls(world: SessionWorld): Map<string, number> {
  const counts = new Map<string, number>()
  const store = world.store as unknown as Record<string, (...given: unknown[]) => unknown>
  for (const name of ['acquire', 'release', 'document', 'ledger', 'head', 'row', 'rows']) {
    const call = store[name] as (...given: unknown[]) => unknown
    store[name] = (...given) => {
      const key = name === 'row' || name === 'rows' ? `${name} ${String(given[0])}` : name
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return call.apply(world.store, given)
    }
  }
  return counts
}

test('A7 the least recently used of the loaded sessions are unloaded, and loaded again as they were', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 3 } })
  const ids = await createAll(world, 6)
  expect(loaded(world)).toEqual(['s-4', 's-5', 's-6'])
  await world.ok('transcript.page', { sessionId: 's-4', limit: 1 })
  await world.ok('transcript.page', { sessionId: 's-1', limit: 1 })
  expect(loaded(world)).toEqual(['s-6', 's-4', 's-1'])
  for (const sessionId of ids) {
    const patch = { title: `title of ${sessionId}` }
    await world.ok('session.update', { sessionId, expectedRevision: 1, patch })
  }
  for (const sessionId of ids) {
    expect(await world.ok('session.get', { sessionId })).toMatchObject({ session: { title: `title of ${sessionId}` } })
    await world.onDisk(sessionId)
  }
})

test('A7 E9 a session with a run, a watcher, a waiting turn or a command under way stays loaded', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 1 }, places: 1 })
  await createAll(world, 4)
  await world.start('s-1', 't-1')
  await world.ok('turn.start', { sessionId: 's-2', turnId: 't-2', content: { text: 'waits for a place' } })
  const socket = await world.join('s-3')
  await createAll(world, 4).catch(() => {})
  await world.create('s-5')
  expect(loaded(world)).toEqual(['s-1', 's-2', 's-3'])
  // The turn that waited runs in the session that is loaded, and nowhere else.
  await world.runs.of('t-1').end()
  await world.advance(33)
  const run = world.runs.of('t-2')
  await run.end()
  expect(await world.ok('turn.query', { sessionId: 's-2', turnId: 't-2' })).toMatchObject({ status: 'completed' })
  socket.membership?.leave()
  await world.advance(1_100)
  await world.create('s-6')
  expect(loaded(world)).toEqual(['s-6'])
  for (const id of ['s-1', 's-2', 's-3']) await world.onDisk(id)
})

test('A7 E6 X14 P11 a session whose plan waits for a turn is unloaded; a stop interrupts its plan all the same', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 1 } })
  await world.create('s-1')
  const run = await world.start('s-1', 't-1')
  const step = { id: 'a', title: 'A', description: 'Do A' }
  const { proposalId } = await run.port.submitPlan({ title: 'Plan', steps: [step] })
  await run.end()
  const wish = { kind: 'approve_proposal' as const, proposalId, expectedRevision: 1, expectedStoreVersion: 1 }
  const { executionId } = await world.ok('plan.control', { sessionId: 's-1', operationId: 'o-1', ...wish })
  await world.advance(33)
  await world.create('s-2')
  expect(loaded(world)).toEqual(['s-2'])
  world.isDraining = true
  world.host.moveTo('draining')
  expect(await world.during(drainSessions(world.sessions, world.host, false))).toBe(true)
  const { state } = await world.onDisk('s-1')
  expect(state.plan).toMatchObject({
    activeExecution: null,
    lastExecution: { executionId, status: 'interrupted', interruptionReason: 'leader_stopped' },
  })
  expect(await world.store.rows('active', '')).toEqual([])
})

test('V4 V6 what an epoch told of a session holds when it was unloaded meanwhile', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 1 } })
  await world.create(SESSION)
  await world.ok('session.update', { sessionId: SESSION, expectedRevision: 1, patch: { title: 'x' } })
  await world.create('s-2')
  expect(loaded(world)).toEqual(['s-2'])
  const socket = await world.join(SESSION)
  expect(socket.awareness.at(-1)?.baseRevision).toBe(1)
})

test('A7 A5 two who load a session at once share it, also where one looks for it and one creates it', async () => {
  const world = await SessionWorld.inMemory()
  const [missing, created, also] = await Promise.all([
    world.call('session.update', { sessionId: SESSION, expectedRevision: 1, patch: { title: 'x' } }),
    world.call('session.create', { sessionId: SESSION, cwd: '/', backend: 'scripted' }),
    world.call('transcript.page', { sessionId: SESSION, limit: 1 }),
  ])
  expect([missing, created, also]).toMatchObject([
    { ok: false, error: { code: 'not_found' } },
    { ok: true },
    { ok: false, error: { code: 'not_found' } },
  ])
  expect(loaded(world)).toEqual([SESSION])
  const counts = countCalls(world)
  const renames = [1, 2, 3].map(expectedRevision =>
    world.call('session.update', { sessionId: SESSION, expectedRevision, patch: { title: `${expectedRevision}` } }),
  )
  expect(await Promise.all(renames)).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
  expect(counts.get('document')).toBeUndefined()
  await world.onDisk(SESSION)
})

test('A7 who looks for what is not there, or is refused to create it, leaves nothing loaded and no claim', async () => {
  const world = await SessionWorld.inMemory()
  const counts = countCalls(world)
  for (let number = 0; number < 20; number++) {
    const sessionId = `nobody-${number}`
    await world.refused('transcript.page', { sessionId, limit: 1 })
    expect(await world.refused('session.create', { sessionId, cwd: '/', backend: 'unknown' })).toMatchObject({
      code: 'invalid_request',
    })
    expect((await world.join(sessionId)).closed?.code).toBe(4404)
  }
  expect(loaded(world)).toEqual([])
  expect(counts.get('release')).toBe(counts.get('acquire'))
})

test('A9 BL-16 a load that failed is tried again; one that found damage is not, and is never shown as empty', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 1 } })
  await world.create(SESSION)
  await world.create('s-2')
  const { document } = world.store
  world.store.document = () => Promise.reject(Object.assign(new Error('read error'), { code: 'storage_fault' }))
  expect(await world.refused('transcript.page', { sessionId: SESSION, limit: 1 })).toMatchObject({
    code: 'storage_fault',
  })
  world.store.document = document
  expect(await world.call('transcript.page', { sessionId: SESSION, limit: 1 })).toMatchObject({ ok: true })
  await world.create('s-3')

  world.store.document = async session => {
    const stored = await document.call(world.store, session)
    return session === SESSION ? { ...stored, updates: stored.updates.slice(1) } : stored
  }
  const catalog = await watchCatalog(world)
  const update = { sessionId: SESSION, expectedRevision: 1, patch: { title: 'x' } }
  expect(await world.refused('session.update', update)).toMatchObject({ code: 'session_damaged' })
  expect(await world.refused('session.create', { sessionId: SESSION, cwd: '/', backend: 'scripted' })).toMatchObject({
    code: 'session_damaged',
  })
  expect((await world.join(SESSION)).closed?.code).toBe(4423)
  // What the ledger proves is still read.
  expect(await world.ok('session.get', { sessionId: SESSION })).toMatchObject({ session: { status: 'damaged' } })
  expect(await world.ok('transcript.page', { sessionId: SESSION, limit: 1 })).toMatchObject({ entries: [] })
  expect((await world.ok('ledger.page', { sessionId: SESSION, limit: 10 })).records).toHaveLength(1)
  expect(world.host.faults).toMatchObject([{ code: 'session_damaged', sessionId: SESSION }])
  await world.advance(500)
  expect(catalog()).toMatchObject({ [SESSION]: 'damaged', 's-2': 'idle', 's-3': 'idle' })
  expect(await world.call('session.update', { ...update, sessionId: 's-2' })).toMatchObject({ ok: true })
})

async function watchCatalog(world: SessionWorld): Promise<() => Record<string, unknown>> {
  const socket = new RoomSocket('catalog')
  const outcome = await world.host.joinCatalog({}, socket)
  if (outcome.kind === 'joined') socket.membership = outcome.membership
  socket.ask()
  return () => {
    const rows = socket.doc.getMap(CATALOG_ROWS).entries() as Iterable<[string, { status: string }]>
    return Object.fromEntries([...rows].map(([id, row]) => [id, row.status]))
  }
}

test('A9 S7 a row that cannot be read hides no session: the list is answered from the session itself', async () => {
  const world = await SessionWorld.inMemory()
  await createAll(world, 3)
  const { row } = world.store
  const next = new SessionWorld({ store: world.store, epochNumber: 2 })
  world.store.row = async (kind, session, id) => {
    const bytes = await row.call(world.store, kind, session, id)
    return kind === 'session' && id === 's-2' ? bytes?.slice(1) : bytes
  }
  await next.catalog.load()
  const { sessions } = await next.ok('session.list', {})
  expect(sessions.map(session => session.sessionId).toSorted()).toEqual(['s-1', 's-2', 's-3'])
  expect(await next.ok('session.get', { sessionId: 's-2' })).toMatchObject({ session: { sessionId: 's-2' } })
})

test('A9 D1 a session whose head is gone is damaged, not a free place', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const { head } = world.store
  const after = new SessionWorld({ store: world.store, epochNumber: 2 })
  world.store.head = async session =>
    session === SESSION ? { revision: 0, update: 0 } : head.call(world.store, session)
  expect(await after.refused('session.create', { sessionId: SESSION, cwd: '/', backend: 'scripted' })).toMatchObject({
    code: 'session_damaged',
  })
  expect(after.host.faults).toMatchObject([{ kind: 'head_missing' }])
})

test('X12 A9 a session that contradicts itself is quarantined alone: read-only, seen, its receipts still answered', async () => {
  const world = await SessionWorld.inMemory()
  await createAll(world, 2)
  await world.start('s-1', 't-1')
  await world.start('s-2', 't-2')
  // A second terminal event, as no leader would write it.
  const { core } = await world.loop('s-1')
  const { runId } = world.runs.of('t-1').port
  for (const eventId of ['e-x', 'e-y']) {
    const payload = { turnId: 't-1', runId, eventId }
    core.commit({ events: [{ type: 'run_completed', payload }], actor: 'leader' })
  }
  await core.whenDurable()

  const next = await SessionWorld.after(world, { limits: { loadedSessions: 1 } })
  expect(next.host.faults).toMatchObject([{ code: 'session_damaged', sessionId: 's-1', kind: 'contradiction' }])
  expect(await next.ok('turn.query', { sessionId: 's-2', turnId: 't-2' })).toMatchObject({ status: 'failed' })
  const socket = await next.join('s-1')
  expect(socket.awareness.at(-1)?.isDamaged).toBe(true)
  socket.membership?.leave()
  expect(await next.refused('turn.start', { sessionId: 's-1', turnId: 't-9', content: { text: 'go' } })).toMatchObject({
    code: 'session_damaged',
  })
  expect(await next.refused('turn.stop', { sessionId: 's-1', turnId: 'nobody', runId: 'r' })).toMatchObject({
    code: 'session_damaged',
  })
  const again = { sessionId: 's-1', turnId: 't-1', content: { text: 'prompt of t-1' } }
  expect(await next.call('turn.start', again)).toMatchObject({ ok: true, result: { turn: { turnId: 't-1' } } })
  expect(await next.ok('session.get', { sessionId: 's-1' })).toMatchObject({ session: { status: 'damaged' } })
  const catalog = await watchCatalog(next)
  await next.advance(500)
  expect(catalog()).toMatchObject({ 's-1': 'damaged', 's-2': 'idle' })
  // It may be unloaded like any other, and is damaged still when it comes back.
  await next.create('s-9')
  expect(loaded(next)).toEqual(['s-9'])
  expect(await next.refused('session.archive', { sessionId: 's-1' })).toMatchObject({ code: 'session_damaged' })
  expect(next.host.faults).toHaveLength(1)
})

test('X12 A9 a session that cannot be recovered at all is quarantined, not left as running', async () => {
  const world = await SessionWorld.inMemory()
  await createAll(world, 2)
  await world.start('s-1', 't-1')
  await world.start('s-2', 't-2')
  const next = new SessionWorld({ store: world.store, epochNumber: 2 })
  const { ledger } = world.store
  world.store.ledger = async (session, after, limit) => {
    const rows = await ledger.call(world.store, session, after, limit)
    // Recovery reads from the admission on; loading reads the newest record alone.
    return session === 's-1' && limit > 1 ? rows.map(row => ({ ...row, bytes: new Uint8Array([123]) })) : rows
  }
  expect(await recoverSessions(next.sessions, () => {})).toEqual({ recovered: 1, quarantined: 1 })
  expect(next.host.faults).toMatchObject([{ sessionId: 's-1' }])
  expect(await next.refused('turn.start', { sessionId: 's-1', turnId: 't-9', content: { text: 'go' } })).toMatchObject({
    code: 'session_damaged',
  })
})

test('A7 X a start reads the sessions that have unfinished work and no others', async () => {
  const world = await SessionWorld.inMemory()
  await createAll(world, 30)
  await world.start('s-7', 't-7')
  const ended = await world.start('s-8', 't-8')
  await ended.end()
  const next = new SessionWorld({ store: await openMemoryStore({ disk: world.store.disk }), epochNumber: 2 })
  const counts = countCalls(next)
  await recoverSessions(next.sessions, () => {})
  expect(counts.get('document')).toBe(1)
  expect(counts.get('acquire')).toBe(1)
  expect(counts.get('rows active')).toBe(1)
  expect(loaded(next)).toEqual(['s-7'])
  // Whatever it did is done: the next start has nothing to read.
  const third = new SessionWorld({ store: await openMemoryStore({ disk: world.store.disk }), epochNumber: 3 })
  const again = countCalls(third)
  await recoverSessions(third.sessions, () => {})
  expect(again.get('document')).toBeUndefined()
})

test('A7 recovery of a session that handed on for long reads its newest turn alone', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  let run = await world.start(SESSION, 't-1')
  for (let turn = 0; turn < 20; turn++) {
    await world.submit(SESSION, `m-${turn}`)
    await run.end()
    await world.advance(33)
    run = world.runs.started.at(-1) as typeof run
  }
  expect(world.runs.started).toHaveLength(21)
  const { active, durable } = (await world.loop(SESSION)).core
  expect(durable.revision - (active?.since ?? 0)).toBeLessThan(3)
  const next = await SessionWorld.after(world)
  expect(next.host.faults).toEqual([])
  const { turnId } = run.port
  expect(await next.ok('turn.query', { sessionId: SESSION, turnId })).toMatchObject({ failureClass: 'app_restarted' })
})

test('A7 claims end with what they were for', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 2 } })
  await createAll(world, 8)
  await settle()
  const counts = countCalls(world)
  for (const id of ['s-1', 's-2', 's-3']) await world.ok('transcript.page', { sessionId: id, limit: 1 })
  expect(counts.get('acquire')).toBe(3)
  expect(counts.get('release')).toBe(3)
})
