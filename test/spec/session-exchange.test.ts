import { expect, test } from 'vitest'
import { openMemoryStore } from '../../leader/log/memory-store.ts'
import { endImport } from '../../leader/offline/import/unfinished-import.ts'
import { recoverSessions } from '../../leader/recovery.ts'
import { LIMITS } from '../../schema/limits.ts'
import { exportText, faultsOf, importText, markdownOf, shownBy } from '../support/exchange.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const S = 's'
const QUESTION = { kind: 'question' as const, questions: [{ question: 'Which?', options: [{ label: 'a' }] }] }

/** Turns that have ended, each with a few words. */
async function turns(world: SessionWorld, sessionId: string, ids: readonly string[], words = 3): Promise<void> {
  for (const id of ids) {
    const run = await world.start(sessionId, id)
    for (let i = 0; i < words; i++) await world.during(run.port.apply({ kind: 'notice', text: `${id} ${i}` }))
    await world.during(run.text(`answer of ${id}`))
    await world.during(run.end())
  }
  await settle()
}

async function pages(world: SessionWorld, sessionId: string) {
  return await world.ok('transcript.page', { sessionId, limit: LIMITS.transcriptPageEntries })
}

test('D5 X1 Q9 a turn that runs, what waits and what is asked come along, and the next start brings them to their ends', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(S)
  await turns(world, S, ['t1', 't2'])
  const run = await world.start(S, 't3')
  await run.port.apply({
    kind: 'tool_start',
    toolCallId: 'c',
    name: 'n',
    title: '',
    status: 'in_progress',
    input: null,
  })
  await run.port.openInteraction(QUESTION)
  await world.submit(S, 'm1')
  await settle()
  const store = await openMemoryStore()
  expect(await importText(store, await exportText(world.store, S))).toMatchObject({ kind: 'imported', artifacts: 0 })
  expect(await shownBy(store, S)).toEqual(await shownBy(world.store, S))
  expect(await faultsOf(store)).toEqual([])

  const next = new SessionWorld({ store })
  await next.catalog.load()
  expect(await recoverSessions(next.sessions, () => {})).toEqual({ recovered: 1, quarantined: 0 })
  expect(await next.ok('turn.query', { sessionId: S, turnId: 't3' })).toMatchObject({
    status: 'failed',
    failureClass: 'app_restarted',
  })
  const { state } = await next.onDisk(S)
  expect(state.interactions).toEqual([])
  expect(state.queue.map(({ entry }) => [entry.messageId, entry.state])).toEqual([['m1', 'parked']])
  expect((await pages(next, S)).entries.find(entry => entry.kind === 'tool')).toMatchObject({ status: 'unknown' })
  expect((await next.ok('session.list', {})).sessions.map(({ sessionId }) => sessionId)).toEqual([S])
  await next.ok('queue.resume', { sessionId: S })
  await settle()
  expect(next.runs.started).toHaveLength(1)
  expect(await faultsOf(store)).toEqual([])
})

test('X15 D5 what an agent of another root has left is not touched by the root its session was imported into', async () => {
  const process = { pid: 1, processGroup: 1, startTicks: 2, bootId: 'b', mark: 'm' }
  const world = await SessionWorld.inMemory({ env: { rootMark: 'one' } })
  await world.create(S)
  const run = await world.start(S, 't1')
  await run.port.apply({ kind: 'process', process })
  await run.end()
  const there = await openMemoryStore()
  await importText(there, await exportText(world.store, S))
  const ended: unknown[] = []
  const tenure = (store: typeof there, epochNumber: number, rootMark: string) =>
    new SessionWorld({ store, epochNumber, env: { rootMark, endProcess: async identity => ended.push(identity) } })
  const formerAt = async (at: SessionWorld, turnId: string) => {
    await recoverSessions(at.sessions, () => {})
    const { port } = await at.start(S, turnId)
    return port.formerProcess
  }
  expect(await formerAt(tenure(there, 7, 'two'), 't2')).toBeNull()
  expect(await formerAt(tenure(there, 8, 'two'), 't3')).toBeNull()
  expect(ended).toEqual([])
  expect(await faultsOf(there)).toEqual([])
  const here = await openMemoryStore({ disk: world.store.disk })
  expect(await formerAt(tenure(here, 2, 'one'), 't2')).toEqual(process)
})

test('D5 L6 a compacted session is exported from its checkpoint on, with the transcript from before it', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(S)
  await turns(world, S, ['t1', 't2', 't3'], LIMITS.liveTranscriptEntries)
  await turns(world, S, ['t4', 't5'])
  await world.during(world.ok('session.compact', { sessionId: S }))
  const [first] = await world.ledger(S)
  expect(first?.revision).toBeGreaterThan(LIMITS.liveTranscriptEntries)
  const text = await exportText(world.store, S)
  expect(text.split('\n')[1]).toContain('"ledger_compacted"')

  const store = await openMemoryStore()
  expect(await importText(store, text)).toMatchObject({ kind: 'imported' })
  expect(await shownBy(store, S)).toEqual(await shownBy(world.store, S))
  expect(await markdownOf(store, S)).toBe(await markdownOf(world.store, S))
  expect(await exportText(store, S)).toBe(text)
  expect(await faultsOf(store)).toEqual([])
  expect(await importText(store, text)).toMatchObject({ kind: 'present', records: 0 })
})

test('D5 A3 an import that is cut off leaves nothing, whoever opens the root next', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(S)
  await turns(world, S, ['t1', 't2', 't3'])
  const text = await exportText(world.store, S)
  const writes = await writesOf(text)
  expect(writes).toBeGreaterThan(3)
  for (let cut = 1; cut < writes; cut++) {
    const store = await openMemoryStore()
    store.faults.hold()
    void importText(store, text).catch(() => {})
    for (let i = 0; i < cut; i++) {
      await store.faults.held()
      store.faults.release()
      store.faults.hold()
    }
    await store.faults.held()
    const next = await openMemoryStore({ disk: store.disk })
    await endImport(next)
    const isThere = (await next.head(S)).revision > 0
    expect(isThere ? await shownBy(next, S) : (await next.ledger(S, 0, 10)).length).toEqual(
      isThere ? await shownBy(world.store, S) : 0,
    )
    expect(await faultsOf(next)).toEqual([])
    expect(await importText(next, text)).toMatchObject({ kind: isThere ? 'present' : 'imported' })
    expect(await faultsOf(next)).toEqual([])
  }
})

/** How many batches an import takes. */
async function writesOf(text: string): Promise<number> {
  const store = await openMemoryStore()
  let isOver = false
  store.faults.hold()
  const done = importText(store, text).finally(() => {
    isOver = true
  })
  let writes = 0
  while (!isOver) {
    await Promise.race([store.faults.held(), done])
    if (isOver) break
    writes += 1
    store.faults.release()
    store.faults.hold()
    await settle()
  }
  return writes
}

test.each(['failed', 'full'] as const)(
  'D5 E7 E8 a write that is %s refuses an import and keeps nothing of it',
  async failure => {
    const world = await SessionWorld.inMemory()
    await world.create(S)
    await turns(world, S, ['t1'])
    const text = await exportText(world.store, S)
    const writes = await writesOf(text)
    // The last one only takes the note of the import away.
    for (let good = 0; good < writes - 1; good++) {
      const store = await openMemoryStore()
      store.faults.hold()
      const importing = importText(store, text)
      importing.catch(() => {})
      for (let i = 0; i < good; i++) {
        await store.faults.held()
        store.faults.release()
        store.faults.hold()
        await settle()
      }
      await store.faults.held()
      store.faults.failNext(failure)
      store.faults.release()
      await expect(importing).rejects.toMatchObject({
        code: failure === 'full' ? 'storage_full' : 'persistence_failed',
      })
      store.faults.freeSpace()
      expect([await store.sessions(undefined, 10), await faultsOf(store)]).toEqual([[], []])
      expect(await importText(store, text)).toMatchObject({ kind: 'imported' })
      expect(await shownBy(store, S)).toEqual(await shownBy(world.store, S))
    }
  },
)

test('D5 S5 S6 a fork comes with the session it was made from, and a deleted session never comes back', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(S)
  await turns(world, S, ['t1', 't2'], LIMITS.liveTranscriptEntries)
  await world.during(world.ok('session.fork', { sessionId: S, fromTurnId: 't2', newSessionId: 'f' }))
  const [source, fork] = [await exportText(world.store, S), await exportText(world.store, 'f')]
  const store = await openMemoryStore()
  await expect(importText(store, fork)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('import that one first'),
  })
  expect([await store.sessions(undefined, 10), await faultsOf(store)]).toEqual([[], []])
  await importText(store, source)
  await importText(store, fork)
  expect(await markdownOf(store, 'f')).toBe(await markdownOf(world.store, 'f'))
  expect(await faultsOf(store)).toEqual([])

  const next = new SessionWorld({ store })
  await next.catalog.load()
  const { revision } = (await next.ok('session.get', { sessionId: 'f' })).session
  await next.ok('session.delete', { sessionId: 'f', operationId: 'd', expectedRevision: revision })
  await next.purges.idle()
  await expect(importText(store, fork)).rejects.toMatchObject({ code: 'operation_conflict' })
})

test('D5 I6 an interaction that another session has here keeps its owner', async () => {
  const [one, two] = [await SessionWorld.inMemory(), await SessionWorld.inMemory()]
  for (const [world, sessionId] of [
    [one, 's1'],
    [two, 's2'],
  ] as const) {
    await world.create(sessionId)
    const run = await world.start(sessionId, 't1')
    await run.port.openInteraction(QUESTION)
    await settle()
  }
  const before = await shownBy(one.store, 's1')
  await expect(importText(one.store, await exportText(two.store, 's2'))).rejects.toMatchObject({
    code: 'operation_conflict',
    message: expect.stringContaining('Another session has an interaction'),
  })
  expect(await shownBy(one.store, 's1')).toEqual(before)
  expect([await one.store.sessions(undefined, 10), await faultsOf(one.store)]).toEqual([['s1'], []])
})

test('X11 L3 a call whose entry was sealed before the leader loaded its session again has its outcome at the turn’s end', async () => {
  const world = await SessionWorld.inMemory({ limits: { loadedSessions: 0 } })
  await world.create(S)
  const run = await world.start(S, 't1')
  const call = { toolCallId: 'c', name: 'n', title: '', status: 'in_progress' as const, input: null }
  await run.port.apply({ kind: 'tool_start', ...call })
  for (let i = 0; i < LIMITS.liveTranscriptEntries + 1; i++) await run.port.apply({ kind: 'notice', text: `${i}` })
  expect((await world.onDisk(S)).state.root?.sealedCalls).toEqual(['c'])
  await world.during(run.end())
  expect((await world.onDisk(S)).state.root).not.toHaveProperty('sealedCalls')
  const tools = (await pages(world, S)).entries.flatMap(entry => (entry.kind === 'tool' ? [entry.status] : []))
  expect(tools).toEqual(['in_progress', 'unknown'])
})
