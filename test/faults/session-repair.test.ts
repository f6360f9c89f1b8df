import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repairSession, resolveRoot, tryAcquireRootOwner, verifyDirectory } from '../../leader/index.ts'
import { documentRange, ledgerKey, rowKey, updateKey } from '../../leader/log/keys.ts'
import type { RepairOptions } from '../../leader/repair/repair-session.ts'
import { encodeJson } from '../../leader/session/record.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { Fault } from '../../schema/commands/host.ts'
import { isTerminal } from '../../schema/entities/turn.ts'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { damageDatabase, flipped, type RawDatabase } from '../support/raw-database.ts'
import { runCli } from '../support/run-cli.ts'
import { waitFor } from '../support/wait-for.ts'

const S = 's'

async function turn(connection: LeaderConnection, sessionId: string, turnId: string): Promise<void> {
  await connection.startTurn({ sessionId, turnId, content: { text: `say ${turnId}` } })
  await waitFor(async () => isTerminal((await connection.queryTurn({ sessionId, turnId })).status), {
    deadlineMs: 20_000,
  })
}

/** A root with two sessions of a few turns each, and no leader. */
async function prepared(): Promise<TestRoot> {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of [S, 'other']) {
    await connection.createSession({ sessionId, cwd: '/', backend: 'scripted' })
    for (const turnId of ['t-1', 't-2', 't-3']) await turn(connection, sessionId, turnId)
  }
  await connection.close()
  expect(await leader.stop()).toMatchObject({ code: 0 })
  return root
}

async function faultsIn(root: TestRoot): Promise<readonly Fault[]> {
  const faults: Fault[] = []
  for await (const fault of verifyDirectory(root.path)) faults.push(fault)
  return faults
}

async function repair(root: TestRoot, options: RepairOptions): ReturnType<typeof repairSession> {
  const owner = await tryAcquireRootOwner(await resolveRoot({ path: root.path }))
  if (owner === undefined) throw new Error('the root is owned')
  try {
    return await repairSession(owner, options)
  } finally {
    await owner.close()
  }
}

/** After a repair the session takes turns again, and the other one always did. */
async function expectWell(root: TestRoot): Promise<void> {
  expect(await faultsIn(root)).toEqual([])
  const leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of [S, 'other']) await turn(connection, sessionId, 'afterwards')
  expect((await connection.request('root.verify', {})).faults).toEqual([])
  await connection.close()
  await leader.stop()
}

const readRow = (stored: RawDatabase['stored'], key: string): Record<string, unknown> => {
  const bytes = stored.get(key)
  if (bytes === undefined) throw new Error(`there is no ${key}`)
  return JSON.parse(Buffer.from(bytes.subarray(0, bytes.length - 4)).toString('utf8')) as Record<string, unknown>
}

test.each<[string, string, (database: RawDatabase) => Promise<void>]>([
  [
    'a byte of a record that changed',
    'record_unreadable',
    ({ stored, putStored }) => putStored(ledgerKey(S, 6), flipped(stored.get(ledgerKey(S, 6)))),
  ],
  ['a record that is missing', 'ledger_gap', ({ apply }) => apply({ key: ledgerKey(S, 6), value: null })],
  [
    'a record that is another one',
    'record_misplaced',
    ({ stored, apply }) => apply({ key: ledgerKey(S, 6), value: encodeJson(readRow(stored, ledgerKey(S, 5))) }),
  ],
])(
  'D2 A8 %s: verify names it, a repair without a revision changes nothing, with it the session is cut back and well',
  async (_, kind, damage) => {
    const root = await prepared()
    await damageDatabase(root.path, damage)
    expect(await faultsIn(root)).toEqual([
      expect.objectContaining({ code: 'session_damaged', sessionId: S, kind, revision: 6 }),
    ])
    await expect(repair(root, { sessionId: S })).rejects.toMatchObject({
      code: 'session_damaged',
      detail: { kind, revision: 6, lastGood: 5 },
    })
    expect(existsSync(join(root.path, 'backups'))).toBe(false)
    await expect(repair(root, { sessionId: S, to: 6 })).rejects.toMatchObject({ code: 'invalid_request' })
    const repaired = await repair(root, { sessionId: S, to: 5 })
    expect(repaired).toMatchObject({ revision: 5, faults: [] })
    expect(repaired.formerRevision).toBeGreaterThan(6)
    const copied = readFileSync(repaired.copy, 'utf8').trim().split('\n')
    expect(copied.map(line => (JSON.parse(line) as { key: string }).key)).toContain(`h${S}`)
    await expectWell(root)
  },
  60_000,
)

test('D2 A5 a cut takes the receipts of later commands with it and leaves the earlier ones: each can be told', async () => {
  const root = await prepared()
  await repair(root, { sessionId: S, to: 5 })
  await root.start()
  const connection = await root.connect()
  const stored = async (id: string): Promise<boolean> =>
    (await connection.request('receipt.query', { sessionId: S, operation: 'turn.start', id })).stored
  expect([await stored('t-1'), await stored('t-2'), await stored('t-3')]).toEqual([true, true, false])
  // The turn that the cut left unfinished is ended like one that a crash cut off; the one that was cut away is new.
  expect(await connection.queryTurn({ sessionId: S, turnId: 't-2' })).toMatchObject({ failureClass: 'app_restarted' })
  await turn(connection, S, 't-3')
}, 60_000)

test('D2 V6 V7 a replica that holds what was cut away shows what the leader has and keeps its copy aside', async () => {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of [S, 'other']) {
    await connection.createSession({ sessionId, cwd: '/', backend: 'scripted' })
    for (const turnId of ['t-1', 't-2', 't-3']) await turn(connection, sessionId, turnId)
  }
  const seen = await connection.openSessionSubscription({ sessionId: S })
  const other = await connection.openSessionSubscription({ sessionId: 'other' })
  const before = seen.current
  expect(await leader.stop()).toMatchObject({ code: 0 })
  await repair(root, { sessionId: S, to: 5 })
  await root.start()
  const isLive = () => [seen, other].every(({ freshness }) => freshness.state === 'live')
  await waitFor(() => connection.retryNow() ?? isLive(), { deadlineMs: 20_000 })
  expect(seen.current.revision).toBeLessThan(before.revision)
  expect(seen.aside?.projection).toBe(before)
  expect([other.current.transcript.lastSeq, other.aside]).toEqual([6, null])
  // It stays there while the session goes on under revisions that were used before.
  for (const turnId of ['t-3', 't-4']) await turn(connection, S, turnId)
  await waitFor(() => seen.current.revision > before.revision, { deadlineMs: 20_000 })
  expect(seen.aside?.projection).toBe(before)
}, 60_000)

test.each<[string, (database: RawDatabase) => Promise<void>]>([
  [
    'an update of the document that is missing',
    ({ stored, apply }) => {
      const { gte, lt } = documentRange(S)
      const updates = [...stored.keys()].filter(key => key > gte && key < lt)
      return apply({ key: updates[Math.floor(updates.length / 2)] as string, value: null })
    },
  ],
  [
    'an update of the document with another byte',
    ({ stored, putStored }) => putStored(updateKey(S, 2), flipped(stored.get(updateKey(S, 2)))),
  ],
])(
  'D2 D1 %s: the document is built anew from the ledger, under a new generation',
  async (_, damage) => {
    const root = await prepared()
    await damageDatabase(root.path, damage)
    const faults = await faultsIn(root)
    expect(faults.map(({ sessionId }) => sessionId)).toEqual([S])
    const repaired = await repair(root, { sessionId: S })
    expect(repaired).toMatchObject({ faults: [], droppedReceipts: 0, rows: 0 })
    expect(repaired.revision).toBe(repaired.formerRevision)
    await expectWell(root)
  },
  60_000,
)

test('D2 rows that are missing, different, unreadable or too many are named one by one, and rebuilt', async () => {
  const root = await prepared()
  await damageDatabase(root.path, async ({ stored, apply, putStored }) => {
    const turnRow = rowKey('turn', S, 't-2')
    const { header } = readRow(stored, rowKey('session', '', S)) as { header: Record<string, unknown> }
    await apply(
      { key: rowKey('admission', S, 't-1'), value: null },
      { key: turnRow, value: encodeJson({ ...readRow(stored, turnRow), admittedRevision: 1 }) },
      { key: rowKey('entry', S, 'nobody'), value: encodeJson({ fate: 'removed' }) },
      { key: rowKey('session', '', S), value: encodeJson({ header, queueCount: 7, pendingCount: 0 }) },
      { key: rowKey('activity', '', `u.000000000000001.${S}`), value: encodeJson(S) },
    )
    await putStored(rowKey('turn', S, 't-3'), flipped(stored.get(rowKey('turn', S, 't-3'))))
  })
  const kindsOf = (faults: readonly Fault[]) => faults.map(({ kind, message }) => `${kind} ${message?.split(' ')[2]}`)
  expect(kindsOf(await faultsIn(root)).sort()).toEqual([
    'row_differs session',
    'row_differs turn',
    'row_missing admission',
    'row_orphan activity',
    'row_orphan entry',
    'row_unreadable turn',
  ])
  const repaired = await repair(root, { sessionId: S })
  expect(repaired).toMatchObject({ rows: 6, faults: [], droppedReceipts: 0 })
  await expectWell(root)
}, 60_000)

test('D2 from the command line: verify exits with 11 and names the session, the doctor says what to type, and typing it mends it', async () => {
  const root = await prepared()
  await damageDatabase(root.path, ({ apply }) => apply({ key: ledgerKey(S, 6), value: null }))
  const call = (...args: string[]) => runCli(['--root', root.path, ...args])
  const verified = await call('verify', '--json')
  expect(verified.code).toBe(11)
  expect(JSON.parse(verified.stdout)).toMatchObject({
    ok: false,
    error: { code: 'damage_found', detail: { faults: [{ sessionId: S, revision: 6, kind: 'ledger_gap' }] } },
  })
  expect((await call('doctor')).stdout).toMatch(new RegExp(`headwater --root \\S+ doctor --repair ${S}`))
  const refused = await call('doctor', '--repair', S)
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining(`--repair ${S} --to 5`)])
  const mended = await call('doctor', '--repair', S, '--to', '5')
  expect([mended.code, mended.stdout]).toEqual([0, expect.stringContaining('is at revision 5')])
  expect(readdirSync(join(root.path, 'backups'))).toEqual([`repair-${S}-1.jsonl`])
  expect((await call('verify')).code).toBe(0)
}, 60_000)
