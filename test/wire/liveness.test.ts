import { expect, test } from 'vitest'
import { Heartbeat, Liveness } from '../../leader/transport/link/heartbeat.ts'
import { LIMITS } from '../../schema/limits.ts'
import { encodeSyncStep1, SUBPROTOCOL } from '../../schema/wire/sync.ts'
import { waitFor } from '../support/wait-for.ts'
import { follow } from '../support/wire/bystander.ts'
import { dial, dialRaw, hello, openCommands, upgradeText } from '../support/wire/clients.ts'
import { startTestLeader, TOKEN } from '../support/wire/test-leader.ts'

const FAST = { pingIntervalMs: 60, deadLinkMs: 200, heartbeatTickMs: 20 }

test('V9 a dead link is found within 15 s: 12 s of silence and one tick', () => {
  const liveness = new Liveness(LIMITS)
  const steps = Array.from({ length: 15 }, () => liveness.tick())
  expect(steps.indexOf('dead') * LIMITS.heartbeatTickMs).toBeLessThan(15_000)
  expect(steps.slice(0, 11)).toEqual(
    Array.from({ length: 11 }, (_, tick) => ((tick + 1) % 5 === 0 ? 'ping' : 'nothing')),
  )
  liveness.heard()
  expect(liveness.tick()).not.toBe('dead')
})

test('V9 a process that was held up does not find its links dead: ticks count, not the clock', async () => {
  const heartbeat = new Heartbeat(5)
  const liveness = new Liveness({ pingIntervalMs: 10, deadLinkMs: 50, heartbeatTickMs: 5 })
  const steps: string[] = []
  heartbeat.add({ tick: () => void steps.push(liveness.tick()) })
  const end = performance.now() + 200
  while (performance.now() < end);
  await waitFor(() => steps.length === 1, { everyMs: 0 })
  expect(steps).toEqual(['nothing'])
  heartbeat.stop()
})

test('V9 a ping is answered with its id and the leader’s time', async () => {
  const leader = await startTestLeader()
  const client = await openCommands(leader)
  client.send({ kind: 'ping', id: 42 })
  const pong = await client.frame(frame => frame.kind === 'pong')
  expect(pong).toEqual({ kind: 'pong', id: 42, at: expect.any(Number) })
  expect(Math.abs(Number(pong.at) - Date.now())).toBeLessThan(5_000)
})

test('V9 the leader pings, and a client that answers in either way stays', async () => {
  const leader = await startTestLeader(FAST)
  const client = await openCommands(leader)
  await waitFor(() => client.frames.filter(({ kind }) => kind === 'ping').length >= 8)
  const ids = client.frames.filter(({ kind }) => kind === 'ping').map(({ id }) => id)
  expect(ids).toEqual(ids.map((_, index) => index))
  expect(leader.roster.count).toBe(1)
})

/** A connection that never answers anything after its first words. */
async function openMute(leader: Awaited<ReturnType<typeof startTestLeader>>, path: string, first: unknown) {
  const client = await dial(leader, 'socket', path, {
    autoPong: false,
    protocols: path.includes('sync') ? [SUBPROTOCOL] : [],
  })
  client.ws.send(first instanceof Uint8Array ? first : JSON.stringify(first))
  return client
}

test('V9 a command connection that falls silent is cut and forgotten', async () => {
  const leader = await startTestLeader(FAST)
  const mute = await openMute(leader, '/v1/commands', hello())
  await mute.frame(frame => frame.kind === 'accepted')
  expect(leader.roster.count).toBe(1)
  expect(await mute.closed).toMatchObject({ code: 1006 })
  expect(leader.roster.count).toBe(0)
})

test('V9 a document socket that falls silent is cut and leaves its room', async () => {
  const leader = await startTestLeader(FAST)
  const room = leader.host.room('s1')
  const mute = await openMute(leader, '/v1/sync/session/s1', encodeSyncStep1(Uint8Array.of(0)))
  await waitFor(() => mute.messages.length === 2)
  const healthy = await follow(leader, 's1')
  expect(await mute.closed).toMatchObject({ code: 1006 })
  await waitFor(() => room.members.size === 1)
  expect(healthy.socket.ws.readyState).toBe(healthy.socket.ws.OPEN)
})

test('V9 a peer that vanished without a word is cut, also over TCP', async () => {
  const leader = await startTestLeader(FAST)
  const room = leader.host.room('s1')
  const raw = await dialRaw(leader, 'tcp')
  raw.socket.write(upgradeText(leader, '/v1/sync/session/s1', { Authorization: `Bearer ${TOKEN}` }))
  await waitFor(() => room.members.size === 1)
  raw.socket.pause()
  await waitFor(() => room.members.size === 0)
  expect(leader.roster.count).toBe(0)
  raw.socket.destroy()
})
