import { expect, test } from 'vitest'
import { ROW_KINDS, type RowKind } from '../../leader/log/store.ts'
import { loadSession } from '../../leader/session/load.ts'
import { verifyRoot } from '../../leader/verify/verify-root.ts'
import { CATALOG_ROWS } from '../../schema/projection/layout.ts'
import { CLOSE_CODES } from '../../schema/wire/close-codes.ts'
import { RoomSocket } from '../support/room-socket.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'
import { waitFor } from '../support/wait-for.ts'

const ATTACHED = `sha256:${'ab'.repeat(32)}`

const deletion = (sessionId: string, expectedRevision: number, operationId = 'delete-1') => ({
  sessionId,
  operationId,
  expectedRevision,
})

async function revisionOf(world: SessionWorld, sessionId: string): Promise<number> {
  return (await world.ok('session.get', { sessionId })).session.revision
}

async function remove(world: SessionWorld, sessionId: string, operationId = 'delete-1'): Promise<void> {
  const expectedRevision = await revisionOf(world, sessionId)
  expect(await world.ok('session.delete', deletion(sessionId, expectedRevision, operationId))).toEqual({
    kind: 'deleted',
  })
}

/** Lets the purges come to their end. */
async function purged(world: SessionWorld): Promise<void> {
  await world.purges.idle()
}

/** All rows of scope root, by kind. */
async function rootRows(world: SessionWorld): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for (const [kind, scope] of Object.entries(ROW_KINDS) as [RowKind, string][]) {
    if (scope !== 'root') continue
    const rows = await world.store.rows(kind, '')
    if (rows.length > 0) found[kind] = rows.map(({ id }) => id)
  }
  return found
}

async function faults(world: SessionWorld): Promise<readonly unknown[]> {
  const found: unknown[] = []
  const frozen = await world.store.freeze()
  for await (const fault of verifyRoot(frozen)) found.push(fault)
  await frozen.close()
  return found
}

/** A session with a turn that has ended, a question that was answered, a sealed history and a message that was taken back. */
async function busySession(world: SessionWorld, sessionId: string): Promise<string> {
  await world.create(sessionId)
  const run = await world.start(sessionId, `${sessionId}-t1`)
  const request = { kind: 'question' as const, questions: [{ question: 'Which?', options: [{ label: 'a' }] }] }
  const { interactionId } = await run.port.openInteraction(request)
  const answer = { kind: 'question' as const, answers: [{ labels: ['a'] }] }
  await world.ok('interaction.answer', { interactionId, answer })
  for (let i = 0; i < 150; i++) await run.port.apply({ kind: 'notice', text: `note ${i} of ${sessionId}` })
  await world.submit(sessionId, `${sessionId}-m1`)
  await world.ok('queue.retract', { sessionId, retractId: 'retract-1' })
  await run.end()
  return interactionId
}

test('S5 a deleted session is gone at once: for its followers, for queries and commands, in lists and in the catalog', async () => {
  const world = await SessionWorld.inMemory()
  const interactionId = await busySession(world, 's')
  await world.create('other')
  const socket = await world.join('s')
  const catalog = new RoomSocket('catalog')
  const joined = world.catalog.room.join({}, catalog)
  if (joined.kind === 'joined') catalog.membership = joined.membership
  catalog.ask()
  await settle()
  await remove(world, 's')
  expect(socket.closed).toEqual({ code: CLOSE_CODES.not_found, reason: 'session_removed' })
  const asked = [
    world.refused('session.get', { sessionId: 's' }),
    world.refused('turn.query', { sessionId: 's', turnId: 's-t1' }),
    world.refused('interaction.query', { interactionId }),
    world.refused('transcript.page', { sessionId: 's', limit: 10 }),
    world.refused('ledger.page', { sessionId: 's', limit: 10 }),
    world.refused('turn.start', { sessionId: 's', turnId: 's-t1', content: { text: 'prompt of s-t1' } }),
    world.refused('session.archive', { sessionId: 's', operationId: 'x' }),
    world.refused('session.delete', deletion('s', 2, 'delete-2')),
  ]
  for (const refused of asked) expect((await refused).code).toBe('not_found')
  expect((await world.join('s')).closed?.code).toBe(CLOSE_CODES.not_found)
  const { sessions } = await world.ok('session.list', {})
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['other'])
  await world.advance(300)
  expect([...catalog.doc.getMap(CATALOG_ROWS).keys()]).toEqual(['other'])
  await purged(world)
  expect(await faults(world)).toEqual([])
})

test('S5 the purge leaves the tombstone and the receipts of making and deleting, and nothing else', async () => {
  const world = await SessionWorld.inMemory()
  await busySession(world, 's')
  await remove(world, 's')
  await purged(world)
  expect(await rootRows(world)).toEqual({ tombstone: ['s'] })
  const kept = {
    'session.create': 's',
    'session.delete': 'delete-1',
    'turn.start': 's-t1',
    'queue.retract': 'retract-1',
  }
  const receipts = Object.entries(kept).map(([operation, id]) => world.store.receipt('s', operation, id))
  expect((await Promise.all(receipts)).map(receipt => receipt !== undefined)).toEqual([true, true, false, false])
  expect(await world.store.head('s')).toEqual({ revision: 0, update: 0 })
  expect(await world.store.ledger('s', 0, 10)).toEqual([])
  expect(await world.store.document('s')).toEqual({ snapshot: null, updates: [] })
  for (const [kind, scope] of Object.entries(ROW_KINDS) as [RowKind, string][]) {
    if (scope === 'session') expect([kind, await world.store.rows(kind, 's')]).toEqual([kind, []])
  }
  expect(await faults(world)).toEqual([])
})

test('S5 A5 a retry is answered from its receipt, also after the purge and a restart; the id is used up', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await remove(world, 's')
  const making = { sessionId: 's', cwd: '/', backend: 'scripted' }
  for (const at of [world, await purged(world).then(() => SessionWorld.after(world))]) {
    expect(await at.ok('session.delete', deletion('s', 1))).toEqual({ kind: 'deleted' })
    expect((await at.refused('session.delete', deletion('s', 7))).code).toBe('operation_conflict')
    expect((await at.refused('session.create', making)).code).toBe('operation_conflict')
    expect((await at.refused('session.create', { ...making, cwd: '/else' })).code).toBe('operation_conflict')
    const query = { sessionId: 's', operation: 'session.delete', id: 'delete-1' }
    expect(await at.ok('receipt.query', query)).toEqual({ stored: true, result: { kind: 'deleted' } })
    expect((await loadSession(at.store, 's'))?.state).toMatchObject({ revision: 0, isDeleted: true })
  }
})

test('S5 deleting needs the revision that was seen and a session in which nothing runs', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  const run = await world.start('s', 't1')
  expect((await world.refused('session.delete', deletion('s', 2))).code).toBe('session_busy')
  await run.end()
  expect(await world.ok('session.delete', deletion('s', 1, 'x'))).toEqual({
    kind: 'revision_conflict',
    expected: 1,
    actual: 2,
  })
  await world.ok('session.archive', { sessionId: 's', operationId: 'a' })
  await remove(world, 's')
})

test('S5 T7 it waits until the ended run has cleaned up', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  const run = await world.start('s', 't1')
  run.cleansUpSlowly = true
  await run.end()
  let isDone = false
  const removed = world.call('session.delete', deletion('s', 2)).finally(() => {
    isDone = true
  })
  const loop = await world.loop('s')
  await waitFor(() => loop.runs.waitingForCleanup === 1)
  expect(isDone).toBe(false)
  run.cleanUp()
  expect(await removed).toMatchObject({ ok: true, result: { kind: 'deleted' } })
})

test('S5 E7 a deletion whose batch is lost did not happen; one that turns out to be stored did', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  world.store.faults.failNext('failed')
  expect((await world.refused('session.delete', deletion('s', 1))).code).toBe('persistence_failed')
  await world.start('s', 't1').then(run => run.end())
  world.store.faults.failNext('unknown_stored')
  expect(await world.during(world.ok('session.delete', deletion('s', 2)))).toEqual({ kind: 'deleted' })
  await purged(world)
  expect(await rootRows(world)).toEqual({ tombstone: ['s'] })
  expect((await world.refused('session.get', { sessionId: 's' })).code).toBe('not_found')
})

test('S5 E7 a purge whose batch fails goes on when the storage is well', async () => {
  const world = await SessionWorld.inMemory()
  await busySession(world, 's')
  await remove(world, 's')
  world.store.faults.failNext('failed')
  world.store.faults.failNext('unknown_absent')
  await world.during(purged(world))
  expect(await rootRows(world)).toEqual({ tombstone: ['s'] })
})

test('S5 a purge that was cut off goes on after the next start, from any point', async () => {
  const cuts = new Set<number>()
  for (let at = 1; at < 40; at++) {
    let passed = 0
    const crash = (point: string): void => {
      if (point === 'mid_delete' && ++passed === at) {
        cuts.add(at)
        throw new Error('cut off')
      }
    }
    const world = await SessionWorld.inMemory({ env: { crash } })
    await busySession(world, 's')
    await remove(world, 's')
    await waitFor(() => cuts.has(at) || world.purges.length === 0)
    await world.purges.stop()
    expect((await world.refused('session.get', { sessionId: 's' })).code).toBe('not_found')
    expect(await faults(world)).toEqual([])
    const next = await SessionWorld.after(world)
    await next.purges.resume()
    await purged(next)
    expect(await rootRows(next)).toEqual({ tombstone: ['s'] })
    expect(await next.store.ledger('s', 0, 1)).toEqual([])
    if (!cuts.has(at)) break
  }
  expect(cuts.size).toBeGreaterThan(4)
})

test('S5 L5 artifacts go with the last session that names them; fresh uploads stay', async () => {
  const world = await SessionWorld.inMemory()
  const put = async (text: string): Promise<string> => {
    const bytes = (async function* () {
      yield Buffer.from(text)
    })()
    const reply = await world.host.putArtifact(bytes, 'text/plain')
    return (reply as unknown as { result: { hash: string } }).result.hash
  }
  const [shared, own, fresh, again] = [await put('shared'), await put('own'), await put('fresh'), await put('again')]
  const attach = (artifact: string) => ({
    kind: 'file' as const,
    name: 'a',
    mimeType: 'text/plain',
    bytes: 1,
    ref: { artifact },
  })
  for (const [sessionId, hashes] of [
    ['s', [shared, own, again]],
    ['other', [shared]],
  ] as const) {
    await world.create(sessionId)
    const content = { text: 'see', attachments: hashes.map(attach) }
    await world.ok('turn.start', { sessionId, turnId: `${sessionId}-1`, content })
    await world.runs.of(`${sessionId}-1`).end()
  }
  await world.advance(33)
  expect(await put('again')).toBe(again)
  await remove(world, 's')
  await purged(world)
  const isThere = async (hash: string) => (await world.host.readArtifact(hash)) !== undefined
  expect(await Promise.all([shared, own, fresh, again].map(isThere))).toEqual([true, false, true, true])
  expect(await faults(world)).toEqual([])
  world.clock.advance(25 * 3_600_000)
  await remove(world, 'other', 'delete-2')
  await purged(world)
  expect(await Promise.all([shared, own, fresh, again].map(isThere))).toEqual([false, false, false, false])
  expect(await rootRows(world)).toEqual({ tombstone: ['other', 's'] })
  expect((await world.refused('artifact.get', { hash: ATTACHED })).code).toBe('not_found')
})
