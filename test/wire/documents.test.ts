import * as encoding from 'lib0/encoding'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { LIMITS } from '../../schema/limits.ts'
import { readRetryAfterMs } from '../../schema/wire/close-codes.ts'
import {
  encodeSyncStep1,
  encodeSyncStep2,
  encodeSyncUpdate,
  readLeaderSyncMessage,
  SUBPROTOCOL,
} from '../../schema/wire/sync.ts'
import { waitFor } from '../support/wait-for.ts'
import { follow, openBystander } from '../support/wire/bystander.ts'
import { dial, openCommands, type TestSocket } from '../support/wire/clients.ts'
import { startTestLeader, type TestLeader, TOKEN } from '../support/wire/test-leader.ts'

const QUERY_AWARENESS = Buffer.from([3])
const EMPTY_VECTOR = encodeSyncStep1(Y.encodeStateVector(new Y.Doc()))

/** A message of any type with a payload, as lib0 writes it. */
function message(type: number, ...rest: readonly (number | Uint8Array)[]): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, type)
  for (const part of rest) {
    if (typeof part === 'number') encoding.writeVarUint(encoder, part)
    else encoding.writeVarUint8Array(encoder, part)
  }
  return encoding.toUint8Array(encoder)
}

/** What a replica would write: a change to the session's document. */
function forgedUpdate(): Uint8Array {
  const doc = new Y.Doc()
  doc.getMap('session').set('header', 'forged')
  return Y.encodeStateAsUpdate(doc)
}

async function openDocument(leader: TestLeader, path = '/v1/sync/session/s1'): Promise<TestSocket> {
  leader.host.room('s1')
  return dial(leader, 'socket', path, { protocols: [SUBPROTOCOL] })
}

/** Sends one message and gives the code of the close that follows. */
async function codeAfter(leader: TestLeader, bytes: Uint8Array | string): Promise<number> {
  const socket = await openDocument(leader)
  socket.ws.send(bytes)
  return (await socket.closed).code
}

test('V1 sync step 1 is answered with what is missing and the leader’s awareness, updates follow', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1').doc.getMap('m').set('before', 1)
  const { socket, doc } = await follow(leader, 's1')
  leader.host.room('s1').doc.getMap('m').set('after', 2)
  await waitFor(() => doc.getMap('m').get('after') === 2)
  expect(doc.getMap('m').toJSON()).toEqual({ before: 1, after: 2 })
  expect(socket.messages.map(bytes => readLeaderSyncMessage(bytes).kind)).toEqual([
    'sync_step_2',
    'awareness',
    'update',
  ])
  expect(socket.frames).toEqual([])
})

test('V1 the catalog is a document like any other', async () => {
  const leader = await startTestLeader()
  const socket = await openDocument(leader, '/v1/sync/catalog')
  socket.ws.send(EMPTY_VECTOR)
  await waitFor(() => socket.messages.length === 2)
  expect(leader.host.catalog.members.size).toBe(1)
})

test('V1 an awareness query is answered, a client’s own awareness is ignored', async () => {
  const leader = await startTestLeader()
  const socket = await openDocument(leader)
  socket.ws.send(message(1, Buffer.from('anything at all')))
  socket.ws.send(QUERY_AWARENESS)
  await waitFor(() => socket.messages.length === 1)
  expect(readLeaderSyncMessage(socket.messages[0]!)).toMatchObject({ kind: 'awareness' })
  expect(socket.ws.readyState).toBe(socket.ws.OPEN)
})

test.each([
  ['an update', encodeSyncUpdate(forgedUpdate())],
  ['sync step 2', encodeSyncStep2(forgedUpdate())],
  ['an empty update', encodeSyncUpdate(Uint8Array.of(0, 0))],
  ['a torn update', encodeSyncUpdate(forgedUpdate()).subarray(0, 9)],
  ['a large update', encodeSyncUpdate(Buffer.alloc(200 * 1024))],
])('A4 %s is a write: closed with 4403, without effect', async (_what, bytes) => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const before = Y.encodeStateAsUpdate(leader.host.room('s1').doc)
  expect(await codeAfter(leader, bytes)).toBe(4403)
  expect(Y.encodeStateAsUpdate(leader.host.room('s1').doc)).toEqual(before)
  await bystander.expectUnharmed()
})

test('V1 of all message types 0 to 255 only sync, awareness and its query are known', async () => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const types = Array.from({ length: 256 }, (_, type) => type)
  const codes = await Promise.all(
    types.map(async type => {
      const socket = await openDocument(leader)
      socket.ws.send(type === 3 ? QUERY_AWARENESS : message(type, 0, Y.encodeStateVector(new Y.Doc())))
      if (type > 0 && type !== 1 && type !== 3) return (await socket.closed).code
      if (type === 1) socket.ws.send(message(1, Buffer.from('x')))
      socket.ws.send(QUERY_AWARENESS)
      return Promise.race([
        socket.closed.then(({ code }) => code),
        waitFor(() => socket.messages.length > 0).then(() => 0),
      ])
    }),
  )
  // type 1 above carries a second field behind its payload: torn, like every unknown type
  expect(codes.map((code, type) => [type, code])).toEqual(
    types.map(type => [type, type === 0 || type === 3 ? 0 : 1007]),
  )
  await bystander.expectUnharmed()
})

test('V1 of all sync steps 0 to 255 only step 1 is answered, 2 and update are writes', async () => {
  const leader = await startTestLeader()
  const steps = Array.from({ length: 255 }, (_, index) => index + 1)
  const codes = await Promise.all(steps.map(step => codeAfter(leader, message(0, step, Uint8Array.of(0, 0)))))
  expect(codes).toEqual(steps.map(step => (step <= 2 ? 4403 : 1007)))
})

test.each<[string, Uint8Array | string]>([
  ['text', 'hello'],
  ['an empty message', new Uint8Array()],
  ['a type without a step', message(0)],
  ['step 1 without a vector', message(0, 0)],
  ['a vector that is torn', EMPTY_VECTOR.subarray(0, 2)],
  ['a vector that is no vector', message(0, 0, Buffer.from([5, 1]))],
  ['bytes behind the vector', message(0, 0, Uint8Array.of(0), 7)],
  ['a length far beyond the message', Buffer.from([0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 1])],
  ['a length beyond 2^53', Buffer.from([0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])],
  ['an unfinished number', Buffer.from([0x80])],
  ['a query with more behind it', Buffer.from([3, 1])],
  ['an auth message', message(2, 0, Buffer.from('let me'))],
])('V1 %s closes with 1007, and nobody else', async (_what, bytes) => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  expect(await codeAfter(leader, bytes)).toBe(1007)
  await waitFor(() => leader.host.room('s1').members.size === 0)
  await bystander.expectUnharmed()
})

test('V1 a state vector over 16 KiB closes with 1009 and is not decoded', async () => {
  const leader = await startTestLeader()
  expect(await codeAfter(leader, encodeSyncStep1(Buffer.alloc(LIMITS.stateVectorBytes + 1)))).toBe(1009)
  expect(await codeAfter(leader, Buffer.alloc(LIMITS.commandFrameBytes + 1))).toBe(1009)
})

test('V1 too many sync requests close with 4408 and a time', async () => {
  const leader = await startTestLeader()
  const socket = await openDocument(leader)
  for (let i = 0; i < LIMITS.syncRequestsPerSecond * 2; i++) socket.ws.send(i % 2 ? EMPTY_VECTOR : QUERY_AWARENESS)
  const { code, reason } = await socket.closed
  expect([code, readRetryAfterMs(reason)]).toEqual([4408, 1_000])
})

test('V1 after silence an empty update follows, so that a stock provider stays', async () => {
  const leader = await startTestLeader({ quietUpdateMs: 100, heartbeatTickMs: 20 })
  leader.host.room('s1')
  const { socket, doc } = await follow(leader, 's1')
  const before = Y.encodeStateAsUpdate(doc)
  await waitFor(() => socket.messages.length >= 5)
  const quiet = socket.messages.slice(2).map(bytes => readLeaderSyncMessage(bytes))
  expect(quiet.every(sent => sent.kind === 'update' && sent.update.length === 2)).toBe(true)
  expect(Y.encodeStateAsUpdate(doc)).toEqual(before)
})

test('V1 nothing is sent to a socket that never asked', async () => {
  const leader = await startTestLeader({ quietUpdateMs: 40, heartbeatTickMs: 20 })
  const silent = await openDocument(leader)
  const { socket } = await follow(leader, 's1')
  await waitFor(() => socket.messages.length >= 6)
  expect(silent.messages).toEqual([])
})

test.each<[string[], string]>([
  [[SUBPROTOCOL], SUBPROTOCOL],
  [[SUBPROTOCOL, `bearer.${TOKEN}`], SUBPROTOCOL],
  [[`bearer.${TOKEN}`, SUBPROTOCOL], SUBPROTOCOL],
])('V1 of the subprotocols %j only %s is echoed', async (protocols, echoed) => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  expect((await dial(leader, 'socket', '/v1/sync/session/s1', { protocols })).ws.protocol).toBe(echoed)
})

test('V1 a credential among the subprotocols is not echoed when it is the only one', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const dialled = dial(leader, 'tcp', '/v1/sync/session/s1', { protocols: [`bearer.${TOKEN}`] })
  await expect(dialled).rejects.toThrow('Server sent no subprotocol')
})

test.each([
  ['an unknown session', '/v1/sync/session/missing', 4404],
  ['an id that cannot be one', '/v1/sync/session/..%2f..', 4404],
  ['another generation', '/v1/sync/session/s1?generation=g0', 4410],
])('V6 %s is closed with a code that a stock provider heeds', async (_what, path, code) => {
  const leader = await startTestLeader()
  expect(await (await openDocument(leader, path)).closed).toMatchObject({ code })
})

test('V6 the generation that a client holds reaches the room', async () => {
  const leader = await startTestLeader()
  const socket = await openDocument(leader, '/v1/sync/session/s1?generation=g1')
  socket.ws.send(EMPTY_VECTOR)
  await waitFor(() => socket.messages.length > 0)
  await expect(openDocument(leader, `/v1/sync/session/s1?generation=${'g'.repeat(129)}`)).rejects.toThrow('400')
})

test('V1 what a client says before it was let in is kept, not lost and not read early', async () => {
  const leader = await startTestLeader()
  let open = () => {}
  leader.host.joinGate = new Promise(resolve => {
    open = resolve
  })
  const socket = await openDocument(leader)
  socket.ws.send(EMPTY_VECTOR)
  const gone = await openDocument(leader)
  gone.ws.terminate()
  await waitFor(() => gone.ws.readyState === gone.ws.CLOSED)
  expect(socket.messages).toEqual([])
  open()
  await waitFor(() => socket.messages.length === 2)
  await waitFor(() => leader.host.room('s1').members.size === 1)
})

test('V1 a socket that shows a ticket belongs to its client', async () => {
  const leader = await startTestLeader()
  const client = await openCommands(leader, { surface: 'tui', clientInstanceId: 'me' })
  leader.host.room('s1')
  await dial(leader, 'socket', '/v1/sync/session/s1', { protocols: [SUBPROTOCOL, `bearer.${client.accepted.ticket}`] })
  await openDocument(leader)
  await waitFor(() => leader.host.room('s1').members.size === 2)
  const [known, stock] = [...leader.host.room('s1').members].map(({ subscriber }) => subscriber)
  expect(known).toMatchObject({ surface: 'tui', clientInstanceId: 'me', connectionId: client.accepted.connectionId })
  expect(stock).toMatchObject({ surface: 'y-websocket', clientInstanceId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
})
