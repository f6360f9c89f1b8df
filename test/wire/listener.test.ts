import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { silentLogger } from '../../leader/telemetry/logger.ts'
import { createMetrics } from '../../leader/telemetry/metrics.ts'
import { CredentialTable } from '../../leader/transport/auth.ts'
import { type ListenersOptions, startListeners } from '../../leader/transport/listener.ts'
import { ConnectionRoster } from '../../leader/transport/roster.ts'
import { readRetryAfterMs } from '../../schema/wire/close-codes.ts'
import { FakeHost } from '../support/fake-host.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor, within } from '../support/wait-for.ts'
import { follow } from '../support/wire/bystander.ts'
import { ask, dial, dialRaw, fetchFrom, openCommands } from '../support/wire/clients.ts'
import { startTestLeader, TOKEN } from '../support/wire/test-leader.ts'

/** What `startListeners` needs beside its places. */
function otherOptions(): Omit<ListenersOptions, 'socketPath' | 'tcp'> {
  const roster = new ConnectionRoster()
  const metrics = createMetrics()
  onTestFinished(() => metrics.close())
  const credentials = CredentialTable.ofRootToken(TOKEN, 1)
  return { host: new FakeHost(roster), roster, credentials, metrics, logger: silentLogger() }
}

/** Somebody else's server on any free port. */
async function occupyPort(): Promise<Server> {
  const server = createServer()
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return server
}

test('W1 a busy port is port_busy, and the socket is not left open', async () => {
  const { port } = (await occupyPort()).address() as { port: number }
  const socketPath = join(testTempDir(), 's')
  const started = startListeners({ ...otherOptions(), socketPath, tcp: { host: '127.0.0.1', port } })
  await expect(started).rejects.toMatchObject({ code: 'port_busy', detail: { port } })
  expect(existsSync(socketPath)).toBe(false)
})

test('R3 a socket path that this system would cut off is path_too_long', async () => {
  const socketPath = join(testTempDir(), 's'.repeat(100))
  await expect(startListeners({ ...otherOptions(), socketPath })).rejects.toMatchObject({ code: 'path_too_long' })
})

test('R3 the socket that a killed leader left is replaced, another file is not', async () => {
  const directory = testTempDir()
  const socketPath = join(directory, 's')
  const listenAndDie =
    "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
  spawnSync(process.execPath, ['-e', listenAndDie, socketPath])
  expect(statSync(socketPath).isSocket()).toBe(true)
  const listeners = await startListeners({ ...otherOptions(), socketPath })
  await listeners.close({ drain: false })
  writeFileSync(socketPath, 'precious')
  await expect(startListeners({ ...otherOptions(), socketPath })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect(readFileSync(socketPath, 'utf8')).toBe('precious')
})

test('Z1 an address that others can reach needs TLS or the word for it', async () => {
  for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.org']) {
    const started = startListeners({ ...otherOptions(), tcp: { host, port: 0 } })
    await expect(started).rejects.toMatchObject({ code: 'invalid_request' })
  }
  const listeners = await startListeners({ ...otherOptions(), tcp: { host: '0.0.0.0', port: 0, isInsecure: true } })
  expect(listeners.url).toBe(`http://127.0.0.1:${listeners.port}`)
  await listeners.close({ drain: false })
})

test('Z1 over TLS the same routes and sockets answer', async () => {
  const directory = testTempDir()
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const options = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=127.0.0.1',
  ]
  execFileSync('openssl', ['req', ...options, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
  const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)]
  const leader = await startTestLeader({}, { tls: { cert, key } })
  leader.host.room('s1')
  expect(leader.listeners.url).toBe(`https://127.0.0.1:${leader.port}`)
  const secure = { rejectUnauthorized: false, headers: { Authorization: `Bearer ${TOKEN}` } }
  const status = await new Promise(resolve => {
    const place = { ...secure, host: '127.0.0.1', port: leader.port, path: '/metrics', agent: false }
    httpsRequest(place, response => resolve(response.resume().statusCode)).end()
  })
  expect(status).toBe(200)
  const ws = new WebSocket(`wss://127.0.0.1:${leader.port}/v1/sync/session/s1`, secure)
  await new Promise(resolve => ws.once('open', resolve))
  await waitFor(() => leader.host.room('s1').members.size === 1)
  ws.terminate()
  const plain = await dialRaw(leader, 'tcp')
  plain.socket.write('GET /livez HTTP/1.1\r\n\r\n')
  await plain.ended
  expect(plain.received().toString()).not.toContain('HTTP')
})

test('W1 the socket belongs to its user alone', async () => {
  const leader = await startTestLeader()
  expect(statSync(leader.socketPath).mode & 0o777).toBe(0o600)
})

test('E6 a drain answers what is queued, closes with 4500 and a time, and leaves no handle', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const client = await openCommands(leader)
  const document = await follow(leader, 's1')
  const waiting = await dial(leader, 'socket', '/v1/commands')
  const idle = await dialRaw(leader, 'tcp')
  client.send({ requestId: 'last', operation: 'host.status', input: {} })
  await waitFor(() => leader.host.executed.length === 1)
  await within(leader.listeners.close({ drain: true }), 1_500, 'the end of a drain')
  for (const { closed } of [client, document.socket, waiting]) {
    const { code, reason } = await closed
    expect([code, readRetryAfterMs(reason)]).toEqual([4500, 500])
  }
  expect(client.frames.at(-1)).toMatchObject({ requestId: 'last', ok: true })
  await idle.ended
  expect([existsSync(leader.socketPath), leader.roster.count, leader.host.room('s1').members.size]).toEqual([
    false,
    0,
    0,
  ])
  await expect(dialRaw(leader, 'tcp')).rejects.toThrow('ECONNREFUSED')
})

test('E6 a drain does not wait for a client that confirms nothing', async () => {
  const leader = await startTestLeader({ closeConfirmMs: 200 })
  const client = await openCommands(leader)
  client.ws.pause()
  await within(leader.listeners.close({ drain: true }), 2_000, 'the end of a drain')
  expect(leader.roster.count).toBe(0)
})

test('E6 a request in flight is answered before the drain ends', async () => {
  const leader = await startTestLeader()
  let release = () => {}
  leader.host.operations.set('turn.query', () => {
    return new Promise(resolve => {
      release = () => resolve({ ok: true, result: {} })
    })
  })
  const answer = fetchFrom(leader, 'tcp', '/v1/command/turn.query', {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, Connection: 'keep-alive' },
  })
  await waitFor(() => leader.host.executed.length === 1)
  const closed = leader.listeners.close({ drain: true })
  release()
  expect((await answer).status).toBe(200)
  await within(closed, 1_500, 'the end of a drain')
})

test('E1 the state that a leader announces reaches every client', async () => {
  const leader = await startTestLeader()
  leader.host.state = 'recovering'
  const clients = [await openCommands(leader), await openCommands(leader)]
  leader.host.state = 'ready'
  leader.listeners.announceState()
  for (const client of clients) {
    expect(await client.frame(frame => frame.kind === 'state')).toEqual({ kind: 'state', state: 'ready' })
    expect(await ask(client, 'host.status')).toMatchObject({ ok: true })
  }
})
