import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { acceptRegression, type RootOwner, resolveRoot, tryAcquireRootOwner } from '../../leader/index.ts'
import { beginLineage } from '../../leader/lineage.ts'
import { AnchorKeeper } from '../../leader/log/root/anchor/anchor-keeper.ts'
import { type Marker, readMarker, replaceMarker } from '../../leader/log/root/marker.ts'
import { openRootStore } from '../../leader/open-root-store.ts'
import { hashesOf } from '../support/file-hashes.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

const databaseOf = ({ root }: TestLeader): string => join(root, 'database')
const anchorOf = ({ root }: TestLeader) => JSON.parse(readFileSync(join(root, 'anchor.json'), 'utf8'))

/** A root whose database was put back to what it was before its newest session; the leader is down. */
async function putBack(): Promise<TestLeader> {
  const leader = await startTestLeader()
  await leader.create('old')
  await leader.close()
  const copy = `${leader.root}-copy`
  cpSync(databaseOf(leader), copy, { recursive: true })
  await leader.start()
  await leader.create('newer')
  await leader.close()
  rmSync(databaseOf(leader), { recursive: true })
  cpSync(copy, databaseOf(leader), { recursive: true })
  return leader
}

async function own({ root }: TestLeader): Promise<RootOwner> {
  const owner = await tryAcquireRootOwner(await resolveRoot({ path: root }))
  if (owner === undefined) throw new Error('the root is owned')
  return owner
}

/** The marker as it was before roots had anchors. */
async function forgetDatabase({ root }: TestLeader): Promise<void> {
  const marker = (await readMarker(root)) as Marker
  const { databaseId: _known, ...rest } = marker
  await replaceMarker(root, rest)
}

async function accept(leader: TestLeader) {
  const owner = await own(leader)
  try {
    return await acceptRegression(owner)
  } finally {
    await owner.close()
  }
}

test('D4 the anchor follows the database: unclean while it is open, clean with its files at the end', async () => {
  const leader = await startTestLeader()
  const first = anchorOf(leader)
  expect(first).toMatchObject({ isClean: false, files: null })
  await leader.create('s')
  await leader.close()
  const last = anchorOf(leader)
  expect(last).toMatchObject({ databaseId: first.databaseId, isClean: true, files: expect.stringMatching(/^sha256:/) })
  expect(last.batch).toBeGreaterThan(first.batch)
  expect(existsSync(join(leader.root, 'evidence'))).toBe(false)
})

test('D4 a database that was put back is only read, and not a byte of it is changed', async () => {
  const leader = await putBack()
  const before = hashesOf(databaseOf(leader))
  await leader.start()
  const status = await leader.ok('host.status', {})
  expect(status).toMatchObject({ state: 'ready', faults: [{ code: 'root_regressed', kind: 'behind' }] })
  expect(status.faults[0]?.message).toContain('headwater doctor --accept-regression')
  const refused = await leader.refused('session.create', { sessionId: 'x', cwd: '/', backend: 'scripted' })
  expect(refused).toMatchObject({ code: 'root_regressed' })
  expect(refused.message).toContain('headwater doctor --accept-regression')
  expect(await leader.refused('turn.start', { sessionId: 'old', turnId: 't', content: { text: 'x' } })).toMatchObject({
    code: 'root_regressed',
  })
  const upload = await leader.http('PUT', '/v1/artifacts', { body: 'bytes', headers: { 'content-type': 'text/plain' } })
  expect(JSON.parse(upload.body.toString())).toMatchObject({ ok: false, error: { code: 'root_regressed' } })
  expect((await leader.ok('session.list', {})).sessions.map(session => session.sessionId)).toEqual(['old'])
  expect(await leader.ok('root.verify', {})).toMatchObject({ sessions: 1, faults: [{ code: 'root_regressed' }] })
  await leader.restart()
  expect((await leader.ok('host.status', {})).faults).toHaveLength(1)
  await leader.close()
  expect(hashesOf(databaseOf(leader))).toEqual(before)
})

test('D4 V7 accepting a regression begins a new lineage, and everything goes on from what is there', async () => {
  const leader = await putBack()
  expect(await accept(leader)).toMatchObject({ was: expect.stringContaining('older than what was acknowledged') })
  await leader.start()
  expect(await leader.ok('host.status', {})).toMatchObject({ faults: [] })
  await leader.create('after')
  await leader.restart()
  expect(await leader.ok('root.verify', {})).toMatchObject({ sessions: 2, faults: [] })
  expect((await leader.ok('host.status', {})).faults).toEqual([])
  await leader.close()
  await expect(accept(leader)).rejects.toMatchObject({ code: 'operation_conflict' })
})

test('D4 the database of another root, and a root without its anchor, are regressed', async () => {
  const [leader, other] = [await putBack(), await putBack()]
  await other.close()
  rmSync(databaseOf(leader), { recursive: true })
  cpSync(databaseOf(other), databaseOf(leader), { recursive: true })
  await leader.start()
  expect((await leader.ok('host.status', {})).faults).toMatchObject([
    { code: 'root_regressed', kind: 'other_database' },
  ])
  await leader.close()
  await accept(leader)
  rmSync(join(leader.root, 'anchor.json'))
  await leader.start()
  expect((await leader.ok('host.status', {})).faults).toMatchObject([
    { code: 'root_regressed', kind: 'anchor_missing' },
  ])
  await leader.close()
  writeFileSync(join(leader.root, 'anchor.json'), '{"batch":1}')
  await leader.start()
  expect((await leader.ok('host.status', {})).faults).toMatchObject([
    { code: 'root_regressed', kind: 'anchor_damaged' },
  ])
})

test('D4 D1 R7 an emptied database is damage: no leader starts on it, nothing is written, the message says what to do', async () => {
  const leader = await putBack()
  rmSync(databaseOf(leader), { recursive: true })
  await expect(leader.start()).rejects.toMatchObject({
    code: 'storage_fault',
    message: expect.stringContaining('backup'),
  })
  expect(existsSync(databaseOf(leader))).toBe(false)
  await expect(accept(leader)).rejects.toMatchObject({ code: 'storage_fault' })
})

test('D4 a root from before anchors gets its id, its ring and its anchor when it is first opened', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  await leader.close()
  const database = new Level<string, Uint8Array>(databaseOf(leader), { valueEncoding: 'view' })
  await database.clear({ gte: 'zid', lt: 'zie' })
  await database.clear({ gte: 'zr', lt: 'zu' })
  await database.close()
  rmSync(join(leader.root, 'anchor.json'))
  await forgetDatabase(leader)
  await leader.start()
  expect((await leader.ok('host.status', {})).faults).toEqual([])
  await leader.create('t')
  await leader.close()
  const marker = JSON.parse(readFileSync(join(leader.root, 'headwater.json'), 'utf8'))
  expect(marker.databaseId).toBe(anchorOf(leader).databaseId)
  await leader.start()
  expect((await leader.ok('host.status', {})).faults).toEqual([])
})

test('D4 the anchor is written again while batches come, and a write of it that fails harms nothing', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  await leader.close()
  const owner = await own(leader)
  const store = await openRootStore(owner)
  const warnings: string[] = []
  const keeper = new AnchorKeeper(owner, store, { warn: (_fields, message) => warnings.push(message) })
  const anchored = () => anchorOf(leader).batch === store.batchNumber
  await keeper.start(10)
  await store.putRootRecord('a', new Uint8Array([1]))
  await waitFor(anchored)
  // A directory in its place: the anchor cannot be renamed over it.
  rmSync(join(leader.root, 'anchor.json'))
  mkdirSync(join(leader.root, 'anchor.json', 'x'), { recursive: true })
  await store.putRootRecord('b', new Uint8Array([2]))
  await waitFor(() => warnings.length > 0)
  await store.putRootRecord('c', new Uint8Array([3]))
  expect([...((await store.rootRecord('c')) ?? [])]).toEqual([3])
  rmSync(join(leader.root, 'anchor.json'), { recursive: true })
  await waitFor(() => existsSync(join(leader.root, 'anchor.json')) && anchored())
  await store.close()
  await keeper.finish()
  expect(anchorOf(leader)).toMatchObject({ isClean: true })
  await owner.close()
})

test('D4 V7 the anchor follows at once when a lineage begins', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  await leader.close()
  const owner = await own(leader)
  const store = await openRootStore(owner)
  await store.putRootRecord('a', new Uint8Array([1]))
  expect(anchorOf(leader).batch).toBeLessThan(store.batchNumber)
  await beginLineage(store)
  expect(anchorOf(leader).batch).toBe(store.batchNumber)
  await store.close()
  await owner.close()
})
