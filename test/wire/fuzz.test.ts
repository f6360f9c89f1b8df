import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { encodeSyncStep1, encodeSyncUpdate } from '../../schema/wire/sync.ts'
import { type SeededRandom, seededRandom, testSeed } from '../support/random.ts'
import { waitFor } from '../support/wait-for.ts'
import { openBystander } from '../support/wire/bystander.ts'
import {
  clientFrame,
  closeCodeOf,
  dialRaw,
  hello,
  openCommands,
  type RawSocket,
  upgradeText,
} from '../support/wire/clients.ts'
import { startTestLeader, type TestLeader } from '../support/wire/test-leader.ts'

const FRAMES = 2_000
const FRAMES_PER_CONNECTION = 10
const CONCURRENT = 20

/** Closes that garbage may end in; undefined where the connection was cut or is still open. */
const ALLOWED_CODES = new Set([undefined, 1000, 1002, 1005, 1007, 1008, 1009, 4401, 4403, 4406, 4408, 4501])

const json = (value: unknown) => clientFrame(1, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
const binary = (bytes: Uint8Array) => clientFrame(2, bytes)

function corpus(random: SeededRandom): Buffer[] {
  const doc = new Y.Doc()
  doc.getMap('session').set('header', random.next())
  return [
    json(hello()),
    json({ kind: 'proof', proof: 'p'.repeat(43) }),
    json({ requestId: `r${random.between(0, 5)}`, operation: 'host.status', input: {} }),
    json({ requestId: 'x', operation: 'session.create', input: { __proto__: { a: 1 }, cwd: '/' } }),
    json({ kind: 'ping', id: random.between(0, 2 ** 40) }),
    json('['.repeat(random.between(1, 20_000))),
    json(`{"requestId":"d","operation":"x","input":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`),
    json('\ud800'),
    binary(encodeSyncStep1(Y.encodeStateVector(doc))),
    binary(encodeSyncUpdate(Y.encodeStateAsUpdate(doc))),
    binary(randomBytes(random.between(0, 300))),
    clientFrame(random.between(0, 15), randomBytes(random.between(0, 130)), random.next() < 0.5),
  ]
}

const MUTATIONS: readonly ((frame: Buffer, random: SeededRandom) => Buffer)[] = [
  frame => frame,
  (frame, random) => frame.subarray(0, random.between(0, frame.length)),
  (frame, random) => {
    const changed = Buffer.from(frame)
    for (let i = 0; i < random.between(1, 8); i++)
      changed[random.between(0, changed.length - 1)] = random.between(0, 255)
    return changed
  },
  (frame, random) => {
    const changed = Buffer.from(frame)
    changed[0] = random.between(0, 255)
    return changed
  },
  (frame, random) => Buffer.concat([frame, randomBytes(random.between(1, 40))]),
  // a huge declared length, with and without the top bit
  (_frame, random) =>
    Buffer.from([0x82, 0xff, random.pick([0, 0x7f, 0x80, 0xff]), random.between(0, 255), 0, 0, 0xff, 0xff, 0xff, 0xff]),
  // an unmasked frame
  (_frame, random) => Buffer.from([0x81, 2, random.between(0, 255), 0x7d]),
  // a message in fragments of one byte that may never end
  (_frame, random) =>
    Buffer.concat(
      Array.from({ length: random.between(2, 60) }, (_, index) =>
        clientFrame(index === 0 ? 1 : 0, randomBytes(1), random.next() < 0.02),
      ),
    ),
]

/** Sends mutated frames on one raw connection until it is closed or all are sent. */
async function abuse(leader: TestLeader, path: string, random: SeededRandom, prefix: Buffer): Promise<RawSocket> {
  const raw = await dialRaw(leader, 'socket')
  raw.socket.write(upgradeText(leader, path, { Host: 'localhost' }))
  raw.socket.write(prefix)
  for (let i = 0; i < FRAMES_PER_CONNECTION && !raw.socket.destroyed; i++) {
    const bytes = random.pick(MUTATIONS)(random.pick(corpus(random)), random)
    if (random.next() < 0.1) for (const byte of bytes.subarray(0, 200)) raw.socket.write(Buffer.from([byte]))
    else raw.socket.write(bytes)
  }
  raw.socket.end()
  return raw
}

test.each<[string, string, () => Buffer]>([
  ['before the hello', '/v1/commands', () => Buffer.alloc(0)],
  ['after it', '/v1/commands', () => json(hello())],
  ['on a document', '/v1/sync/session/quiet', () => binary(encodeSyncStep1(Uint8Array.of(0)))],
])('W2 2 000 mutated frames %s harm nobody but their sender', async (_when, path, prefix) => {
  const seed = testSeed()
  console.info(`seed ${seed}`)
  const random = seededRandom(seed)
  const failures: unknown[] = []
  const onFailure = (error: unknown) => void failures.push(error)
  process.on('uncaughtExceptionMonitor', onFailure)
  const leader = await startTestLeader({ closeConfirmMs: 200 })
  const bystander = await openBystander(leader)
  const before = Y.encodeStateAsUpdate(leader.host.room('other').doc)
  for (let sent = 0; sent < FRAMES; sent += CONCURRENT * FRAMES_PER_CONNECTION) {
    const raws = await Promise.all(Array.from({ length: CONCURRENT }, () => abuse(leader, path, random, prefix())))
    await bystander.expectUnharmed()
    await Promise.all(raws.map(raw => raw.ended))
    for (const raw of raws) expect(ALLOWED_CODES, `seed ${seed}: ${closeCodeOf(raw)}`).toContain(closeCodeOf(raw))
  }
  await waitFor(() => leader.roster.count === 1 && leader.host.room('quiet').members.size === 1)
  await bystander.expectUnharmed()
  expect(Y.encodeStateAsUpdate(leader.host.room('other').doc)).toEqual(before)
  expect([failures, leader.logLines]).toEqual([[], []])
  process.off('uncaughtExceptionMonitor', onFailure)
})

test('W2 a command in fragments of one byte, each in a packet of its own, is understood', async () => {
  const leader = await startTestLeader()
  const raw = await dialRaw(leader, 'socket')
  raw.socket.write(upgradeText(leader, '/v1/commands', { Host: 'localhost' }))
  const text = Buffer.from(JSON.stringify(hello()))
  for (const [index, byte] of text.entries()) {
    for (const piece of clientFrame(index === 0 ? 1 : 0, Buffer.from([byte]), index === text.length - 1)) {
      raw.socket.write(Buffer.from([piece]))
    }
  }
  await waitFor(() => raw.received().includes('"kind":"accepted"'))
  expect(leader.roster.count).toBe(1)
  raw.socket.destroy()
})

test('W2 a message in fragments without end is closed with 1008 or 1009 and costs little', async () => {
  const leader = await startTestLeader({ closeConfirmMs: 200 })
  const bystander = await openBystander(leader)
  const codes: unknown[] = []
  for (const fragment of [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(64 * 1024)]) {
    const raw = await dialRaw(leader, 'socket')
    raw.socket.write(upgradeText(leader, '/v1/commands', { Host: 'localhost' }))
    raw.socket.write(json(hello()))
    const piece = Buffer.concat(
      Array.from({ length: fragment.length > 1 ? 1 : 1_000 }, () => clientFrame(0, fragment, false)),
    )
    raw.socket.write(clientFrame(1, fragment, false))
    for (let i = 0; i < 20; i++) raw.socket.write(piece)
    await raw.ended
    codes.push(closeCodeOf(raw))
  }
  expect(codes).toEqual([1008, 1008, 1009])
  await bystander.expectUnharmed()
})

test('W2 a huge declared length is refused at once, before and after the hello', async () => {
  const leader = await startTestLeader({ closeConfirmMs: 200 })
  const client = await openCommands(leader)
  for (const prefix of [Buffer.alloc(0), json(hello())]) {
    for (const length of ['0000000010000000', '001fffffffffffff', '7fffffffffffffff', 'ffffffffffffffff']) {
      const raw = await dialRaw(leader, 'tcp')
      raw.socket.write(upgradeText(leader, '/v1/commands'))
      raw.socket.write(Buffer.concat([prefix, Buffer.from([0x81, 0xff]), Buffer.from(length, 'hex')]))
      await raw.ended
      expect(closeCodeOf(raw)).toBe(1009)
    }
  }
  expect(client.ws.readyState).toBe(client.ws.OPEN)
})

test('Z5 a compressed message is refused before it is unpacked', async () => {
  const leader = await startTestLeader({ closeConfirmMs: 200 })
  const raw = await dialRaw(leader, 'socket')
  raw.socket.write(
    upgradeText(leader, '/v1/commands', { Host: 'localhost', 'Sec-WebSocket-Extensions': 'permessage-deflate' }),
  )
  await waitFor(() => raw.received().includes('\r\n\r\n'))
  expect(raw.received().toString('latin1').toLowerCase()).not.toContain('permessage-deflate')
  raw.socket.write(clientFrame(0x41, Buffer.alloc(10)))
  await raw.ended
  expect(closeCodeOf(raw)).toBe(1002)
})
