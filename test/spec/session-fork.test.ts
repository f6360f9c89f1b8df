import { expect, test } from 'vitest'
import type { Store } from '../../leader/log/store.ts'
import { verifyRoot } from '../../leader/verify/verify-root.ts'
import type { Result } from '../../schema/commands/index.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import { SessionWorld } from '../support/session/session-world.ts'

const fork = (sessionId: string, fromTurnId: string, newSessionId: string) => ({ sessionId, fromTurnId, newSessionId })

/** Plays a turn with so many notes in it. */
async function turn(world: SessionWorld, sessionId: string, turnId: string, notes: number): Promise<void> {
  const run = await world.start(sessionId, turnId)
  for (let i = 0; i < notes; i++) await run.port.apply({ kind: 'notice', text: `note ${i} of ${turnId}` })
  await run.end()
}

/** The whole transcript, read page by page. */
async function transcript(world: SessionWorld, sessionId: string, limit = 50): Promise<readonly TranscriptEntry[]> {
  const entries: TranscriptEntry[] = []
  for (let before: number | undefined; ; ) {
    const page: Result<'transcript.page'> = await world.ok('transcript.page', {
      sessionId,
      limit,
      ...(before === undefined ? {} : { before }),
    })
    entries.unshift(...page.entries)
    if (!page.hasMore) return entries
    before = page.firstSeq
  }
}

async function faults(world: SessionWorld): Promise<readonly unknown[]> {
  const found: unknown[] = []
  const frozen = await world.store.freeze()
  for await (const fault of verifyRoot(frozen)) found.push(fault)
  await frozen.close()
  return found
}

async function remove(world: SessionWorld, sessionId: string): Promise<void> {
  const { revision } = (await world.ok('session.get', { sessionId })).session
  await world.ok('session.delete', { sessionId, operationId: `delete-${sessionId}`, expectedRevision: revision })
  await world.purges.idle()
}

const segmentsOf = async (world: SessionWorld, sessionId: string): Promise<number> =>
  (await world.store.rows('segment', sessionId)).length

test('S6 A2 a fork that is asked for while its turn ends has all of that turn, or is refused', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  const run = await world.start('s', 't1')
  const row = world.store.row.bind(world.store)
  const answered = run.text('the answer')
  world.store.row = async (kind, session, id) => {
    if (kind !== 'turn' || session !== 's') return await row(kind, session, id)
    world.store.row = row
    await world.during(run.end())
    return await row(kind, session, id)
  }
  expect((await world.refused('session.fork', fork('s', 't1', 'f'))).code).toBe('session_busy')
  await answered
  await world.ok('session.fork', fork('s', 't1', 'f'))
  expect(await transcript(world, 'f')).toEqual(await transcript(world, 's'))
  expect(await faults(world)).toEqual([])
})

test('S6 a fork has the transcript up to the end of the turn, and nothing else of its source', async () => {
  const world = await SessionWorld.inMemory()
  await world.ok('session.create', { sessionId: 's', title: 'Source', cwd: '/srv', backend: 'scripted', model: 'm' })
  await turn(world, 's', 't1', 3)
  const source = await transcript(world, 's')
  const run = await world.start('s', 't2')
  await world.submit('s', 'm1')
  await run.port.openInteraction({ kind: 'question', questions: [{ question: 'Which?', options: [] }] })
  world.clock.advance(1_000)
  const { session } = await world.ok('session.fork', fork('s', 't1', 'f'))
  expect(session).toEqual({
    sessionId: 'f',
    title: 'Source',
    titleIsManual: true,
    cwd: '/srv',
    backend: 'scripted',
    model: 'm',
    permissionMode: 'ask',
    collaborationMode: 'agent',
    status: 'idle',
    isArchived: false,
    createdAt: world.clock.now(),
    lastActivityAt: world.clock.now(),
    revision: 1,
  })
  expect(await transcript(world, 'f')).toEqual(source)
  const { core } = await world.loop('f')
  expect(core.durable).toMatchObject({ root: null, queue: [], interactions: [], agentSession: null, nextSeq: 5 })
  expect(core.durable.plan.storeVersion).toBe(0)
  await turn(world, 'f', 'own', 1)
  const own = await transcript(world, 'f')
  expect(own.slice(0, 4)).toEqual(source)
  expect(own.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
  expect(own[4]).toMatchObject({ kind: 'user', turnId: 'own' })
  expect((await transcript(world, 's')).slice(0, 4)).toEqual(source)
  expect(await faults(world)).toEqual([])
})

test('S6 what cannot be forked: an unknown turn or session, a turn that runs; and where: an id that is in use', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await world.create('taken')
  const run = await world.start('s', 't1')
  const refuse = async (sessionId: string, turnId: string, newSessionId: string) =>
    (await world.refused('session.fork', fork(sessionId, turnId, newSessionId))).code
  expect(await refuse('s', 't1', 'f')).toBe('session_busy')
  expect(await refuse('s', 'nobody', 'f')).toBe('not_found')
  expect(await refuse('nobody', 't1', 'f')).toBe('not_found')
  await run.end()
  expect(await refuse('s', 't1', 'taken')).toBe('operation_conflict')
  expect(await refuse('s', 't1', 's')).toBe('operation_conflict')
  await remove(world, 'taken')
  expect(await refuse('s', 't1', 'taken')).toBe('operation_conflict')
  world.sessions.quarantine('s', 'for a test')
  expect(await refuse('s', 't1', 'f')).toBe('session_damaged')
  expect((await world.refused('session.get', { sessionId: 'f' })).code).toBe('not_found')
})

test('S6 A5 a retry is answered from its receipt, which is found from the source too', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await turn(world, 's', 't1', 1)
  await turn(world, 's', 't2', 1)
  const made = await world.ok('session.fork', fork('s', 't1', 'f'))
  await turn(world, 'f', 'own', 1)
  const next = await SessionWorld.after(world)
  expect(await next.ok('session.fork', fork('s', 't1', 'f'))).toEqual(made)
  expect((await next.refused('session.fork', fork('s', 't2', 'f'))).code).toBe('operation_conflict')
  const query = { sessionId: 's', operation: 'session.fork', id: 'f' }
  expect(await next.ok('receipt.query', query)).toEqual({ stored: true, result: made })
  expect(await next.ok('receipt.query', { ...query, id: 'g' })).toEqual({ stored: false })
})

test('S6 L3 a fork reads on in the sealed entries of its source, wherever it was made', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  for (let i = 1; i <= 12; i++) await turn(world, 's', `t${i}`, 40)
  const whole = await transcript(world, 's')
  for (let i = 1; i <= 12; i++) {
    const id = `f${i}`
    await world.ok('session.fork', fork('s', `t${i}`, id))
    const forked = (await world.ledger(id)).flatMap(record => record.events).find(e => e.type === 'session_forked')
    const { throughSeq, tail } = (forked ?? { payload: {} }).payload as unknown as {
      throughSeq: number
      tail: readonly unknown[]
    }
    expect([throughSeq, tail.length <= LIMITS.liveTranscriptEntries]).toEqual([i * 41, true])
    for (const limit of [7, 64, 200]) expect(await transcript(world, id, limit)).toEqual(whole.slice(0, i * 41))
  }
  await turn(world, 'f4', 'own', 200)
  expect((await transcript(world, 'f4')).slice(0, 164)).toEqual(whole.slice(0, 164))
  expect((await transcript(world, 'f4')).map(({ seq }) => seq)).toEqual(Array.from({ length: 365 }, (_, i) => i + 1))
  expect(await faults(world)).toEqual([])
})

test('S6 a fork costs the same at the end of a long history as at its beginning', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  for (let i = 1; i <= 20; i++) await turn(world, 's', `t${i}`, 64)
  const cost = async (turnId: string, id: string) => {
    const count = countAccess(world.store)
    await world.ok('session.fork', fork('s', turnId, id))
    return count()
  }
  const [early, late] = [await cost('t3', 'early'), await cost('t17', 'late')]
  expect(late.reads).toBe(early.reads)
  expect(early.bytes).toBeGreaterThan(0)
  expect(late.bytes).toBeLessThan(early.bytes * 1.2)
})

/** Counts the reads of a store and the bytes it is given from now on; calling what it gives ends that. */
function countAccess(store: Store): () => { readonly reads: number; readonly bytes: number } {
  const counted = { reads: 0, bytes: 0 }
  const reading = ['row', 'rows', 'ledger', 'document', 'head', 'receipt'] as const
  const originals = Object.fromEntries([...reading, 'append' as const].map(name => [name, store[name]]))
  for (const name of reading) {
    const original = store[name].bind(store) as (...args: unknown[]) => unknown
    const counting = (...args: unknown[]): unknown => {
      counted.reads += 1
      return original(...args)
    }
    Object.assign(store, { [name]: counting })
  }
  const append = store.append.bind(store)
  Object.assign(store, {
    append: (...args: Parameters<Store['append']>) => {
      for (const { record, update, receipt, rows = [] } of args[0].flatMap(item => item.transitions)) {
        const parts = [record?.bytes, update?.bytes, receipt?.body, ...rows.map(row => row.value)]
        for (const part of parts) counted.bytes += part?.length ?? 0
      }
      return append(...args)
    },
  })
  return () => {
    Object.assign(store, originals)
    return counted
  }
}

test('S6 S5 forks of forks read through all of them, also when those in between were deleted; the last one takes the rest along', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await turn(world, 's', 't1', 200)
  await world.ok('session.fork', fork('s', 't1', 'f'))
  await turn(world, 'f', 't2', 200)
  await world.ok('session.fork', fork('f', 't2', 'g'))
  await turn(world, 'g', 't3', 5)
  const whole = await transcript(world, 'g')
  expect(whole.map(({ seq }) => seq)).toEqual(Array.from({ length: 408 }, (_, i) => i + 1))
  await remove(world, 'f')
  await remove(world, 's')
  expect((await world.refused('transcript.page', { sessionId: 's', limit: 5 })).code).toBe('not_found')
  expect(await transcript(world, 'g')).toEqual(whole)
  const next = await SessionWorld.after(world)
  await next.purges.resume()
  await next.purges.idle()
  expect(await transcript(next, 'g')).toEqual(whole)
  expect(await faults(next)).toEqual([])
  await remove(next, 'g')
  const left = [await segmentsOf(next, 's'), await segmentsOf(next, 'f'), await segmentsOf(next, 'g')]
  expect([left, await next.store.rows('fork', '')]).toEqual([[0, 0, 0], []])
  expect((await next.store.rows('tombstone', '')).map(({ id }) => id)).toEqual(['f', 'g', 's'])
  expect(await faults(next)).toEqual([])
})

test('S6 a deleted source keeps no more than what its forks refer to', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  for (let i = 1; i <= 8; i++) await turn(world, 's', `t${i}`, 63)
  await world.ok('session.fork', fork('s', 't3', 'f'))
  const before = await segmentsOf(world, 's')
  const whole = await transcript(world, 'f')
  await remove(world, 's')
  expect(await transcript(world, 'f')).toEqual(whole)
  const kept = await segmentsOf(world, 's')
  expect(kept).toBeGreaterThan(0)
  expect(kept).toBeLessThan(before)
})

test('S6 S5 a fork that is being made when its source is deleted is whole', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await turn(world, 's', 't1', 200)
  const whole = await transcript(world, 's')
  const { revision } = (await world.ok('session.get', { sessionId: 's' })).session
  const deletion = { sessionId: 's', operationId: 'd', expectedRevision: revision }
  const [forked, deleted] = await Promise.all([
    world.call('session.fork', fork('s', 't1', 'f')),
    world.call('session.delete', deletion),
  ])
  expect([forked.ok, deleted.ok]).toEqual([true, true])
  await world.purges.idle()
  expect(await transcript(world, 'f')).toEqual(whole)
  expect(await faults(world)).toEqual([])
})

test('S6 forks go only so deep', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('f0')
  await turn(world, 'f0', 't0', 130)
  let made = 0
  for (; made <= LIMITS.forkDepth; made++) {
    const reply = await world.call('session.fork', fork(`f${made}`, `t${made}`, `f${made + 1}`))
    if (!reply.ok) {
      expect(reply.error.code).toBe('operation_conflict')
      break
    }
    await turn(world, `f${made + 1}`, `t${made + 1}`, 130)
  }
  expect(made).toBe(LIMITS.forkDepth)
  expect((await transcript(world, `f${made}`, 200)).length).toBe(131 * (made + 1))
})

test('S6 verify names a fork whose source lost what it refers to', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  await turn(world, 's', 't1', 200)
  await world.ok('session.fork', fork('s', 't1', 'f'))
  const [first] = await world.store.rows('segment', 's', { limit: 1 })
  await world.store.putRows('s', [{ kind: 'segment', id: first?.id ?? '', value: null }])
  expect(await faults(world)).toContainEqual(expect.objectContaining({ sessionId: 'f', kind: 'fork_source_missing' }))
})
