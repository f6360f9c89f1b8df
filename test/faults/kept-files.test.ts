import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashesOf } from '../support/file-hashes.ts'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { rewriteValue } from '../support/rewrite-value.ts'
import { waitFor } from '../support/wait-for.ts'

const SESSION = { cwd: '/tmp', backend: 'scripted' }
const evidenceOf = (root: TestRoot): string => join(root.path, 'evidence')

test('D1 R4 after a kill the files of the database are kept as they were, until the sessions they touch are checked', async () => {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of ['a', 'b']) await connection.createSession({ sessionId, ...SESSION })
  await leader.kill()
  const before = hashesOf(join(root.path, 'database'))
  const successor = await root.start()
  const lines = () => successor.stderr().split('\n')
  await waitFor(() => lines().some(line => line.includes('the sessions before the last start are checked')))
  const line = JSON.parse(lines().find(text => text.includes('are checked')) as string)
  expect(line).toMatchObject({ sessions: 2, is_damaged: false })
  await waitFor(() => !existsSync(evidenceOf(root)))
  expect(Object.keys(before).some(name => name.endsWith('.log'))).toBe(true)
  expect(await (await root.connect()).status()).toMatchObject({ faults: [] })
})

test('D1 A9 damage that the check finds makes the session read-only, keeps the files and says where they are', {
  timeout: 30_000,
}, async () => {
  const root = testRoot()
  let leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of ['bad', 'good']) await connection.createSession({ sessionId, ...SESSION })
  const update = { sessionId: 'bad', operationId: 'o', expectedRevision: 1, patch: { title: 'renamed' } }
  await connection.request('session.update', update)
  await leader.stop()
  await rewriteValue(join(root.path, 'database'), 'lbad!000000000001', text => text.replace('scripted', 'scripteD'))
  const before = hashesOf(join(root.path, 'database'))
  leader = await root.start()
  connection.retryNow()
  await waitFor(async () => (await connection.status().catch(() => ({ faults: [] }))).faults.length > 0)
  const { faults } = await connection.status()
  expect(faults).toMatchObject([{ kind: 'files_kept' }, { code: 'session_damaged', sessionId: 'bad' }])
  expect(faults[0]?.message).toContain('headwater doctor')
  expect(faults[1]?.message).toContain('hash_mismatch')
  const [set = ''] = readdirSync(evidenceOf(root))
  const kept = hashesOf(join(evidenceOf(root), set))
  for (const [name, hash] of Object.entries(before)) {
    if (/\.log$|^MANIFEST|^CURRENT$/.test(name)) expect([name, kept[name]]).toEqual([name, hash])
  }
  const refused = connection.request('session.update', { ...update, operationId: 'p', expectedRevision: 2 })
  await expect(refused).rejects.toMatchObject({ code: 'session_damaged' })
  const { sessions } = await connection.request('session.list', {})
  expect(Object.fromEntries(sessions.map(({ sessionId, status }) => [sessionId, status]))).toEqual({
    bad: 'damaged',
    good: 'idle',
  })
  await connection.request('session.update', { ...update, sessionId: 'good' })
  await leader.kill()
  await root.start()
  expect(readdirSync(evidenceOf(root))).toContain(set)
  expect(readFileSync(join(evidenceOf(root), set, 'CURRENT'), 'utf8')).toMatch(/^MANIFEST-/)
})
