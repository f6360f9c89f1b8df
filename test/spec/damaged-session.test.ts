import { join } from 'node:path'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'

type Bytes = Readonly<Record<string, string>>

async function withDatabase<T>(
  { root }: TestLeader,
  use: (database: Level<string, Uint8Array>) => Promise<T>,
): Promise<T> {
  const database = new Level<string, Uint8Array>(join(root, 'database'), { valueEncoding: 'view' })
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}

/** Everything that is stored of a session: ledger, document, receipts, head. */
function bytesOf(leader: TestLeader, session: string): Promise<Bytes> {
  return withDatabase(leader, async database => {
    const found: Record<string, string> = {}
    for await (const [key, value] of database.iterator()) {
      if (new RegExp(`^(h${session}$|[ldr]${session}!)`).test(key)) found[key] = Buffer.from(value).toString('base64')
    }
    return found
  })
}

/** Two sessions with a finished turn each; of `bad` one key is changed while nobody leads the root. */
async function damaged(change: (database: Level<string, Uint8Array>) => Promise<void>): Promise<TestLeader> {
  const leader = await startTestLeader()
  for (const session of ['bad', 'good']) {
    await leader.create(session)
    await leader.startTurn(session, `turn-${session}`, `hello ${session}`)
    await leader.ended(session, `turn-${session}`)
  }
  await leader.close()
  await withDatabase(leader, change)
  return leader
}

const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => (i === 5 ? byte ^ 1 : byte))

async function flip(database: Level<string, Uint8Array>, key: string): Promise<void> {
  await database.put(key, flipped((await database.get(key)) as Uint8Array), { sync: true })
}

test.each([
  ['an update of its document is missing', (database: Level<string, Uint8Array>) => database.del('dbad!000000000003')],
  ['an update of its document is not what was written', database => flip(database, 'dbad!000000000002')],
  [
    'its newest record is not what was written',
    async database => {
      const [key] = await database.keys({ gte: 'lbad!', lt: 'lbad"', reverse: true, limit: 1 }).all()
      await flip(database, key as string)
    },
  ],
  ['its head is gone', database => database.del('hbad')],
] as const satisfies readonly (readonly [string, (database: Level<string, Uint8Array>) => Promise<void>])[])(
  'D1 A9 a session is set aside when %s: its bytes stay, what is proved is shown, and no other one notices',
  async (_what, change) => {
    const leader = await damaged(change)
    const before = await bytesOf(leader, 'bad')
    await leader.start()
    const update = { operationId: 'o', expectedRevision: 1, patch: { model: 'm' } }
    expect(await leader.refused('session.update', { sessionId: 'bad', ...update })).toMatchObject({
      code: 'session_damaged',
    })
    expect(await leader.refused('turn.start', { sessionId: 'bad', turnId: 't', content: { text: 'x' } })).toMatchObject(
      {
        code: 'session_damaged',
      },
    )
    const { sessions } = await leader.ok('session.list', {})
    expect(Object.fromEntries(sessions.map(({ sessionId, status }) => [sessionId, status]))).toEqual({
      bad: 'damaged',
      good: 'idle',
    })
    expect((await leader.ok('session.get', { sessionId: 'bad' })).session.status).toBe('damaged')
    expect(await leader.ok('turn.query', { sessionId: 'bad', turnId: 'turn-bad' })).toMatchObject({
      status: 'completed',
    })
    const { faults } = await leader.ok('host.status', {})
    expect(faults.filter(fault => fault.sessionId === 'bad')).toHaveLength(1)
    expect(faults.some(fault => fault.sessionId === 'good')).toBe(false)
    await leader.ok('session.update', { sessionId: 'good', ...update })
    await leader.startTurn('good', 'another', 'goes on')
    await leader.ended('good', 'another')
    await leader.close()
    expect(await bytesOf(leader, 'bad')).toEqual(before)
  },
)

test('D1 of a session whose document is damaged the whole transcript is shown, from its ledger', async () => {
  const leader = await damaged(database => database.del('dbad!000000000002'))
  await leader.start()
  const { entries } = await leader.ok('transcript.page', { sessionId: 'bad', limit: 10 })
  const said = entries.flatMap(entry =>
    entry.kind === 'user' ? [entry.content.text] : entry.kind === 'assistant' ? [entry.text] : [],
  )
  expect(said).toEqual(['hello bad', 'hello bad'])
  const page = await leader.ok('ledger.page', { sessionId: 'bad', after: 0, limit: 100 })
  expect(page.records.length).toBeGreaterThan(3)
})
