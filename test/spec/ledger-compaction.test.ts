import { expect, test } from 'vitest'
import type { CrashPoint } from '../../leader/session/crash-points.ts'
import { loadSession } from '../../leader/session/load.ts'
import { checkpointOf } from '../../leader/session/record.ts'
import { verifyRoot } from '../../leader/verify/verify-root.ts'
import type { Fault } from '../../schema/commands/host.ts'
import { LIMITS } from '../../schema/limits.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const S = 's'

/** A session with turns that have ended, and what was said in them. */
async function withTurns(world: SessionWorld, turns: number): Promise<void> {
  await world.create(S)
  for (let turn = 1; turn <= turns; turn++) {
    const run = await world.start(S, `t-${turn}`)
    await world.during(run.text(`answer ${turn}`))
    await world.during(run.end())
  }
  await settle()
}

async function faultsOf(world: SessionWorld): Promise<readonly Fault[]> {
  const faults: Fault[] = []
  const frozen = await world.store.freeze()
  for await (const fault of verifyRoot(frozen)) faults.push(fault)
  await frozen.close()
  return faults
}

const revisionsOf = async (world: SessionWorld): Promise<number[]> =>
  (await world.store.ledger(S, 0, 1_000)).map(({ revision }) => revision)

test('L6 A8 one checkpoint takes the place of the records before the newest settled turn, and all still holds together', async () => {
  const world = await SessionWorld.inMemory()
  await withTurns(world, 4)
  const before = await world.onDisk(S)
  const [root] = [before.state.root]
  const transcript = await world.ok('transcript.page', { sessionId: S, limit: 200 })
  const bytes = await world.ok('session.compact', { sessionId: S, operationId: 'op' })
  expect(bytes.bytesAfter).toBeLessThan(bytes.bytesBefore)
  const revisions = await revisionsOf(world)
  const checkpoint = (root?.admittedRevision ?? 0) - 1
  expect(revisions).toEqual(
    Array.from({ length: before.head.revision - checkpoint + 1 }, (_, index) => checkpoint + index),
  )
  expect(await faultsOf(world)).toEqual([])
  expect((await world.onDisk(S)).state).toEqual(before.state)
  expect(await world.ok('transcript.page', { sessionId: S, limit: 200 })).toEqual(transcript)
  // The same command again is answered from its receipt, and another one has nothing left to do.
  expect(await world.ok('session.compact', { sessionId: S, operationId: 'op' })).toEqual(bytes)
  const { bytesAfter } = bytes
  expect(await world.ok('session.compact', { sessionId: S })).toEqual({ bytesBefore: bytesAfter, bytesAfter })
})

test('L6 L1 pages of the ledger begin at the checkpoint, and a place before it leads there', async () => {
  const world = await SessionWorld.inMemory()
  await withTurns(world, 3)
  const whole = await world.ledger(S)
  await world.ok('session.compact', { sessionId: S })
  const [first = 0] = await revisionsOf(world)
  const page = await world.ok('ledger.page', { sessionId: S, after: 2, limit: 2 })
  expect(page.records.map(({ revision }) => revision)).toEqual([first, first + 1])
  expect(page.nextAfter).toBe(first + 1)
  const [checkpoint, ...rest] = await world.ledger(S)
  expect(rest).toEqual(whole.slice(first))
  const replaced = whole[first - 1]
  expect(checkpoint).toMatchObject({ hash: replaced?.hash, prevHash: replaced?.prevHash, revision: first })
  expect(checkpoint === undefined ? null : checkpointOf(checkpoint)?.state.revision).toBe(first)
})

test('L6 D1 what a compaction that was cut off has left of a damaged session stays', async () => {
  const crash = (point: CrashPoint): void => {
    if (point === 'mid_compaction') throw new Error('cut off')
  }
  const world = await SessionWorld.inMemory({ env: { crash } })
  await withTurns(world, 4)
  expect(await world.call('session.compact', { sessionId: S, operationId: 'c' })).toMatchObject({ ok: false })
  const left = await revisionsOf(world)
  expect(await world.store.untrimmed(S)).toBeDefined()
  const next = new SessionWorld({ store: world.store, epochNumber: 2 })
  next.sessions.quarantine(S, 'for the test')
  expect((await next.ok('transcript.page', { sessionId: S, limit: 10 })).entries).toHaveLength(8)
  await settle()
  expect(await revisionsOf(next)).toEqual(left)
})

test('L6 S5 a compaction leaves nothing of a session that is deleted and purged meanwhile', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('gone')
  for (const turnId of ['t-1', 't-2', 't-3']) await world.start('gone', turnId).then(run => run.end())
  await settle()
  let letGo = (): void => {}
  const held = new Promise<void>(resolve => {
    letGo = resolve
  })
  const ledger = world.store.ledger.bind(world.store)
  let isNext = false
  let isDeleted = false
  world.store.ledger = async (session, after, limit) => {
    const page = await ledger(session, after, limit)
    // The page of records that the checkpoint is made of.
    if (isDeleted || !isNext) {
      isNext = limit === 1
      return page
    }
    isDeleted = true
    const { session: header } = await world.ok('session.get', { sessionId: 'gone' })
    const deletion = { sessionId: 'gone', operationId: 'd', expectedRevision: header.revision }
    expect(await world.ok('session.delete', deletion)).toEqual({ kind: 'deleted' })
    await world.purges.idle()
    // Somebody asks for it, so that its place can be written.
    void world.sessions.using('gone', () => held)
    await settle()
    return page
  }
  expect(await world.call('session.compact', { sessionId: 'gone', operationId: 'c' })).toMatchObject({
    ok: false,
    error: { code: 'not_found' },
  })
  letGo()
  await settle()
  expect(isDeleted).toBe(true)
  expect(await ledger('gone', 0, 10)).toEqual([])
  expect(await world.store.untrimmed('gone')).toBeUndefined()
})

test('L6 X1 what a run needs is never compacted, wherever it is asked to begin', async () => {
  const world = await SessionWorld.inMemory()
  await withTurns(world, 2)
  const run = await world.start(S, 'running')
  const head = (await world.store.head(S)).revision
  const since = (await world.loop(S)).core.active?.since ?? 0
  await world.ok('session.compact', { sessionId: S, beforeRevision: head + 10 })
  expect((await revisionsOf(world))[0]).toBe(since - 1)
  await world.during(run.text('goes on'))
  const next = await SessionWorld.after(world)
  await settle()
  expect(await next.ok('turn.query', { sessionId: S, turnId: 'running' })).toMatchObject({
    status: 'failed',
    failureClass: 'app_restarted',
  })
  expect(await faultsOf(next)).toEqual([])
})

test('L6 a session goes on after it was compacted, and can be compacted again', async () => {
  const world = await SessionWorld.inMemory()
  await withTurns(world, 2)
  await world.ok('session.compact', { sessionId: S })
  for (let turn = 3; turn <= 5; turn++) {
    const run = await world.start(S, `t-${turn}`)
    await world.during(run.end())
  }
  await settle()
  const [first = 0] = await revisionsOf(world)
  await world.ok('session.compact', { sessionId: S })
  expect((await revisionsOf(world))[0]).toBeGreaterThan(first)
  expect(await faultsOf(world)).toEqual([])
})

class Killed extends Error {}

test('L6 X13 cut off at any step the ledger can be read, and the next load goes on until only the checkpoint is left', async () => {
  const turns = Math.ceil(LIMITS.compactionBatchRecords / 3) + 4
  for (let nth = 1; nth <= 3; nth++) {
    let passed = Number.NEGATIVE_INFINITY
    const crash = (point: CrashPoint): void => {
      if (point === 'mid_compaction' && ++passed === nth) throw new Killed()
    }
    const world = await SessionWorld.inMemory({ env: { crash } })
    await withTurns(world, turns)
    const { state } = await world.onDisk(S)
    passed = 0
    await world.call('session.compact', { sessionId: S })
    expect(passed).toBe(nth)
    const cut = await revisionsOf(world)
    if (nth < 3) expect(cut.length).toBeGreaterThan(revisionCount(state.root?.admittedRevision, state.revision))
    expect(await faultsOf(world)).toEqual([])
    expect((await loadSession(world.store, S))?.state).toEqual(state)
    const next = await SessionWorld.after(world)
    await next.loop(S)
    for (let i = 0; i < 20 && (await next.store.untrimmed(S)) !== undefined; i++) await settle()
    expect((await revisionsOf(next))[0]).toBe((state.root?.admittedRevision ?? 0) - 1)
    expect(await next.store.untrimmed(S)).toBeUndefined()
    expect(await faultsOf(next)).toEqual([])
  }
}, 60_000)

function revisionCount(admittedRevision = 0, revision = 0): number {
  return revision - admittedRevision + 2
}

test.each(['unknown_stored', 'unknown_absent', 'failed'] as const)(
  'L6 E7 a checkpoint whose write ends as %s costs its session nothing: the next command is stored',
  async failure => {
    const world = await SessionWorld.inMemory()
    await withTurns(world, 3)
    world.store.faults.failNext(failure)
    const compacted = await world.during(world.call('session.compact', { sessionId: S, operationId: 'op' }))
    expect(compacted.ok).toBe(false)
    await settle()
    const run = await world.start(S, 't-after')
    await world.during(run.text('still here'))
    await world.during(run.end())
    expect(await world.ok('turn.query', { sessionId: S, turnId: 't-after' })).toMatchObject({ status: 'completed' })
    expect(await faultsOf(world)).toEqual([])
  },
)
