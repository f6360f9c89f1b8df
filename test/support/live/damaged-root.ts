import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { hashesOf } from '../file-hashes.ts'
import { runCli, runCliJson } from '../run-cli.ts'
import { type TestRoot, testRoot } from './test-root.ts'

/** A long folder name, so that few sessions fill a log. */
const SESSION = { cwd: `/${'long/'.repeat(300)}`, backend: 'scripted' }
/** The folder of a root's database. */
export const databaseOf = (root: TestRoot): string => join(root.path, 'database')

/** Creates the sessions `s<from>` to `s<to - 1>` through the leader that runs. */
export async function createSessions(root: TestRoot, from: number, to: number): Promise<void> {
  const connection = await root.connect()
  const numbers = Array.from({ length: to - from }, (_, i) => from + i)
  for (const number of numbers) await connection.createSession({ sessionId: `s${number}`, ...SESSION })
  await connection.close()
}

/** A root with ten sessions in tables and sixty in its newest log; its leader has ended. The log is over two blocks of LevelDB long. */
export async function filledRoot(): Promise<TestRoot> {
  const root = testRoot()
  for (const [from, to] of [
    [0, 10],
    [10, 70],
  ] as const) {
    const leader = await root.start()
    await createSessions(root, from, to)
    expect(await leader.stop()).toMatchObject({ code: 0 })
  }
  return root
}

/** The newest log of a database. */
export function newestLog(root: TestRoot): string {
  const logs = readdirSync(databaseOf(root)).filter(name => name.endsWith('.log'))
  return join(databaseOf(root), logs.sort().at(-1) as string)
}

interface Failed {
  readonly ok: false
  readonly error: {
    readonly code: string
    readonly message: string
    readonly detail: { readonly checks: readonly object[] }
  }
}

/** A leader starts, serves what is there, writes nothing and says the way out; the way out works. */
export async function expectReadOnly(root: TestRoot, kind: string): Promise<void> {
  const before = hashesOf(databaseOf(root))
  const told = await runCli(['--root', root.path, 'doctor'])
  expect(told.code).toBe(11)
  expect(told.stdout).toMatch(/fail\s+database/)
  expect(told.stderr).toMatch(/next: headwater --root \S+ doctor --accept-regression/)
  const leader = await root.start()
  const connection = await root.connect()
  const { faults } = await connection.status()
  expect(faults).toMatchObject([{ code: 'root_regressed', kind }])
  await expect(connection.createSession({ sessionId: 'new', ...SESSION })).rejects.toMatchObject({
    code: 'root_regressed',
    message: expect.stringContaining('headwater doctor --accept-regression'),
  })
  const shown = await connection.openSessionSubscription({ sessionId: 's0' })
  expect(shown.current.session).toMatchObject({ sessionId: 's0', status: 'idle' })
  expect(await runCliJson(['--root', root.path, 'doctor', '--accept-regression'])).toMatchObject({
    ok: false,
    error: { code: 'root_owned' },
  })
  const online = (await runCliJson(['--root', root.path, 'doctor'])) as Failed
  expect(online.error.detail.checks).toContainEqual(
    expect.objectContaining({ name: 'root_regressed', next: expect.stringContaining('--accept-regression') }),
  )
  await connection.close()
  expect(await leader.stop()).toMatchObject({ code: 0 })
  expect(hashesOf(databaseOf(root))).toEqual(before)
  expect(await runCliJson(['--root', root.path, 'doctor', '--accept-regression'])).toMatchObject({ ok: true })
  await root.start()
  await createSessions(root, 100, 101)
  const again = await runCli(['--root', root.path, 'doctor'])
  expect([again.code, again.stdout.includes('fail')]).toEqual([0, false])
}
