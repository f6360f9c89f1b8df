import { expect, test } from 'vitest'
import { RecentFacts } from '../../leader/session/commands/recent.ts'
import { Lane, LookupFailure } from '../../leader/session/lane.ts'
import type { Reply } from '../../leader/transport/host-port.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { keepBusy } from '../support/session/crowd.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'

function fail(error: unknown): never {
  throw error
}

test('S8 items decide one after the other in the order of arrival, whatever their look-ups take', async () => {
  const lane = new Lane()
  const seen: string[] = []
  let finish = (_: string): void => {}
  lane.push(new Promise<string>(resolve => (finish = resolve)), found => seen.push(`slow ${String(found)}`), fail)
  lane.push(Promise.resolve('b'), found => seen.push(`quick ${String(found)}`), fail)
  lane.run(() => {
    seen.push('none')
    // What an item adds comes after what was there.
    lane.run(() => seen.push('added'), fail)
  }, fail)
  await settle()
  expect([seen, lane.length]).toEqual([[], 3])
  finish('a')
  await settle()
  expect(seen).toEqual(['slow a', 'quick b', 'none', 'added'])
  lane.run(() => seen.push('at once'), fail)
  expect(seen.at(-1)).toBe('at once')
})

test('S8 an item that throws is told so and the lane goes on; look-ups that failed are given as such', async () => {
  const lane = new Lane()
  const seen: unknown[] = []
  lane.run(
    () => fail(new Error('thrown')),
    error => seen.push(error),
  )
  lane.push(Promise.reject(new Error('not read')), found => seen.push(found), fail)
  lane.run(() => seen.push('next'), fail)
  await settle()
  expect(seen[0]).toMatchObject({ message: 'thrown' })
  expect(seen[1]).toBeInstanceOf(LookupFailure)
  expect(seen[2]).toBe('next')
})

test('E7 V7 nothing decides until every pause was ended', async () => {
  const lane = new Lane()
  const seen: string[] = []
  lane.pause()
  lane.pause()
  lane.run(() => seen.push('decided'), fail)
  lane.resume()
  await settle()
  expect(seen).toEqual([])
  lane.resume()
  expect(seen).toEqual(['decided'])
  expect(() => lane.resume()).toThrow()
})

test('W5 a decision that throws is answered as internal_failure and logged without words; the session goes on', async () => {
  let isBroken = false
  let ids = 0
  const newId = (): string => (isBroken ? fail(new Error('words of a user')) : `id-${ids++}`)
  const world = await SessionWorld.inMemory({ env: { newId } })
  await world.create(SESSION)
  isBroken = true
  const reply = await world.call('turn.start', { sessionId: SESSION, turnId: 't-1', content: { text: 'go' } })
  isBroken = false
  expect(reply).toMatchObject({ ok: false, error: { code: 'internal_failure' } })
  expect(JSON.stringify(reply)).not.toContain('words')
  expect(world.logged.filter(line => line.level === 'error')).toMatchObject([
    { fields: { session_id: SESSION, operation: 'turn.start' } },
  ])
  expect(await world.start(SESSION, 't-1')).toBe(world.runs.of('t-1'))
  expect((await world.ledger(SESSION)).map(record => record.revision)).toEqual([1, 2, 3])
})

test('A2 A3 a transition that cannot be made leaves nothing behind: document, state and disk stay one', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const { core } = await world.loop(SESSION)
  const before = core.state
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const payload = { turnId: 't', runId: 'r', usage: cyclic }
  expect(() => core.commit({ events: [{ type: 'usage_reported', payload }], actor: 'run' })).toThrow()
  expect(() =>
    core.commit({
      events: [{ type: 'session_updated', payload: { patch: { title: 'x' } } }],
      actor: 'run',
      receipt: { scope: 'session.update', id: 'op', of: () => fail(new Error('no result')) },
    }),
  ).toThrow('no result')
  expect(core.state).toBe(before)
  const reply = await world.call('session.update', { sessionId: SESSION, expectedRevision: 1, patch: { title: 'y' } })
  expect(reply).toMatchObject({ ok: true, revision: 2 })
  expect((await world.onDisk(SESSION)).state.header?.title).toBe('y')
})

test('A9 a look-up that cannot be read refuses that command alone, under a code of the table', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const { receipt } = world.store
  const rename = (): Promise<Reply> =>
    world.call('session.update', { sessionId: SESSION, expectedRevision: 1, patch: { title: 'x' } })
  for (const [error, code] of [
    [new Error('words'), 'internal_failure'],
    [new HeadwaterError('storage_fault'), 'storage_fault'],
    [new HeadwaterError('invalid_lease'), 'host_draining'],
    [new HeadwaterError('ownership_lost'), 'storage_fault'],
  ] as const) {
    world.store.receipt = () => Promise.reject(error)
    expect(await rename()).toMatchObject({ ok: false, error: { code } })
  }
  world.store.receipt = receipt
  expect(await rename()).toMatchObject({ ok: true })
})

test('A7 A5 a session that never comes to rest forgets what is on disk, and still knows every identity', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const { core } = await world.loop(SESSION)
  let most = 0
  let next = 0
  const total = 6 * LIMITS.recentFacts
  const one = (number: number): Promise<Reply> =>
    world.call('session.archive', { sessionId: SESSION, operationId: `op-${number}` })
  await keepBusy(world, () => {
    if (next === total) return null
    return one(next++).then(reply => {
      expect(reply).toMatchObject({ ok: true })
      most = Math.max(most, core.recent.size)
    })
  })
  expect(most).toBeLessThanOrEqual(2 * LIMITS.recentFacts + 64)
  expect(most).toBeGreaterThan(LIMITS.recentFacts)
  const { revision } = core.durable
  for (const number of [0, LIMITS.recentFacts, total - 1]) expect(await one(number)).toMatchObject({ ok: true })
  expect(core.durable.revision).toBe(revision)
  expect(core.recent.size).toBeLessThanOrEqual(1)
})

test('A5 old facts go when they are turned twice, new ones stay', () => {
  const facts = new RecentFacts()
  const receipt = { operation: 'o', digest: 'd', result: null }
  facts.noteReceipt('o', 'one', receipt)
  facts.turn()
  facts.noteReceipt('o', 'two', receipt)
  expect([facts.receipt('o', 'one'), facts.receipt('o', 'two')]).toEqual([receipt, receipt])
  facts.turn()
  expect([facts.receipt('o', 'one'), facts.receipt('o', 'two')]).toEqual([undefined, receipt])
  facts.clear()
  expect(facts.size).toBe(0)
})

test('S8 a session whose lane is full says so; the others do not notice', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  await world.create('s-2')
  const { lane } = await world.loop(SESSION)
  lane.pause()
  const waiting = Array.from({ length: LIMITS.laneItems }, (_, number) =>
    world.call('session.archive', { sessionId: SESSION, operationId: `op-${number}` }),
  )
  await settle()
  expect(await world.refused('session.archive', { sessionId: SESSION, operationId: 'more' })).toMatchObject({
    code: 'rate_limited',
  })
  expect(await world.ok('session.archive', { sessionId: 's-2', operationId: 'op' })).toMatchObject({
    session: { isArchived: true },
  })
  lane.resume()
  const replies = await Promise.all(waiting)
  expect(replies.every(reply => reply.ok)).toBe(true)
})
