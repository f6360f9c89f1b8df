import { expect, test } from 'vitest'
import type { Freshness } from '../../schema/entities/projection.ts'
import { World } from '../support/replica/world.ts'

const TOKEN = 'k'.repeat(43)

/** A replica that dials over TCP, where both sides have to prove themselves. */
const TCP = { token: TOKEN, endpoint: { isLocal: false, address: '127.0.0.1:20000' } }

test('W3 on a socket the hello is answered with accepted, and connected means ready', async () => {
  const world = new World()
  const connection = await world.connect()
  expect(world.leader.hellos).toEqual([
    {
      kind: 'hello',
      protocol: { min: 1, max: 1 },
      surface: 'test',
      clientInstanceId: 'i1',
      version: '0.1.0',
      nonce: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    },
  ])
  expect([connection.rootId, connection.hostEpoch, connection.freshness.state]).toEqual([
    'a'.repeat(64),
    'epoch-1',
    'live',
  ])
})

test('E2 E3 a leader that is still recovering is awaited, and the wait has an end', async () => {
  const world = new World({ state: 'recovering' })
  const connecting = world.connecting()
  await world.pass(8_000)
  world.leader.setState('ready')
  expect((await world.during(connecting)).kind).toBe('connected')

  const slow = new World({ state: 'recovering' })
  const waiting = slow.connecting({ policy: { deadlineMs: 20_000 } })
  await slow.pass(20_100)
  expect((await slow.during(waiting)).kind).toBe('unavailable')
})

test('E3 a missing leader is unavailable at once, or awaited until the deadline with a short back-off', async () => {
  const world = new World()
  world.kill()
  expect(await world.during(world.connecting())).toEqual({
    kind: 'unavailable',
    reason: 'the connection was closed (1006: refused)',
  })
  const dialled = world.network.opened
  const connecting = world.connecting({ policy: { isPatient: true } })
  await world.pass(2_000, 10)
  const tries = world.network.opened - dialled
  expect(tries).toBeGreaterThan(12)
  expect(tries).toBeLessThan(40)
  world.start()
  await world.pass(260, 10)
  expect((await world.during(connecting)).kind).toBe('connected')
})

test('E6 W3 a draining leader is told as draining, or its successor awaited', async () => {
  const world = new World({ state: 'draining' })
  expect(await world.during(world.connecting())).toEqual({ kind: 'draining' })
  const connecting = world.connecting({ policy: { isPatient: true } })
  await world.pass(1_000, 10)
  world.start({ hostEpoch: 'epoch-2' })
  await world.pass(1_000, 10)
  const result = await world.during(connecting)
  expect(result.kind === 'connected' && result.connection.hostEpoch).toBe('epoch-2')
})

test('W3 an incompatible leader names both versions', async () => {
  const world = new World()
  world.network.leader = {
    open: end => ({
      message: () => {
        end.send(JSON.stringify({ kind: 'incompatible', protocol: { min: 3, max: 4 }, serverVersion: '9.0.0' }))
        end.close(4406, 'incompatible')
      },
      close: () => {},
    }),
    http: () => ({ status: 404, body: '' }),
  }
  expect(await world.during(world.connecting())).toEqual({
    kind: 'incompatible',
    leader: { min: 3, max: 4, version: '9.0.0' },
    replica: { min: 1, max: 1, version: '0.1.0' },
  })
})

test('Z3 over TCP both sides prove that they know the key, and the token never travels', async () => {
  const world = new World({ token: TOKEN })
  const connection = await world.connect(TCP)
  expect(connection.freshness.state).toBe('live')
  expect(world.leader.hellos[0]?.keyId).toMatch(/^[0-9a-f]{16}$/)
  expect(world.leader.frames.slice(0, 2).map(frame => frame.kind)).toEqual(['hello', 'proof'])
  expect(JSON.stringify(world.leader.frames)).not.toContain(TOKEN)
})

test('Z3 a stranger learns nothing: no proof, a wrong, a reflected, a relayed or an unasked one is unauthorized', async () => {
  const forgeries: ((challenge: Record<string, unknown>) => Record<string, unknown>)[] = [
    challenge => ({ ...challenge, proof: 'A'.repeat(43) }),
    challenge => ({ ...challenge, nonce: challenge.echo }),
    challenge => ({ ...challenge, hostEpoch: 'another' }),
    challenge => ({ ...challenge, protocol: 2 }),
    challenge => ({
      kind: 'accepted',
      rootId: challenge.rootId,
      hostEpoch: challenge.hostEpoch,
      connectionId: 'c',
      protocol: 1,
      state: 'ready',
      serverVersion: '1',
      ticket: 't',
    }),
  ]
  for (const forge of forgeries) {
    const world = new World({ token: TOKEN })
    world.leader.forge = forge
    expect(await world.during(world.connecting(TCP))).toEqual({ kind: 'unauthorized' })
    expect(world.leader.frames.map(frame => frame.kind)).toEqual(['hello'])
  }
  const relayed = new World({ token: TOKEN, address: '127.0.0.1:29999' })
  expect(await relayed.during(relayed.connecting(TCP))).toEqual({ kind: 'unauthorized' })
  expect(relayed.leader.frames.map(frame => frame.kind)).toEqual(['hello'])
})

test('Z3 without a key, or with another one, a connection over TCP is unauthorized', async () => {
  const world = new World({ token: TOKEN })
  expect(await world.during(world.connecting({ endpoint: TCP.endpoint }))).toEqual({ kind: 'unauthorized' })
  expect(await world.during(world.connecting({ ...TCP, token: 'x'.repeat(43) }))).toEqual({ kind: 'unauthorized' })
})

test('R8 a registration that leads to another root costs one refused handshake', async () => {
  const world = new World({ rootId: 'b'.repeat(64) })
  const result = await world.during(world.connecting({ endpoint: { rootId: 'a'.repeat(64) } }))
  expect(result).toEqual({
    kind: 'unavailable',
    reason: 'the connection was closed (1007: another root lives at this address)',
  })
})

test('V9 BL-10 a link that swallows everything is noticed within 15 s, and mended by itself', async () => {
  const world = new World()
  const connection = await world.connect()
  const seen: Freshness['state'][] = []
  connection.on('freshness', ({ state }) => seen.push(state))
  await world.pass(7_300)
  world.network.isBlackHole = true
  await world.pass(14_900)
  expect(seen).toEqual(['offline'])
  world.network.isBlackHole = false
  await world.pass(12_500)
  expect([seen.at(-1), connection.freshness.state]).toEqual(['live', 'live'])
})

test('V9 a quiet but living link stays live for an hour', async () => {
  const world = new World()
  const connection = await world.connect()
  await world.pass(3_600_000, 1_000)
  expect([connection.freshness.state, world.network.opened]).toEqual(['live', 1])
  expect(world.clock.now() - (connection.freshness.asOf ?? 0)).toBeLessThanOrEqual(6_000)
})

test('V9 the leader asks too, and is answered', async () => {
  const world = new World()
  await world.connect()
  world.leader.sendRaw(JSON.stringify({ kind: 'ping', id: 41 }))
  await world.network.flush()
  expect(world.leader.frames.at(-1)).toEqual({ kind: 'pong', id: 41 })
})

test('V9 after a long sleep a living link is asked before it is given up', async () => {
  const world = new World()
  const connection = await world.connect()
  await world.pass(6_000)
  world.sleep(3_600_000)
  await world.pass(11_900)
  expect([connection.freshness.state, world.network.opened]).toEqual(['live', 1])
})

test('V9 a wake probe finds a dead link within 3 s, and a user need not wait for the back-off', async () => {
  const world = new World()
  const connection = await world.connect()
  await world.pass(1_000)
  world.network.isBlackHole = true
  connection.retryNow()
  await world.pass(3_100)
  expect(connection.freshness.state).toBe('offline')
  world.network.isBlackHole = false
  world.kill()
  world.random = 0.99
  await world.pass(60_000)
  world.start()
  connection.retryNow()
  await world.network.flush()
  expect(connection.freshness.state).toBe('live')
})

test('V9 BL-13 a leader that stays away is tried for ever, ever more slowly, and found within the cap', async () => {
  const world = new World()
  const connection = await world.connect()
  await world.pass(11_000)
  world.kill()
  world.random = 0.999
  await world.network.flush()
  const before = world.network.opened
  await world.pass(10_000)
  expect(world.network.opened - before).toBeLessThanOrEqual(8)
  await world.pass(600_000, 500)
  expect(world.network.opened - before).toBeLessThanOrEqual(70)
  world.start({ hostEpoch: 'epoch-2' })
  await world.pass(10_100)
  expect([connection.freshness.state, connection.hostEpoch]).toEqual(['live', 'epoch-2'])
})

test('V9 BL-13 replicas that lost the same leader come back spread over the whole wait', async () => {
  const delays: number[] = []
  for (let i = 0; i < 100; i++) {
    const world = new World()
    world.random = ((i * 37) % 100) / 100
    await world.connect()
    world.leader.closeLinks(4500, JSON.stringify({ reason: 'draining', retryAfterMs: 250 }))
    await world.network.flush()
    const before = world.network.opened
    let waitedMs = 0
    for (; waitedMs < 1_000 && world.network.opened === before; waitedMs += 10) await world.pass(10, 10)
    delays.push(waitedMs)
  }
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(250)
  expect(Math.max(...delays)).toBeLessThanOrEqual(360)
  expect(new Set(delays).size).toBeGreaterThanOrEqual(10)
})

test('E1 V4 a successor is told by its epoch', async () => {
  const world = new World()
  const connection = await world.connect()
  const epochs: string[] = []
  connection.on('epoch', epoch => epochs.push(epoch))
  world.kill()
  await world.pass(1_000)
  world.start({ hostEpoch: 'epoch-2' })
  await world.pass(2_000)
  expect([epochs, connection.hostEpoch]).toEqual([['epoch-2'], 'epoch-2'])
})

test('V12 close resolves when the leader confirmed it, and the leader has forgotten the client by then', async () => {
  const world = new World()
  const connection = await world.connect()
  const closing = connection.close()
  await world.during(closing)
  expect(world.leader.frames.at(-1)).toEqual({ kind: 'bye' })
  expect(world.leader.links).toBe(0)
  expect(connection.close()).toBe(connection.closed)
  expect(world.clock.scheduled).toBe(0)
})

test('V12 close resolves after 2 s when the leader does not answer', async () => {
  const world = new World()
  const connection = await world.connect()
  world.leader.isResponsive = false
  let isClosed = false
  void connection.close().then(() => {
    isClosed = true
  })
  await world.pass(1_900)
  expect(isClosed).toBe(false)
  await world.pass(200)
  expect([isClosed, world.clock.scheduled]).toEqual([true, 0])
})

test('V11 a revoked credential ends the connection for good; without reconnect a loss does', async () => {
  const world = new World()
  const connection = await world.connect()
  world.leader.closeLinks(4401, 'unauthorized')
  await world.during(connection.closed)
  await world.pass(30_000, 1_000)
  expect(world.network.opened).toBe(1)

  const once = await world.connect({ policy: { reconnect: false } })
  world.kill()
  await world.during(once.closed)
  expect(once.freshness.state).toBe('offline')
})

test('W2 garbage from the leader breaks the link off, an unknown kind of frame does not', async () => {
  const world = new World()
  const connection = await world.connect()
  world.leader.sendRaw(JSON.stringify({ kind: 'a_frame_of_a_later_version', x: 1 }))
  await world.network.flush()
  expect(connection.freshness.state).toBe('live')
  world.leader.sendRaw('{"kind":')
  await world.network.flush()
  expect(connection.freshness.state).toBe('offline')
  await world.pass(200)
  expect(connection.freshness.state).toBe('live')
})

test('E3 an abort while connecting is unavailable and leaves nothing behind', async () => {
  const world = new World({ state: 'recovering' })
  const abort = new AbortController()
  const connecting = world.connecting({}, abort.signal)
  await world.network.flush()
  abort.abort()
  expect(await world.during(connecting)).toEqual({ kind: 'unavailable', reason: 'aborted' })
  await world.network.flush()
  expect([world.leader.links, world.clock.scheduled]).toEqual([0, 0])
})
