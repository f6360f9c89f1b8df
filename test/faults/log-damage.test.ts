import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { hashesOf } from '../support/file-hashes.ts'
import { createSessions, databaseOf, expectReadOnly, filledRoot, newestLog } from '../support/live/damaged-root.ts'
import { testRoot } from '../support/live/test-root.ts'

test('D4 D1 a database whose newest log was deleted', { timeout: 60_000 }, async () => {
  const root = await filledRoot()
  rmSync(newestLog(root))
  await expectReadOnly(root, 'behind')
})

test('D4 D1 a database whose newest log was cut short', { timeout: 60_000 }, async () => {
  const root = await filledRoot()
  truncateSync(newestLog(root), Math.floor(readFileSync(newestLog(root)).length / 2))
  await expectReadOnly(root, 'behind')
})

test('D4 D1 a database whose newest log is damaged in its middle', { timeout: 60_000 }, async () => {
  const root = await filledRoot()
  const log = newestLog(root)
  const bytes = readFileSync(log)
  expect(bytes.length).toBeGreaterThan(3 * 32 * 1024)
  bytes.fill(0xff, 40_000, 40_100)
  writeFileSync(log, bytes)
  await expectReadOnly(root, 'missing_batch')
})

test('D4 D1 R4 bytes that rotted behind our back are kept aside, although LevelDB deletes the log', {
  timeout: 60_000,
}, async () => {
  const root = testRoot()
  const leader = await root.start()
  await createSessions(root, 0, 70)
  await leader.kill()
  const log = newestLog(root)
  const bytes = readFileSync(log)
  bytes.fill(0xff, 40_000, 40_100)
  writeFileSync(log, bytes)
  const name = basename(log)
  const damaged = hashesOf(databaseOf(root))[name]
  const successor = await root.start()
  const connection = await root.connect()
  expect((await connection.status()).faults).toMatchObject([{ code: 'root_regressed', kind: 'missing_batch' }])
  await successor.stop()
  expect(hashesOf(join(root.path, 'evidence', '1'))[name]).toBe(damaged)
  const before = hashesOf(databaseOf(root))
  await (await root.start()).stop()
  expect(hashesOf(databaseOf(root))).toEqual(before)
})
