import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { MARK_VARIABLE } from '../../leader/execution/process-identity.ts'
import { connectLeader } from '../../replica/client/node/connect-leader.ts'
import { placesOf, readRegistrations, readRootId } from '../../replica/client/node/discovery.ts'
import { candidateCommand, launchCandidate } from '../../replica/client/node/spawn.ts'
import { readTokenFile } from '../../replica/client/node/token.ts'
import { type ConnectResult, type LeaderConnection, ReplicaProtocolError } from '../../replica/client/types.ts'
import { isolatedEnvironment, useEnvironment } from '../support/environment.ts'
import { makeTempDir, removeTempDir, testTempDir } from '../support/temp-dir.ts'

const CANDIDATE = [process.execPath, new URL('../support/replica/candidate.js', import.meta.url).pathname]
const ROOT_ID = 'c'.repeat(64)

let directory = ''
let root = ''
let restore: () => void = () => {}

beforeEach(() => {
  directory = makeTempDir('rn')
  root = join(directory, 'root')
  restore = useEnvironment(isolatedEnvironment(directory))
})

afterEach(({ task }) => {
  for (const pid of launches()) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  restore()
  if (task.result?.state !== 'fail') removeTempDir(directory)
})

/** The candidates that were launched for the root, by process id. */
function launches(): number[] {
  const path = join(root, 'launches')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : []
}

function connected(result: ConnectResult): LeaderConnection {
  if (result.kind !== 'connected') throw new Error(JSON.stringify(result))
  onTestFinished(() => result.connection.close())
  return result.connection
}

const spawn = (mode = '') => ({ command: CANDIDATE, env: { CANDIDATE_MODE: mode } })

/** Writes a registration as a leader that is gone left it. */
function leaveRegistration(socketPath: string, folder = 'run', createdAt = 1): void {
  const registration = {
    rootId: ROOT_ID,
    hostEpoch: `stale-${folder}`,
    url: null,
    socketPath,
    pid: 1,
    protocol: { min: 1, max: 1 },
    state: 'ready',
    createdAt,
  }
  const path = join(directory, folder, 'headwater', ROOT_ID.slice(0, 16))
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'leader.json'), JSON.stringify(registration))
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'headwater.json'), JSON.stringify({ rootId: ROOT_ID }))
}

test('E3 without spawn a missing leader is unavailable at once, and nothing is made', async () => {
  expect(await connectLeader({ root, surface: 'test' })).toEqual({
    kind: 'unavailable',
    reason: `${root} is no data root yet`,
  })
  leaveRegistration(join(directory, 'gone.sock'))
  const result = await connectLeader({ root, surface: 'test' })
  expect(result).toEqual({ kind: 'unavailable', reason: expect.stringContaining('ENOENT') })
  expect(launches()).toEqual([])
})

test('E3 ten clients at once on a cold root end on one epoch', async () => {
  const results = await Promise.all(
    Array.from({ length: 10 }, () => connectLeader({ root, surface: 'test', spawn: spawn(), deadlineMs: 20_000 })),
  )
  const epochs = new Set(results.map(result => connected(result).hostEpoch))
  expect(epochs.size).toBe(1)
  expect(launches().length).toBeLessThanOrEqual(20)
})

test('E3 R8 a stale registration costs one refused dial, then a leader is started', async () => {
  leaveRegistration(join(directory, 'gone.sock'), 'run', 2)
  leaveRegistration(join(directory, 'gone-too.sock'), 'state', 1)
  const connection = connected(await connectLeader({ root, surface: 'test', spawn: spawn(), deadlineMs: 20_000 }))
  expect([connection.rootId, connection.freshness.state, launches().length]).toEqual([ROOT_ID, 'live', 1])
})

test('E3 a candidate that will never make it ends the waiting, with its reason', async () => {
  const startedAt = performance.now()
  const refused = await connectLeader({ root, surface: 'test', spawn: spawn('refuse') })
  expect(refused).toEqual({ kind: 'unavailable', reason: 'a leader was started but ended: choose an empty one' })
  rmSync(root, { recursive: true })
  const crashed = await connectLeader({ root, surface: 'test', spawn: spawn('crash') })
  expect(crashed).toEqual({ kind: 'unavailable', reason: expect.stringMatching(/exit code 1; see .*start-.*\.log$/) })
  const missing = await connectLeader({
    root,
    surface: 'test',
    spawn: { command: [join(directory, 'no-such-program')] },
  })
  expect(missing).toEqual({ kind: 'unavailable', reason: expect.stringContaining('ENOENT') })
  expect(performance.now() - startedAt).toBeLessThan(15_000)
})

test('E3 an owner without an endpoint is awaited until the deadline and never displaced, one candidate at a time', async () => {
  mkdirSync(root)
  writeFileSync(join(root, 'owner'), '1')
  const startedAt = performance.now()
  const result = await connectLeader({ root, surface: 'test', spawn: spawn(), deadlineMs: 2_000 })
  expect(result).toEqual({ kind: 'unavailable', reason: `no leader of ${root} has come up yet` })
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_900)
  expect(launches().length).toBeGreaterThan(1)
  expect(launches().length).toBeLessThanOrEqual(6)
  expect(readFileSync(join(root, 'owner'), 'utf8')).toBe('1')
})

test('E3 A5 after a crash of the leader a client that may spawn gets a successor by itself', async () => {
  const connection = connected(await connectLeader({ root, surface: 'test', spawn: spawn(), deadlineMs: 20_000 }))
  const [pid] = launches()
  const before = connection.hostEpoch
  const succeeded = new Promise<string>(resolve => connection.on('epoch', resolve))
  rmSync(join(root, 'owner'))
  process.kill(pid as number, 'SIGKILL')
  expect(await succeeded).not.toBe(before)
  expect(connection.freshness.state).toBe('live')
})

test('E4 the candidate is this package’s own serve, with an end when idle', () => {
  const [node, program, ...args] = candidateCommand('/data/root', {})
  expect([node, program]).toEqual([process.execPath, expect.stringMatching(/replica\/cli\/bin\.js$/)])
  expect(existsSync(program as string)).toBe(true)
  expect(args).toEqual(['serve', '--root', '/data/root', '--idle-exit', '30000ms', '--json', '--quiet', '--launched'])
  expect(candidateCommand('/r', { command: ['x', 'y'], idleGraceMs: 5 }).slice(0, 3)).toEqual(['x', 'y', 'serve'])
})

test('E3 what a candidate prints goes to a file of the user, and no further one grows without bound', async () => {
  await connectLeader({ root, surface: 'test', spawn: spawn('refuse') })
  const logs = join(directory, 'state', 'headwater')
  const [file] = readdirSync(logs).filter(name => name.startsWith('start-'))
  expect(readFileSync(join(logs, file as string), 'utf8')).toContain('root_not_empty')
  writeFileSync(join(logs, file as string), 'x'.repeat(1024 * 1024 + 1))
  await connectLeader({ root, surface: 'test', spawn: spawn('refuse') })
  expect(readFileSync(join(logs, file as string), 'utf8').length).toBeLessThan(1_000)
})

test('X15 E3 a candidate does not carry the mark of the agent it was started from', async () => {
  onTestFinished(useEnvironment({ [MARK_VARIABLE]: 'of-an-agent' }))
  const command = [process.execPath, '-e', `console.log("mark: " + process.env.${MARK_VARIABLE})`]
  const candidate = await launchCandidate({ root, logs: directory, spawn: { command } })
  expect((await candidate.ended).exitCode).toBe(0)
  const [file = ''] = readdirSync(directory).filter(name => name.startsWith('start-'))
  expect(readFileSync(join(directory, file), 'utf8')).toBe('mark: undefined\n')
})

test('R8 registrations are read from all places, newest first; torn and foreign ones are none', async () => {
  leaveRegistration('/one.sock', 'run', 1)
  leaveRegistration('/two.sock', 'state', 2)
  const places = placesOf(process.env)
  const found = await readRegistrations(places, ROOT_ID)
  expect(found.map(registration => registration.socketPath)).toEqual(['/two.sock', '/one.sock'])
  writeFileSync(join(directory, 'run', 'headwater', ROOT_ID.slice(0, 16), 'leader.json'), '{"rootId":')
  expect((await readRegistrations(places, ROOT_ID)).length).toBe(1)
  expect(await readRegistrations(places, `${ROOT_ID.slice(0, 16)}${'d'.repeat(48)}`)).toEqual([])
  expect([await readRootId(root), await readRootId(directory)]).toEqual([ROOT_ID, undefined])
  writeFileSync(join(root, 'headwater.json'), 'x'.repeat(1024 * 1024))
  expect(await readRootId(root)).toBe(undefined)
})

test('Z2 a token file must be there, be ours alone and hold a token', async () => {
  const path = join(testTempDir(), 'token')
  await expect(readTokenFile(path)).rejects.toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('ENOENT'),
  })
  writeFileSync(path, 'secret\n', { mode: 0o600 })
  expect(await readTokenFile(path)).toBe('secret')
  chmodSync(path, 0o640)
  await expect(readTokenFile(path)).rejects.toMatchObject({ code: 'unauthorized' })
  writeFileSync(path, '')
  chmodSync(path, 0o600)
  await expect(readTokenFile(path)).rejects.toMatchObject({ message: expect.stringContaining('holds no token') })
})

test('W3 options that do not fit are refused before anything happens', async () => {
  const wrong = [
    { surface: '' },
    { surface: 'x'.repeat(65) },
    { surface: 'test', clientInstanceId: 'a b' },
    { surface: 'test', root, url: 'http://127.0.0.1:1' },
    { surface: 'test', url: 'ftp://127.0.0.1' },
  ]
  for (const options of wrong) await expect(connectLeader(options)).rejects.toBeInstanceOf(ReplicaProtocolError)
})

test('W6 Z4 a refusal before the upgrade is what its status says', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  const statuses = [401, 403, 404, 503]
  server.on('upgrade', (_request, socket) => {
    socket.end(`HTTP/1.1 ${statuses.shift()} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    sockets.close()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const kinds: unknown[] = []
  while (statuses.length > 0) kinds.push(await connectLeader({ url, token: 'k', surface: 'test' }))
  expect(kinds).toEqual([
    { kind: 'unauthorized' },
    { kind: 'unavailable', reason: 'the connection was closed (1006: HTTP 403)' },
    { kind: 'unavailable', reason: 'the connection was closed (4404: HTTP 404)' },
    { kind: 'unavailable', reason: 'the connection was closed (1006: HTTP 503)' },
  ])
})
