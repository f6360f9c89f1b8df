import { expect, test } from 'vitest'
import { LIMITS } from '../../schema/limits.ts'
import { PROTOCOL, VERSION } from '../../schema/version.ts'
import { readRetryAfterMs } from '../../schema/wire/close-codes.ts'
import { AcceptedFrame } from '../../schema/wire/frames.ts'
import { waitFor } from '../support/wait-for.ts'
import { openBystander } from '../support/wire/bystander.ts'
import {
  ask,
  clientFrame,
  closeCodeOf,
  dial,
  dialRaw,
  fetchFrom,
  hello,
  openCommands,
  type RawSocket,
  upgradeText,
} from '../support/wire/clients.ts'
import { startTestLeader, type TestLeader, TOKEN } from '../support/wire/test-leader.ts'

test('W3 on the socket accepted follows hello and says everything', async () => {
  const leader = await startTestLeader()
  leader.host.state = 'recovering'
  const { accepted } = await openCommands(leader)
  expect(AcceptedFrame.parse(accepted)).toEqual({
    kind: 'accepted',
    rootId: leader.host.rootId,
    hostEpoch: leader.host.hostEpoch,
    connectionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    protocol: 1,
    state: 'recovering',
    serverVersion: VERSION,
    ticket: expect.stringMatching(/^[\w-]{43}$/),
    at: expect.any(Number),
  })
})

test('C3 C4 what a hello says of its client is text as everywhere, and stored the way everyone reads it', async () => {
  const leader = await startTestLeader()
  const half = await openCommands(leader, { surface: 'half\ud800' })
  await ask(half, 'host.status')
  expect(leader.host.executed.at(-1)?.caller.actor.surface).toBe('half\ufffd')
  const forged = await dial(leader, 'socket', '/v1/commands')
  forged.send(hello({ ['__proto__']: { a: 1 } }))
  expect(await forged.closed).toMatchObject({ code: 1007 })
})

test.each([
  ['newer', { protocol: { min: PROTOCOL.max + 1, max: PROTOCOL.max + 5 } }],
  ['older', { protocol: { min: 0, max: PROTOCOL.min - 1 } }],
  ['newer, with a hello of other fields', { protocol: { min: 9, max: 9 }, nonce: 5, surface: undefined }],
  ['impossible', { protocol: { min: 5, max: 1 } }],
])('M2 a client that is %s is told the versions and closed with 4406', async (_what, changed) => {
  const leader = await startTestLeader()
  const client = await dial(leader, 'socket', '/v1/commands')
  client.send(hello(changed))
  expect(await client.closed).toMatchObject({ code: 4406 })
  expect(client.frames).toEqual([{ kind: 'incompatible', protocol: PROTOCOL, serverVersion: VERSION }])
})

test('W3 a range that reaches further than ours is spoken at our newest version', async () => {
  const leader = await startTestLeader()
  expect((await openCommands(leader, { protocol: { min: 0, max: 99 }, later: true })).accepted).toMatchObject({
    protocol: PROTOCOL.max,
  })
})

test('W3 a draining leader says so and closes with 4500 and a time', async () => {
  const leader = await startTestLeader()
  const before = await openCommands(leader)
  leader.host.state = 'draining'
  leader.listeners.announceState()
  expect(await before.frame(frame => frame.kind === 'state')).toEqual({ kind: 'state', state: 'draining' })
  const client = await dial(leader, 'socket', '/v1/commands')
  client.send(hello())
  const { code, reason } = await client.closed
  expect([code, readRetryAfterMs(reason)]).toEqual([4500, LIMITS.drainRetryMs])
  expect(client.frames).toEqual([{ kind: 'draining' }])
  expect(await ask(before, 'host.status')).toMatchObject({ ok: true, result: { state: 'draining' } })
})

test.each([
  ['a command', { requestId: 'r', operation: 'host.status', input: {} }],
  ['a ping', { kind: 'ping', id: 1 }],
  ['a hello without a nonce', hello({ nonce: undefined })],
  ['a hello with a short nonce', hello({ nonce: 'abc' })],
  ['a hello without a range', hello({ protocol: undefined })],
  ['a hello whose range is words', hello({ protocol: { min: 'a', max: 'b' } })],
  ['a hello with an impossible client id', hello({ clientInstanceId: '__proto__' })],
  ['a hello with an empty surface', hello({ surface: '' })],
  ['a hello with a surface that is too long', hello({ surface: 's'.repeat(LIMITS.surfaceChars + 1) })],
  ['text', 'hello'],
])('W3 %s as first frame closes with 1007 and runs nothing', async (_what, frame) => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const client = await dial(leader, 'socket', '/v1/commands')
  client.send(frame)
  expect(await client.closed).toMatchObject({ code: 1007 })
  expect([leader.roster.count, leader.host.executed.length]).toEqual([1, 0])
  await bystander.expectUnharmed()
})

test.each(['socket', 'tcp'] as const)(
  'W3 without a hello in time a connection on the %s is closed with 4501',
  async way => {
    const leader = await startTestLeader({ helloTimeoutMs: 100 })
    const client = await dial(leader, way, '/v1/commands')
    const { code, reason } = await client.closed
    expect([code, readRetryAfterMs(reason)]).toEqual([4501, LIMITS.drainRetryMs])
  },
)

test('W3 a connection that was let in by a request before still gets a deadline for its hello', async () => {
  const leader = await startTestLeader({ helloTimeoutMs: 200 })
  const raw = await dialRaw(leader, 'socket')
  raw.socket.write('GET /no/such HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await waitFor(() => raw.received().includes('404'))
  raw.socket.write(upgradeText(leader, '/v1/commands', { Host: 'localhost' }))
  await waitFor(() => closeCodeOf(raw) !== undefined)
  expect(closeCodeOf(raw)).toBe(4501)
  raw.socket.destroy()
})

test('Z5 an accepted connection has no deadline any more', async () => {
  const leader = await startTestLeader({ helloTimeoutMs: 100 })
  const client = await openCommands(leader)
  const document = await dial(leader, 'tcp', '/v1/sync/session/quiet', {
    headers: { Authorization: `Bearer ${TOKEN}` },
  })
  leader.host.room('quiet')
  const late = await dial(leader, 'socket', '/v1/commands')
  await late.closed
  expect(client.ws.readyState).toBe(client.ws.OPEN)
  document.ws.terminate()
})

test('Z5 without a request a connection is cut after the deadline', async () => {
  const leader = await startTestLeader({ helloTimeoutMs: 100 })
  const silent = await dialRaw(leader, 'tcp')
  const slow = await dialRaw(leader, 'tcp')
  slow.socket.write('GET /livez HTT')
  await Promise.all([silent.ended, slow.ended])
  expect(silent.received()).toHaveLength(0)
})

test('Z5 more than 16 KiB of headers are refused', async () => {
  const leader = await startTestLeader()
  const raw = await dialRaw(leader, 'tcp')
  raw.socket.write(
    `GET /livez HTTP/1.1\r\nHost: 127.0.0.1:${leader.port}\r\nX: ${'x'.repeat(LIMITS.preAuthBytes)}\r\n\r\n`,
  )
  await raw.ended
  expect(raw.received().toString()).toMatch(/^HTTP\/1.1 431 /)
})

test.each<[string, (raw: RawSocket) => void]>([
  ['one frame that is too long', raw => raw.socket.write(clientFrame(1, Buffer.alloc(LIMITS.preAuthBytes + 1, 'x')))],
  [
    'fragments that never end',
    raw => {
      for (let i = 0; i < 20; i++) raw.socket.write(clientFrame(i === 0 ? 1 : 0, Buffer.alloc(1024, 'x'), false))
    },
  ],
  [
    'control frames without end',
    raw => {
      for (let i = 0; i < 50; i++) raw.socket.write(clientFrame(10, Buffer.alloc(125)))
      for (let i = 0; i < 100; i++) raw.socket.write(clientFrame(10, Buffer.alloc(125)))
    },
  ],
])('Z5 before the hello, %s close with 1009', async (_what, send) => {
  const leader = await startTestLeader({ closeConfirmMs: 100 })
  const bystander = await openBystander(leader)
  const raw = await dialRaw(leader, 'tcp')
  raw.socket.write(upgradeText(leader, '/v1/commands'))
  await waitFor(() => raw.received().includes('101 Switching'))
  send(raw)
  await raw.ended
  expect(closeCodeOf(raw)).toBe(1009)
  await bystander.expectUnharmed()
})

/** Opens raw connections that say nothing. */
async function crowd(leader: TestLeader, count: number): Promise<RawSocket[]> {
  return Promise.all(Array.from({ length: count }, () => dialRaw(leader, 'tcp')))
}

test('Z5 unauthenticated connections beyond the budget wait, and come in when there is room', async () => {
  const leader = await startTestLeader({ preAuthConnections: 8, helloTimeoutMs: 60_000 })
  const first = await crowd(leader, 8)
  let isAnswered = false
  const waiting = fetchFrom(leader, 'tcp', '/livez').then(answer => {
    isAnswered = true
    return answer.status
  })
  const bystander = await openBystander(leader)
  await bystander.expectUnharmed()
  expect(isAnswered).toBe(false)
  first[0]!.socket.destroy()
  expect(await waiting).toBe(200)
})

test('Z5 those that are let in leave their place to others', async () => {
  const leader = await startTestLeader({ preAuthConnections: 2, helloTimeoutMs: 60_000 })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const clients = []
  for (let i = 0; i < 6; i++) {
    const client = await dial(leader, 'tcp', '/v1/commands', { headers })
    client.send(hello())
    await client.frame(frame => frame.kind === 'accepted')
    clients.push(client)
  }
  expect(leader.roster.count).toBe(6)
})

test('Z5 with too many waiting the newest is dropped', async () => {
  const leader = await startTestLeader({ preAuthConnections: 2, preAuthWaiting: 3, helloTimeoutMs: 60_000 })
  await crowd(leader, 5)
  const dropped = await dialRaw(leader, 'tcp')
  await dropped.ended
  expect(await fetchFrom(leader, 'socket', '/livez')).toMatchObject({ status: 200 })
})
