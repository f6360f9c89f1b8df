import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import { FlushQueue } from '../../leader/transport/link/flush-queue.ts'
import { Outbound } from '../../leader/transport/link/outbound.ts'
import { transportLimits } from '../../leader/transport/parts.ts'
import { createWebSocketServer } from '../../leader/transport/upgrade.ts'
import { LIMITS } from '../../schema/limits.ts'
import { readRetryAfterMs } from '../../schema/wire/close-codes.ts'
import { encodeSyncStep1, readLeaderSyncMessage } from '../../schema/wire/sync.ts'
import { waitFor } from '../support/wait-for.ts'
import { follow, openBystander } from '../support/wire/bystander.ts'
import { openCommands } from '../support/wire/clients.ts'
import { startTestLeader, type TestLeader } from '../support/wire/test-leader.ts'

const MIB = 1024 * 1024

/** The value of a metric without labels. */
async function metric(leader: TestLeader, name: string): Promise<number> {
  const line = (await leader.metrics.scrape()).split('\n').find(candidate => candidate.startsWith(`${name} `))
  return Number(line?.split(' ')[1])
}

/** Puts this many bytes of new content into a session's document, in pieces, and lets them travel. */
async function write(leader: TestLeader, sessionId: string, bytes: number, pieceBytes = 64 * 1024): Promise<void> {
  const { doc } = leader.host.room(sessionId)
  for (let at = 0; at < bytes; at += pieceBytes) {
    doc.getMap('m').set('newest', 'x'.repeat(pieceBytes) + at)
    await new Promise(resolve => setImmediate(resolve))
  }
}

test('V10 a stalled reader costs 1 MiB at most, gets the newest state when it drains, and nobody else waits', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const [slow, quick] = [await follow(leader, 's1'), await follow(leader, 's1')]
  const bystander = await openBystander(leader)
  slow.socket.ws.pause()
  let peak = 0
  for (let round = 0; round < 20; round++) {
    await write(leader, 's1', MIB)
    peak = Math.max(peak, await metric(leader, 'headwater_outbound_pending_bytes'))
    const { doc } = leader.host.room('s1')
    await waitFor(() => quick.doc.getMap('m').get('newest') === doc.getMap('m').get('newest'), { everyMs: 1 })
  }
  expect(peak).toBeLessThan(LIMITS.outboundDropBytes + 256 * 1024)
  expect(await metric(leader, 'headwater_slow_consumers_total')).toBe(1)
  await bystander.expectUnharmed()
  expect(leader.host.room('s1').resyncs).toBe(0)
  slow.socket.ws.resume()
  const { doc } = leader.host.room('s1')
  await waitFor(() => slow.doc.getMap('m').get('newest') === doc.getMap('m').get('newest'))
  expect(leader.host.room('s1').resyncs).toBe(1)
  expect(Y.encodeStateVector(slow.doc)).toEqual(Y.encodeStateVector(doc))
  await write(leader, 's1', 64 * 1024)
  await waitFor(() => slow.doc.getMap('m').get('newest') === doc.getMap('m').get('newest'))
  await bystander.expectUnharmed()
})

test('V10 what is larger than the bound goes out whole to a reader that keeps up', async () => {
  const leader = await startTestLeader()
  const { doc } = leader.host.room('s1')
  doc.getMap('m').set('large', 'x'.repeat(3 * MIB))
  const { doc: copy, socket } = await follow(leader, 's1')
  expect(copy.getMap('m').get('large')).toBe(doc.getMap('m').get('large'))
  expect([leader.host.room('s1').resyncs, socket.messages.length]).toEqual([0, 2])
})

test('V10 a document that stays blocked is closed with 4502 and a time', async () => {
  const leader = await startTestLeader({
    outboundStallMs: 300,
    heartbeatTickMs: 50,
    closeConfirmMs: 5_000,
    deadLinkMs: 60_000,
  })
  const bystander = await openBystander(leader)
  leader.host.room('s1')
  const slow = await follow(leader, 's1')
  slow.socket.ws.pause()
  await write(leader, 's1', 2 * MIB)
  await waitFor(() => leader.host.room('s1').members.size === 0)
  slow.socket.ws.resume()
  const { code, reason } = await slow.socket.closed
  expect([code, readRetryAfterMs(reason)]).toEqual([4502, 1_000])
  await bystander.expectUnharmed()
})

test('V10 replies are never dropped: over 8 MiB of them the connection is closed with 4502', async () => {
  const leader = await startTestLeader({ closeConfirmMs: 5_000 })
  const bystander = await openBystander(leader)
  leader.host.operations.set('transcript.page', () => ({ ok: true, result: 'x'.repeat(MIB) }))
  const client = await openCommands(leader)
  client.ws.pause()
  for (let i = 0; i < 32; i++) client.send({ requestId: `r${i}`, operation: 'transcript.page', input: {} })
  await waitFor(() => leader.roster.count === 1)
  expect(await metric(leader, 'headwater_outbound_pending_bytes')).toBeLessThan(LIMITS.outboundCloseBytes + 2 * MIB)
  client.ws.resume()
  expect(await client.closed).toMatchObject({ code: 4502 })
  await bystander.expectUnharmed()
})

test('V10 a client that pings without reading the answers is cut', async () => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const client = await openCommands(leader)
  client.ws.pause()
  await waitFor(() => {
    for (let i = 0; i < 1_000; i++) client.ws.ping(Buffer.alloc(125))
    return leader.roster.count === 1
  })
  expect(await metric(leader, 'headwater_outbound_pending_bytes')).toBeLessThan(MIB)
  await bystander.expectUnharmed()
})

/** A WebSocket over a stream that counts its writes. */
function openCounted(): { ws: WebSocket; socket: Duplex; writes: Buffer[] } {
  const writes: Buffer[] = []
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      writes.push(chunk)
      done()
    },
    writev(chunks, done) {
      writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)))
      done()
    },
  })
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  }
  let ws: WebSocket | undefined
  const request = { method: 'GET', headers } as never
  createWebSocketServer(transportLimits()).handleUpgrade(request, socket, Buffer.alloc(0), opened => {
    ws = opened
  })
  writes.length = 0
  return { ws: ws!, socket, writes }
}

test('V10 everything of one turn of the loop is one write per socket', async () => {
  const { ws, socket, writes } = openCounted()
  const outbound = new Outbound(
    { ws, socket, isBinary: true, onSlow: () => {}, giveUp: () => {} },
    new FlushQueue(),
    transportLimits(),
  )
  for (let i = 0; i < 20; i++) outbound.send(encodeSyncStep1(Uint8Array.of(i)))
  await Promise.resolve().then(() => outbound.send(Uint8Array.of(99)))
  expect(writes).toEqual([])
  await new Promise(resolve => setImmediate(resolve))
  expect(writes).toHaveLength(1)
  outbound.send(Uint8Array.of(1))
  await new Promise(resolve => setImmediate(resolve))
  expect(writes).toHaveLength(2)
})

test('V10 what waits is sent before a close, and nothing after it', async () => {
  const { ws, socket, writes } = openCounted()
  const outbound = new Outbound(
    { ws, socket, isBinary: true, onSlow: () => {}, giveUp: () => {} },
    new FlushQueue(),
    transportLimits(),
  )
  outbound.send(Uint8Array.of(1))
  outbound.close(4500, 'r'.repeat(500))
  outbound.send(Uint8Array.of(2))
  await new Promise(resolve => setImmediate(resolve))
  const bytes = Buffer.concat(writes)
  expect(bytes.subarray(0, 7)).toEqual(Buffer.from([0x82, 1, 1, 0x88, 125, 4500 >> 8, 4500 & 0xff]))
  expect([bytes.length, outbound.pendingBytes]).toEqual([3 + 2 + 125, 0])
})

test('V10 a message that arrived while the reader was behind is not sent twice', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const slow = await follow(leader, 's1')
  slow.socket.ws.pause()
  await write(leader, 's1', 4 * MIB)
  const dropped = slow.socket.messages.length
  slow.socket.ws.resume()
  const { doc } = leader.host.room('s1')
  await waitFor(() => slow.doc.getMap('m').get('newest') === doc.getMap('m').get('newest'))
  const kinds = slow.socket.messages.slice(dropped).map(bytes => readLeaderSyncMessage(bytes).kind)
  expect(kinds.filter(kind => kind === 'sync_step_2')).toHaveLength(1)
})
