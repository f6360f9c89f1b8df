import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSessions, databaseOf, expectReadOnly, filledRoot } from '../support/live/damaged-root.ts'
import { runCli, runCliJson } from '../support/run-cli.ts'

test('D4 a database put back to an older copy', { timeout: 60_000 }, async () => {
  const root = await filledRoot()
  cpSync(databaseOf(root), `${root.path}-copy`, { recursive: true })
  const leader = await root.start()
  await createSessions(root, 70, 71)
  await leader.stop()
  rmSync(databaseOf(root), { recursive: true })
  cpSync(`${root.path}-copy`, databaseOf(root), { recursive: true })
  await expectReadOnly(root, 'behind')
})

test('D4 a database that is that of another root', { timeout: 60_000 }, async () => {
  const [root, other] = [await filledRoot(), await filledRoot()]
  rmSync(databaseOf(root), { recursive: true })
  cpSync(databaseOf(other), databaseOf(root), { recursive: true })
  await expectReadOnly(root, 'other_database')
})

test('D4 R7 a database that was emptied, or is gone: no leader starts, and nothing is written', {
  timeout: 60_000,
}, async () => {
  const root = await filledRoot()
  rmSync(databaseOf(root), { recursive: true })
  for (const prepare of [() => {}, () => mkdirSync(databaseOf(root))]) {
    prepare()
    const refused = await runCliJson(['--root', root.path, 'serve'])
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'storage_fault', message: expect.stringContaining('backup') },
    })
    const told = await runCli(['--root', root.path, 'doctor'])
    expect([told.code, told.stderr]).toEqual([11, expect.stringContaining('next: put the database back from a backup')])
  }
  expect(existsSync(databaseOf(root)) && readdirSync(databaseOf(root))).toEqual([])
})
