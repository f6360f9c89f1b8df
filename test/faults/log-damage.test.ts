import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { hashesOf } from '../support/file-hashes.ts'
import { createSessions, databaseOf, expectReadOnly, filledRoot, newestLog } from '../support/live/damaged-root.ts'
import { testRoot } from '../support/live/test-root.ts'
import { runCli } from '../support/run-cli.ts'

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

const KILLED: Readonly<Record<string, (log: string) => void>> = {
  'was deleted': log => rmSync(log),
  'was cut to half': log => truncateSync(log, Math.floor(readFileSync(log).length / 2)),
  'lost its last bytes': log => truncateSync(log, readFileSync(log).length - 40),
  'was emptied': log => truncateSync(log, 0),
}

test.each(Object.entries(KILLED))(
  'D4 after a kill within seconds of the last command, a newest log that %s',
  {
    timeout: 60_000,
  },
  async (_what, damage) => {
    const root = testRoot()
    const first = await root.start()
    await createSessions(root, 0, 2)
    await first.stop()
    const leader = await root.start()
    await createSessions(root, 2, 12)
    await leader.kill()
    damage(newestLog(root))
    const before = hashesOf(databaseOf(root))
    const verified = await runCli(['--root', root.path, '--json', 'verify'])
    expect(verified).toMatchObject({ code: 11 })
    expect(verified.stdout).toContain('root_regressed')
    const successor = await root.start()
    const connection = await root.connect()
    expect((await connection.status()).faults).toMatchObject([{ code: 'root_regressed', kind: 'behind' }])
    await connection.close()
    await successor.stop()
    expect(hashesOf(databaseOf(root))).toEqual(before)
  },
)

test('D4 after a kill nothing is missing where nobody touched the root', { timeout: 60_000 }, async () => {
  const root = testRoot()
  for (let round = 0; round < 3; round++) {
    const leader = await root.start()
    await createSessions(root, round * 5, round * 5 + 5)
    await leader.kill()
    expect((await runCli(['--root', root.path, 'verify'])).code).toBe(0)
  }
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

test('D2 D1 a part of a table that cannot be read is damage, named with what it hits, and not a failure of the check', {
  timeout: 60_000,
}, async () => {
  const root = testRoot()
  for (const from of [0, 60]) {
    const leader = await root.start()
    await createSessions(root, from, from + 60)
    await leader.stop()
  }
  await (await root.start()).stop()
  const [table] = readdirSync(databaseOf(root)).filter(name => name.endsWith('.ldb'))
  const path = join(databaseOf(root), table as string)
  const bytes = readFileSync(path)
  const middle = Math.floor(bytes.length / 2)
  writeFileSync(path, bytes.fill(0, middle, middle + 2_000))
  const before = hashesOf(databaseOf(root))
  const told = await runCli(['--root', root.path, 'verify'])
  expect([told.code, told.stderr]).toEqual([11, expect.stringMatching(/corruption|unreadable/)])
  expect(hashesOf(databaseOf(root))).toEqual(before)
})
