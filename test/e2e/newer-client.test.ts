import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { PROJECT } from '../support/source-files.ts'
import { waitFor } from '../support/wait-for.ts'

/** This build as one of the next protocol: its `headwater`, which speaks no older one. */
function newerBuild(directory: string): string {
  const build = join(directory, 'newer')
  mkdirSync(join(build, 'replica', 'cli'), { recursive: true })
  for (const path of ['package.json', 'replica/cli/bin.js', 'dist']) {
    cpSync(join(PROJECT, path), join(build, path), { recursive: true })
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(build, 'node_modules'))
  const version = join(build, 'dist', 'schema', 'version.js')
  const text = readFileSync(version, 'utf8')
  const changed = text.replace(/PROTOCOL = \{[^}]*\}/, 'PROTOCOL = { min: 2, max: 2 }').replace("'0.1.0'", "'0.2.0'")
  expect(changed).not.toBe(text)
  writeFileSync(version, changed)
  return join(build, 'replica', 'cli', 'bin.js')
}

interface Called {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Calls the newer `headwater` on a root; the leader that it may have started is stopped when the test ends. */
function newerCli(root: TestRoot): (...args: readonly string[]) => Called {
  const program = newerBuild(dirname(root.path))
  const call = (...args: readonly string[]) =>
    spawnSync(process.execPath, [program, '--root', root.path, ...args], { encoding: 'utf8', timeout: 30_000 })
  onTestFinished(() => void call('stop', '--now', '--yes'))
  return call
}

test('M3 a newer client has an idle older leader end, and starts its own', { timeout: 60_000 }, async () => {
  const root = testRoot()
  const older = await root.start()
  const connection = await root.connect()
  await connection.createSession({ sessionId: 's', cwd: '/tmp', backend: 'scripted' })
  await connection.close()
  const call = newerCli(root)
  const listed = call('session', 'list', '--json')
  expect([listed.status, listed.stderr]).toEqual([0, expect.any(String)])
  expect(JSON.parse(listed.stdout)).toMatchObject({ ok: true, result: { sessions: [{ sessionId: 's' }] } })
  expect(await older.exited).toEqual({ code: 0, signal: null })
  expect(JSON.parse(call('status', '--json').stdout)).toMatchObject({ ok: true, result: { version: '0.2.0' } })
})

test('M3 M2 a busy older leader is left alone, and the newer client says what to do', { timeout: 60_000 }, async () => {
  const root = testRoot()
  const older = await root.start()
  const connection = await root.connect()
  await connection.createSession({ sessionId: 's', cwd: '/tmp', backend: 'scripted' })
  await connection.startTurn({ sessionId: 's', turnId: 't', content: { text: '/hold' } })
  await waitFor(async () => (await connection.queryTurn({ sessionId: 's', turnId: 't' })).status === 'running')
  const call = newerCli(root)
  const refused = call('session', 'list')
  expect(refused.status).toBe(6)
  expect(refused.stderr).toContain('It is at work (1 client, 1 running turn) and was left alone.')
  expect(refused.stderr).toMatch(/next: headwater --root \S+ stop/)
  const told = call('doctor')
  expect([told.status, told.stdout]).toEqual([0, expect.stringMatching(/warn\s+version\s+it is headwater 0\.1\.0/)])
  expect(await connection.status()).toMatchObject({ hostEpoch: older.line.hostEpoch, state: 'ready', activeTurns: 1 })
  expect(call('stop', '--now', '--yes').status).toBe(0)
  expect(await older.exited).toMatchObject({ code: 0 })
})
