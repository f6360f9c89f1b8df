import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { callCli } from '../support/cli/call-cli.ts'
import { isolatedEnvironment } from '../support/environment.ts'
import { spawnLeader, startLeaderProcess } from '../support/leader-process.ts'
import { runCli } from '../support/run-cli.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

function place(label: string) {
  const directory = testTempDir(label)
  const env = isolatedEnvironment(directory)
  const root = join(directory, 'root')
  const cli = (...args: string[]) => runCli(['--root', root, ...args], { env })
  const json = async (...args: string[]) => {
    const outcome = await cli('--json', ...args)
    expect(outcome.stdout).toMatch(/^\{.*\}\n$/)
    return {
      code: outcome.code,
      ...(JSON.parse(outcome.stdout) as { ok: boolean; result: never; error: { code: string } }),
    }
  }
  return { directory, env, root, cli, json }
}

beforeAll(() => {
  expect(existsSync(join(import.meta.dirname, '../../dist/replica/cli/main.js'))).toBe(true)
})

describe('interfaces 5 serve', () => {
  test('E2 E6 one line when ready, nothing after it, SIGTERM drains and exits 0', async () => {
    const { env, root, json } = place('serve')
    const leader = await startLeaderProcess({ root, env })
    expect(leader.line).toEqual({
      rootId: expect.stringMatching(/^[0-9a-f]{64}$/),
      hostEpoch: expect.any(String),
      pid: leader.pid,
      url: `http://127.0.0.1:${leader.line.port}`,
      socketPath: expect.any(String),
      port: expect.any(Number),
      version: '0.1.0',
    })
    expect(await json('status')).toMatchObject({
      code: 0,
      ok: true,
      result: { state: 'ready', hostEpoch: leader.line.hostEpoch, connections: 1 },
    })
    expect(await leader.stop()).toEqual({ code: 0, signal: null })
    expect(leader.extraLines()).toEqual([])
  })

  test('E6 SIGINT drains as well, and a turn that runs ends as cancelled', async () => {
    const { env, root, cli, json } = place('sigint')
    const leader = await startLeaderProcess({ root, env })
    const [session = '', turn = ''] = (await cli('run', '--detach', '/hold')).stdout.trim().split('\t')
    leader.signal('SIGINT')
    expect(await leader.exited).toEqual({ code: 0, signal: null })
    const next = await startLeaderProcess({ root, env })
    expect(await json('wait', session, '--for', `turn:${turn}`)).toMatchObject({
      result: { turn: { status: 'cancelled', abortSource: 'leader_shutdown' } },
    })
    await next.stop()
  })

  test('R6 a second serve exits 3 at once and says that the root is owned', async () => {
    const { env, root, json, cli } = place('second')
    const leader = await startLeaderProcess({ root, env })
    expect(await json('serve', '--port', '0')).toMatchObject({ code: 3, ok: false, error: { code: 'root_owned' } })
    const plain = await cli('serve', '--port', '0')
    expect(plain).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('(root_owned)') })
    await leader.stop()
  })

  test('R1 a directory with files of another kind is refused', async () => {
    const { env, directory } = place('foreign')
    const outcome = await runCli(['--root', join(directory, 'data', '..'), '--json', 'serve'], { env })
    expect(outcome.code).toBe(3)
    expect(JSON.parse(outcome.stdout)).toMatchObject({ ok: false, error: { code: 'root_not_empty' } })
  })

  test('W1 the port is that of the root, from one start to the next; a busy one is port_busy', async () => {
    const { env, root, directory } = place('port')
    const serve = (at: string, ...args: string[]) => spawnLeader({ root: at, env, args: ['--port', ...args] })
    const first = serve(root, '0')
    const { port } = await first.ready
    const other = serve(join(directory, 'other'), String(port))
    expect((await other.exited).code).toBe(3)
    await expect(other.ready).rejects.toThrow('port_busy')
    await first.stop()
  })

  test('E4 --idle-exit ends the leader after its last client has gone', async () => {
    const { env, root, cli } = place('idle')
    const leader = await startLeaderProcess({ root, env, args: ['--idle-exit', '200ms'] })
    expect((await cli('status')).code).toBe(0)
    expect(await leader.exited).toEqual({ code: 0, signal: null })
  })

  test('experience 4.2 a broken configuration is a usage error', async () => {
    const { env, root } = place('config')
    const { writeFileSync, mkdirSync } = await import('node:fs')
    mkdirSync(join(env.XDG_CONFIG_HOME ?? '', 'headwater'))
    writeFileSync(join(env.XDG_CONFIG_HOME ?? '', 'headwater', 'config.jsonc'), '{"backends": {"x": {"acp": "nope"}}}')
    const outcome = await runCli(['--root', root, 'serve', '--port', '0'], { env })
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toContain('backends.x.acp')
  })
})

describe('interfaces 5 without a leader', () => {
  test('R1 status, stop, verify, paths, logs and session list make no root', async () => {
    const { root, cli } = place('nothing')
    const codes: (number | null)[] = []
    for (const args of [['status'], ['stop'], ['verify'], ['paths'], ['logs'], ['session', 'list'], ['pending']]) {
      codes.push((await cli(...args)).code)
    }
    expect(codes).toEqual([5, 5, 3, 0, 3, 5, 5])
    expect(existsSync(root)).toBe(false)
  })

  test('E3 E4 run starts a leader by itself; stop ends it, and is done when it has ended', async () => {
    const { env, root, cli, json } = place('spawn')
    expect(await cli('run', 'hello')).toMatchObject({ code: 0, stdout: 'hello\n' })
    expect(await json('status')).toMatchObject({ code: 0, result: { state: 'ready' } })
    expect(await cli('stop')).toMatchObject({ code: 0, stdout: '' })
    const next = await startLeaderProcess({ root, env })
    expect((await cli('session', 'list')).stdout).toMatch(/\thello\n$/)
    await next.stop()
  })

  test('E3 a client of a leader that somebody started never starts one itself', async () => {
    const { env, root } = place('respawn')
    const leader = await startLeaderProcess({ root, env })
    const watcher = runCli(['--root', root, 'run', '/hold', '--timeout', '4s'], { env })
    await waitFor(async () => /\trunning\t/.test((await runCli(['--root', root, 'session', 'list'], { env })).stdout))
    await leader.kill()
    const next = await startLeaderProcess({ root, env })
    expect((await watcher).code).toBe(8)
    await next.stop()
  })
})

describe('interfaces 5 verify', () => {
  test('R9 a running leader verifies itself; without one a view of the root is verified', async () => {
    const { env, root, cli, json } = place('verify')
    const leader = await startLeaderProcess({ root, env })
    await cli('run', 'hello')
    expect(await json('verify')).toMatchObject({ code: 0, result: { by: 'leader', sessions: 1, faults: [] } })
    await leader.stop()
    expect(await json('verify')).toMatchObject({ code: 0, result: { by: 'view', faults: [] } })
    expect(await runCli(['verify', root], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^no faults/),
    })
  })
})

test('interfaces 5 paths and logs say where things are, and they are there', async () => {
  const { env, root, cli, json } = place('paths')
  const leader = await startLeaderProcess({ root, env })
  const { result } = await json('paths')
  const paths = result as Record<string, string>
  expect(paths).toMatchObject({
    root,
    rootId: leader.line.rootId,
    socket: leader.line.socketPath,
    url: leader.line.url,
  })
  expect(JSON.parse(readFileSync(paths.registration ?? '', 'utf8'))).toMatchObject({ pid: leader.pid })
  const { stdout } = await cli('logs')
  expect(stdout.split('\n')[0]).toMatch(/^\{"level":"info".*"msg":"ready"/)
  expect(stdout.trimEnd()).toBe(readFileSync(paths.log ?? '', 'utf8').trimEnd())
  await leader.stop()
  expect(existsSync(paths.registration ?? '')).toBe(false)
})

test('Z2 no token on stdout, on stderr or in a log', async () => {
  const { directory, env, root, cli } = place('secret')
  const leader = await startLeaderProcess({ root, env })
  await cli('run', 'hello')
  await leader.stop()
  const token = readFileSync(join(root, 'headwater.token'), 'utf8').trim()
  expect(token.length).toBeGreaterThanOrEqual(32)
  expect(leader.stderr()).not.toContain(token)
  const states = join(directory, 'state', 'headwater')
  const logs = readdirSync(states, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.log'))
  expect(logs.length).toBeGreaterThan(0)
  for (const name of logs) expect(readFileSync(join(states, name), 'utf8')).not.toContain(token)
})

test('M2 status and stop work with a leader of another version', async () => {
  const { env, root } = place('versions')
  const leader = await startLeaderProcess({ root, env })
  const connect = async () =>
    ({
      kind: 'incompatible',
      leader: { min: 9, max: 9, version: '9.0.0' },
      replica: { min: 1, max: 1, version: '0.1.0' },
    }) as const
  const call = (...args: string[]) => callCli(['--root', root, '--json', ...args], { env, connect })
  expect((await call('session', 'list')).code).toBe(6)
  const status = await call('status')
  expect(JSON.parse(status.stdout)).toMatchObject({
    ok: true,
    result: { hostEpoch: leader.line.hostEpoch, state: 'ready' },
  })
  expect((await call('stop')).code).toBe(0)
  expect(await leader.exited).toEqual({ code: 0, signal: null })
})
