import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type OfflineStore, openStore, resolveRoot, tryAcquireRootReader } from '../../leader/index.ts'
import type { Admission } from '../../schema/entities/turn.ts'
import { hashesOf } from '../support/file-hashes.ts'
import { ADA, startTestLeader, TestLeader } from '../support/start-test-leader.ts'
import { testTempDir } from '../support/temp-dir.ts'

const AGENT = { agentId: 'a1', agentName: 'Scout' }
const CREATED = { cwd: '/srv', backend: 'scripted' }
const STEPS = [{ id: 's1', title: 'One', description: 'Do one thing.' }]

function admission(changes: Partial<Admission> = {}): Admission {
  return {
    turnId: 't1',
    runId: 'r1',
    userMessageId: 'm1',
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: { text: 'hello' },
    sourceMessages: [],
    submittedBy: ADA,
    admittedAt: 1_700_000_000_000,
    ...changes,
  }
}

/** A root nobody serves, to write in as its owner and to look at as a reader. */
function quietRoot(): TestLeader {
  return new TestLeader(join(testTempDir('o'), 'root'))
}

async function read<T>({ root }: TestLeader, use: (store: OfflineStore) => Promise<T>): Promise<T> {
  const reader = await tryAcquireRootReader(await resolveRoot({ path: root }))
  if (reader === undefined) throw new Error('the root is owned')
  const store = await openStore(reader)
  try {
    return await use(store)
  } finally {
    await store.close()
    await reader.close()
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Every member that reads, on one session. */
async function readAll(store: OfflineStore, sessionId: string): Promise<unknown> {
  return {
    session: await store.readSession(sessionId),
    chain: await store.readAdmissionChain(sessionId),
    turn: await store.readTurn(sessionId, 't1'),
    unknown: await store.readTurn(sessionId, 't9'),
    run: await store.readRun(sessionId, 'r1'),
    ledger: await all(store.readLedger(sessionId)),
    page: (await all(store.readLedger(sessionId, { after: 1, limit: 2 }))).map(record => record.revision),
    faults: await all(store.verify()),
  }
}

async function plantTurn(store: OfflineStore): Promise<void> {
  await store.createSession({ sessionId: 's', ...CREATED })
  await store.admitTurn({ sessionId: 's', ...admission() })
  await store.createRun({ sessionId: 's', turnId: 't1', runId: 'r1' })
  await store.appendUserMessage({ sessionId: 's', turnId: 't1', messageId: 'm1', content: { text: 'hello' } })
  await store.appendRunEvent({ sessionId: 's', runId: 'r1', type: 'run_completed', payload: {} })
}

test('T13 S1 a planted child session has the header that says whose it is; a second one under its id is refused', async () => {
  const root = quietRoot()
  const parent = { sessionId: 's', turnId: 't1', ...AGENT }
  await root.offline(async store => {
    await store.createSession({ sessionId: 's', ...CREATED })
    const header = await store.createChildSession({ sessionId: 'c', ...CREATED, title: 'Scouting', parent })
    expect(header).toMatchObject({ sessionId: 'c', title: 'Scouting', status: 'idle', parent, revision: 1 })
    expect((await store.readSession('c')).session).toEqual(header)
    const again = store.createChildSession({ sessionId: 'c', ...CREATED, parent })
    await expect(again).rejects.toMatchObject({ code: 'operation_conflict' })
    const nameless = { sessionId: 'd', ...CREATED, parent: { sessionId: 's' } } as never
    await expect(store.createChildSession(nameless)).rejects.toMatchObject({ code: 'invalid_request' })
    // States are not checked: its parent may be anywhere.
    await store.createChildSession({ sessionId: 'e', ...CREATED, parent: { ...parent, sessionId: 'elsewhere' } })
    expect(await all(store.verify())).toEqual([])
  })
})

test('P1 A5 a planted proposal is written once: again it gives the same, another under its id is a conflict', async () => {
  const root = quietRoot()
  const proposal = {
    operationId: 'o1',
    sessionId: 's',
    turnId: 't1',
    title: 'Plan',
    overview: 'All of it',
    steps: STEPS,
  }
  const first = await root.offline(async store => {
    await store.createSession({ sessionId: 's', ...CREATED, collaborationMode: 'plan' })
    const [made, same] = await Promise.all([store.submitPlanProposal(proposal), store.submitPlanProposal(proposal)])
    expect(same).toEqual(made)
    expect(made).toEqual({
      sessionId: 's',
      storeVersion: 1,
      eventType: 'plan_submitted',
      proposal: {
        planId: expect.any(String),
        proposalId: expect.any(String),
        sessionId: 's',
        turnId: 't1',
        revision: 1,
        contentDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        title: 'Plan',
        overview: 'All of it',
        steps: STEPS,
        status: 'pending_approval',
        submittedAt: expect.any(Number),
      },
    })
    return made
  })
  await root.offline(async store => {
    expect(await store.submitPlanProposal(proposal)).toEqual(first)
    const other = store.submitPlanProposal({ ...proposal, title: 'Another plan' })
    await expect(other).rejects.toMatchObject({ code: 'operation_conflict' })
    const second = await store.submitPlanProposal({ ...proposal, operationId: 'o2', title: 'Another plan' })
    expect(second).toMatchObject({ storeVersion: 2, proposal: { planId: first.proposal.planId, revision: 2 } })
    expect((await store.readSession('s')).plan.latestProposal).toEqual(second.proposal)
    const many = { ...proposal, operationId: 'o3', steps: [] }
    await expect(store.submitPlanProposal(many)).rejects.toMatchObject({ code: 'invalid_request' })
    const nowhere = store.submitPlanProposal({ ...proposal, sessionId: 'x' })
    await expect(nowhere).rejects.toMatchObject({ code: 'not_found' })
    expect(await all(store.verify())).toEqual([])
  })
})

test('P1 a leader serves a planted proposal, whether or not its turn is known', async () => {
  const submit = (store: OfflineStore, sessionId: string) =>
    store.submitPlanProposal({ operationId: 'o1', sessionId, turnId: 't1', title: 'Plan', steps: STEPS })
  const leader = await startTestLeader({
    plant: async store => {
      await plantTurn(store)
      await submit(store, 's')
      await store.createSession({ sessionId: 'bare', ...CREATED })
      await submit(store, 'bare')
    },
  })
  for (const sessionId of ['s', 'bare']) {
    const page = await leader.ok('plan.query', { kind: 'list_start', sessionId })
    expect(page).toMatchObject({ storeVersion: 1, items: [{ kind: 'proposal', proposal: { title: 'Plan' } }] })
  }
  expect((await leader.ok('host.status', {})).faults).toEqual([])
  expect((await leader.ok('root.verify', {})).faults).toEqual([])
})

test('R9 a reader reads what its owner does, with every member, and can write nothing', async () => {
  const root = quietRoot()
  const asOwner = await root.offline(async store => {
    await plantTurn(store)
    return await readAll(store, 's')
  })
  await read(root, async store => {
    expect(await readAll(store, 's')).toEqual(asOwner)
    for (const reading of [
      () => store.readSession('x'),
      () => store.readAdmissionChain('x'),
      () => store.readRun('s', 'r9'),
      () => store.readRun('x', 'r1'),
      () => all(store.readLedger('x')),
    ]) {
      await expect(reading()).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await store.readTurn('x', 't1')).toMatchObject({ admission: null, classification: { kind: 'none' } })
    const parent = { sessionId: 's', turnId: 't1', ...AGENT }
    const writers = [
      store.createSession({ sessionId: 'n', ...CREATED }),
      store.createChildSession({ sessionId: 'n', ...CREATED, parent }),
      store.archiveSession({ sessionId: 's' }),
      store.submitPlanProposal({ operationId: 'o', sessionId: 's', turnId: 't1', title: 'Plan', steps: STEPS }),
      store.admitTurn({ sessionId: 's', ...admission({ turnId: 't2', runId: 'r2', userMessageId: 'm2' }) }),
      store.createRun({ sessionId: 's', turnId: 't1', runId: 'r2' }),
      store.appendUserMessage({ sessionId: 's', turnId: 't1', messageId: 'm2', content: { text: 'x' } }),
      store.appendRunEvent({ sessionId: 's', runId: 'r1', type: 'x', payload: {} }),
    ]
    for (const writing of writers) await expect(writing).rejects.toMatchObject({ code: 'invalid_lease' })
  })
})

test('R9 several stores on views read on while an owner starts and writes; one opened later sees it', async () => {
  const root = quietRoot()
  await root.offline(plantTurn)
  const capability = await resolveRoot({ path: root.root })
  const readers = await Promise.all([1, 2, 3].map(() => tryAcquireRootReader(capability)))
  const stores = await Promise.all(readers.map(reader => openStore(reader as NonNullable<typeof reader>)))
  await root.offline(async store => {
    await store.appendRunEvent({ sessionId: 's', runId: 'r1', type: 'usage_reported', payload: { usage: {} } })
    for (const each of stores) expect(await all(each.readLedger('s'))).toHaveLength(5)
    expect(await all(store.readLedger('s'))).toHaveLength(6)
  })
  await read(root, async store => expect(await all(store.readLedger('s'))).toHaveLength(6))
  for (const each of stores) expect((await each.readSession('s')).revision).toBe(5)
  await Promise.all(stores.map(store => store.close()))
  await Promise.all(readers.map(reader => reader?.close()))
})

test('T4 a claim that names its own session, turn and run is admitted; the chain gives it back unchanged', async () => {
  const root = quietRoot()
  const claim = { targetSessionId: 's', targetTurnId: 't1', targetRunId: 'r1', goal: { depth: [1, { any: null }] } }
  const claimed = admission({ execution: { kind: 'claimed_agent_graph_intent', ...AGENT, claim } })
  await root.offline(async store => {
    await store.createSession({ sessionId: 's', ...CREATED })
    expect(await store.admitTurn({ sessionId: 's', ...claimed })).toEqual(claimed)
    expect(await store.readAdmissionChain('s')).toEqual([claimed])
    const other = { ...claimed, execution: { ...claimed.execution, claim: { targetSessionId: 'x' } } } as Admission
    await expect(store.admitTurn({ sessionId: 's', ...other })).rejects.toMatchObject({ code: 'invalid_request' })
  })
  await read(root, async store => expect(await store.readAdmissionChain('s')).toEqual([claimed]))
})

const DAMAGES: readonly [string, RegExp, (path: string) => void][] = [
  ['is gone', /^CURRENT$/, path => rmSync(path)],
  ['is cut off', /^MANIFEST-/, path => truncateSync(path, 10)],
  ['has another byte', /\.log$/, path => flipByte(path)],
  ['has another byte', /\.ldb$/, path => flipByte(path)],
]

function flipByte(path: string): void {
  const bytes = readFileSync(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] as number) ^ 0xff
  writeFileSync(path, bytes)
}

test.each(DAMAGES)(
  'R9 A9 where what %s is %s, a reader changes nothing in the root',
  async (_what, pattern, damage) => {
    const root = quietRoot()
    await root.offline(plantTurn)
    await root.offline(store => store.archiveSession({ sessionId: 's' }))
    const database = join(root.root, 'database')
    const files = readdirSync(database).filter(name => pattern.test(name))
    expect(files).not.toEqual([])
    for (const name of files) damage(join(database, name))
    const before = hashesOf(root.root)
    const capability = await resolveRoot({ path: root.root })
    const readers = [await tryAcquireRootReader(capability), await tryAcquireRootReader(capability)]
    for (const reader of readers) {
      if (reader === undefined) throw new Error('the root is owned')
      expect(reader.isEmpty).toBe(false)
      // What is damaged is an error or reads as a session without its end, never as a root without the session.
      const session = await openStore(reader).then(
        async store => await store.readSession('s').finally(() => store.close()),
        error => error,
      )
      expect(session).not.toMatchObject({ code: 'not_found' })
      expect(hashesOf(database)).toEqual(inDatabase(before))
    }
    for (const reader of readers) await reader?.close()
    expect(besidesLock(hashesOf(root.root))).toEqual(besidesLock(before))
  },
)

function inDatabase(hashes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const own = Object.entries(hashes).filter(([path]) => path.startsWith('database/'))
  return Object.fromEntries(own.map(([path, hash]) => [path.slice('database/'.length), hash]))
}

/** The lock is a database of its own, and taking it writes in it. */
function besidesLock(hashes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(hashes).filter(([path]) => !path.startsWith('lock/')))
}
