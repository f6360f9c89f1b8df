import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { resolveRoot, tryAcquireRootOwner } from '../../leader/index.ts'
import { checkSystem } from '../../replica/cli/commands/doctor/check-system.ts'
import { testRoot } from '../support/live/test-root.ts'
import { rewriteValue } from '../support/rewrite-value.ts'
import { runCli, runCliJson } from '../support/run-cli.ts'

interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly next?: string
}

type Told = {
  readonly ok: boolean
  readonly result?: { readonly checks: readonly Check[] }
  readonly error?: { readonly code: string; readonly detail: { readonly checks: readonly Check[] } }
}

async function checksOf(path: string): Promise<readonly Check[]> {
  const told = (await runCliJson(['--root', path, 'doctor'])) as Told
  return told.result?.checks ?? told.error?.detail.checks ?? []
}

const named = (checks: readonly Check[], name: string) => checks.find(check => check.name === name)

test('D2 the doctor finds a root well, with a leader and without, and says what it looked at', async () => {
  const root = testRoot()
  const leader = await root.start({ args: ['--port', '0'] })
  const connection = await root.connect()
  await connection.createSession({ sessionId: 's', cwd: '/tmp', backend: 'scripted' })
  const served = await checksOf(root.path)
  expect(named(served, 'leader')).toMatchObject({ state: 'ok', text: expect.stringContaining('one runs: ready') })
  await connection.close()
  await leader.stop()
  const alone = await runCli(['--root', root.path, 'doctor'])
  expect([alone.code, alone.stderr]).toEqual([0, ''])
  const lines = alone.stdout.trimEnd().split('\n')
  expect(lines.every(line => /^ok\s/.test(line))).toBe(true)
  expect(lines.map(line => line.split(/\s+/)[1])).toEqual(
    'node durability permissions leader root token socket port disk anchor database sessions'.split(' '),
  )
})

test('D2 where there is no root the doctor makes none', async () => {
  const { path } = testRoot()
  const told = await runCli(['--root', path, 'doctor'])
  expect([told.code, told.stdout]).toEqual([
    0,
    expect.stringMatching(/warn\s+root\s+there is no data root at .*\n\s+next: headwater --root \S+ serve/),
  ])
  expect(() => statSync(path)).toThrow()
})

test('D2 R1 Z2 what was open to others is closed, and said', async () => {
  const root = testRoot()
  await (await root.start()).stop()
  chmodSync(root.path, 0o755)
  chmodSync(join(root.path, 'headwater.token'), 0o644)
  expect(named(await checksOf(root.path), 'permissions')).toMatchObject({
    state: 'warn',
    text: expect.stringContaining('was 644'),
  })
  expect([root.path, join(root.path, 'headwater.token')].map(path => statSync(path).mode & 0o777)).toEqual([
    0o700, 0o600,
  ])
  expect(named(await checksOf(root.path), 'permissions')).toMatchObject({ state: 'ok' })
})

test('D2 a damaged session is named with the command to type, with a leader and without', {
  timeout: 30_000,
}, async () => {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of ['bad', 'good']) {
    await connection.createSession({ sessionId, cwd: '/tmp', backend: 'scripted' })
  }
  await connection.close()
  await leader.stop()
  await rewriteValue(join(root.path, 'database'), 'lbad!000000000001', text => text.replace('scripted', 'scripteD'))
  for (const isServed of [false, true]) {
    if (isServed) await root.start()
    const told = await runCli(['--root', root.path, 'doctor'])
    expect([told.code, told.stdout]).toEqual([11, expect.stringMatching(/fail\s+session bad\s+\w+/)])
    expect(told.stdout).toMatch(/next: headwater --root \S+ doctor --repair bad/)
    expect(told.stdout).not.toContain('session good')
  }
})

test('A9 D2 a damaged session is shown as such the first time that it is looked at, and says so until it is repaired', async () => {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  await connection.createSession({ sessionId: 'bad', cwd: '/tmp', backend: 'scripted' })
  await connection.close()
  await leader.stop()
  // What was active since the last start is checked by the next leader, before anybody looks at it. Source: D1.
  await (await root.start()).stop()
  await rewriteValue(join(root.path, 'database'), 'dbad!000000000001', () => 'torn')
  const served = await root.start()
  expect((await runCli(['--root', root.path, 'session', 'show', 'bad'])).stderr).toMatch(/^status\s+damaged$/m)
  await served.stop()
  const repaired = await runCli(['--root', root.path, 'doctor', '--repair', 'bad'])
  expect([repaired.code, repaired.stdout]).toEqual([0, expect.stringContaining('its document was built anew')])
  await root.start()
  expect((await runCli(['--root', root.path, 'session', 'show', 'bad'])).stderr).toMatch(/^status\s+idle$/m)
})

test('D2 a token that is gone and a marker that is damaged are told with what to do', async () => {
  const root = testRoot()
  await (await root.start()).stop()
  rmSync(join(root.path, 'headwater.token'))
  expect(named(await checksOf(root.path), 'token')).toMatchObject({
    state: 'fail',
    next: expect.stringContaining('backup'),
  })
  writeFileSync(join(root.path, 'headwater.json'), '{"format":1}')
  const told = await runCli(['--root', root.path, 'doctor'])
  expect([told.code, told.stdout]).toEqual([11, expect.stringContaining('is damaged')])
})

test('D2 W1 a port that another program uses is told, and is no damage', async () => {
  const { path } = testRoot()
  const server = createServer()
  onTestFinished(() => void server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const owner = await tryAcquireRootOwner(await resolveRoot({ path }))
  await owner?.changePort((server.address() as AddressInfo).port)
  await owner?.close()
  const told = await runCli(['--root', path, 'doctor'])
  expect([told.code, told.stdout]).toEqual([0, expect.stringMatching(/warn\s+port\s+\d+ is in use by another program/)])
})

test('A2 the doctor says what macOS does not promise, and which Node is too old', () => {
  expect(checkSystem('darwin', '20.20.0').map(({ name, state }) => [name, state])).toEqual([
    ['node', 'ok'],
    ['durability', 'warn'],
  ])
  expect(checkSystem('linux', '20.18.9')[0]).toMatchObject({ state: 'warn', next: expect.stringContaining('20.19') })
})

test('D2 options that do not go together are usage errors', async () => {
  const { path } = testRoot()
  for (const options of [['--as-copy'], ['--adopt', '--accept-regression']]) {
    expect((await runCli(['--root', path, 'doctor', ...options])).code).toBe(2)
  }
  expect((await runCli(['--root', path, 'doctor', '--accept-regression'])).code).toBe(3)
})
