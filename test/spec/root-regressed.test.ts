import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acceptRegression, resolveRoot, tryAcquireRootOwner } from '../../leader/index.ts'
import { LIMITS } from '../../schema/limits.ts'
import { hashesOf } from '../support/file-hashes.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'

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

async function accept({ root }: TestLeader) {
  const owner = await tryAcquireRootOwner(await resolveRoot({ path: root }))
  if (owner === undefined) throw new Error('the root is owned')
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
  expect(await leader.ok('root.verify', {})).toMatchObject({ sessions: 1, faults: [] })
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

test('D4 a root from before anchors gets its id and its anchor when it is first opened', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  await leader.close()
  const marker = JSON.parse(readFileSync(join(leader.root, 'headwater.json'), 'utf8'))
  expect(marker.databaseId).toBe(anchorOf(leader).databaseId)
  expect(LIMITS.anchorIntervalMs).toBe(5_000)
  expect(readdirSync(leader.root).filter(name => name.endsWith('.tmp'))).toEqual([])
})
