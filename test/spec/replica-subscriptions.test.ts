import { expect, test } from 'vitest'
import { textDeltas } from '../../replica/client/document/frames.ts'
import type { SessionSubscription, SubscriptionFrame } from '../../replica/client/types.ts'
import { LIMITS } from '../../schema/limits.ts'
import { SessionWriter } from '../support/replica/session-writer.ts'
import { SESSION, World } from '../support/replica/world.ts'

async function followed() {
  const world = new World()
  const connection = await world.connect()
  const writer = new SessionWriter('s1', 'g1')
  world.leader.serve(SESSION, writer.doc)
  const session = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  return { world, connection, writer, session, frames: session[Symbol.asyncIterator]() }
}

/** The frames that are there, in short; snapshots as their revision. */
async function unread(frames: AsyncIterator<SubscriptionFrame>, count: number): Promise<unknown[]> {
  const seen: unknown[] = []
  for (let i = 0; i < count; i++) {
    const { value } = (await frames.next()) as { value: SubscriptionFrame }
    seen.push(short(value))
  }
  return seen
}

function short(frame: SubscriptionFrame): unknown {
  const kind = frame.kind.replace('subscription.', '')
  if (frame.kind === 'subscription.session_delta')
    return [kind, frame.revision, frame.delta.startOffset, frame.delta.text]
  if (frame.kind === 'subscription.session_domain_changed') return [kind, frame.revision, frame.domain]
  if (frame.kind === 'subscription.closed') return [kind, frame.revision, frame.reason]
  return [kind, frame.revision, frame.snapshot.revision]
}

test('V2 V3 a transition is one projection, a flush one delta, and a changed domain follows its projection', async () => {
  const { world, writer, session, frames } = await followed()
  // Nobody reads yet: frames are kept from the opening on.
  world.leader.publish(SESSION, writer.retitle('one'))
  world.leader.publish(SESSION, writer.delta({ b1: 'Hé' }, { offset: 100 }))
  world.leader.publish(SESSION, writer.delta({ b1: '👍🏽!' }))
  world.leader.publish(SESSION, writer.plan({ storeVersion: 1 }))
  world.leader.announce(SESSION, [{ connectionId: 'c', surface: 'tui', clientInstanceId: 'i', since: 1 }])
  world.leader.publish(SESSION, Uint8Array.of(0, 0))
  world.leader.publish(SESSION, writer.seal('b1', 1))
  await world.network.flush()
  expect(await unread(frames, 6)).toEqual([
    ['session_projection', 2, 2],
    ['session_delta', 2, 100, 'Hé'],
    ['session_delta', 2, 102, '👍🏽!'],
    ['session_projection', 3, 3],
    ['session_domain_changed', 3, 'plan'],
    ['session_projection', 4, 4],
  ])
  const waiting = frames.next()
  world.leader.publish(SESSION, writer.retitle('two'))
  const { value } = (await world.during(waiting)) as { value: SubscriptionFrame }
  expect(value).toEqual({
    kind: 'subscription.session_projection',
    sessionId: 's1',
    hostEpoch: 'epoch-1',
    revision: 5,
    snapshot: session.current,
  })
  expect(Object.isFrozen(value)).toBe(true)
})

test("P13 V2 an agent's own plan changes the view, and is no plan change", async () => {
  const { world, writer, frames } = await followed()
  const agentPlan = { entries: [{ content: 'look', priority: 'high', status: 'pending' }], at: 5 }
  world.leader.publish(SESSION, writer.plan({ agentPlan }))
  world.leader.publish(SESSION, writer.plan({ agentPlan, storeVersion: 1 }))
  world.leader.publish(SESSION, writer.retitle('one'))
  await world.network.flush()
  expect(await unread(frames, 4)).toEqual([
    ['session_projection', 2, 2],
    ['session_projection', 3, 3],
    ['session_domain_changed', 3, 'plan'],
    ['session_projection', 4, 4],
  ])
})

test('V3 two subscribers get the same frames in the same order', async () => {
  const { world, connection, writer, frames } = await followed()
  const other = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  for (let i = 0; i < 20; i++) {
    world.leader.publish(SESSION, i % 3 === 0 ? writer.retitle(`${i}`) : writer.delta({ b1: `${i} ` }))
  }
  await world.network.flush()
  const mine = await unread(frames, 20)
  expect(await unread(other[Symbol.asyncIterator](), 20)).toEqual(mine)
  expect(mine.map(frame => (frame as [string])[0]).filter(kind => kind === 'session_projection').length).toBe(7)
})

test('V2 one flush of several texts is a delta for each', async () => {
  const { world, writer, frames } = await followed()
  world.leader.publish(SESSION, writer.delta({ b1: 'a' }, { kind: 'thinking' }))
  world.leader.publish(SESSION, writer.delta({ b1: 'b', b2: 'c' }))
  await world.network.flush()
  expect(await unread(frames, 3)).toEqual([
    ['session_delta', 1, 0, 'a'],
    ['session_delta', 1, 1, 'b'],
    ['session_delta', 1, 0, 'c'],
  ])
})

test('V2 deltas joined give the text of the message, whatever blocks it came in', async () => {
  const { world, writer, frames, session } = await followed()
  let before = session.current
  let joined = ''
  const send = async (update: Uint8Array) => {
    world.leader.publish(SESSION, update)
    await world.network.flush()
    for (const { startOffset, text } of textDeltas(before, session.current)) {
      expect(startOffset).toBe(joined.length)
      joined += text
    }
    before = session.current
  }
  await send(writer.delta({ b1: 'one ' }, { messageId: 'm' }))
  await send(writer.delta({ b1: 'two ' }))
  await send(writer.seal('b1', 1))
  await send(writer.delta({ b2: 'three ' }, { messageId: 'm', offset: 8 }))
  await send(writer.delta({ b2: 'four' }))
  expect(joined).toBe('one two three four')
  expect(await unread(frames, 5)).toEqual([
    ['session_delta', 1, 0, 'one '],
    ['session_delta', 1, 4, 'two '],
    ['session_projection', 2, 2],
    ['session_delta', 2, 8, 'three '],
    ['session_delta', 2, 14, 'four'],
  ])
})

test('V2 more than 1 024 unread frames are replaced by one resync with the newest state', async () => {
  const { world, writer, frames } = await followed()
  for (let i = 0; i < LIMITS.unreadFrames; i++) world.leader.publish(SESSION, writer.retitle(`${i}`))
  await world.network.flush()
  world.leader.publish(SESSION, writer.retitle('one more'))
  world.leader.publish(SESSION, writer.retitle('and another'))
  await world.network.flush()
  expect(await unread(frames, 2)).toEqual([
    ['session_resynced', 1_026, 1_026],
    ['session_projection', 1_027, 1_027],
  ])
})

test('V2 more than 4 MiB unread are replaced by one resync', async () => {
  const { world, writer, frames } = await followed()
  for (let i = 0; i < 45; i++) {
    world.leader.publish(
      SESSION,
      writer.transition(put => put('tasks', `k${i}`, 'x'.repeat(100_000))),
    )
  }
  await world.network.flush()
  const [first] = await unread(frames, 1)
  expect((first as [string])[0]).toBe('session_resynced')
})

test('V2 V3 a reconnect is one resync with the newest state', async () => {
  const { world, writer, frames, session } = await followed()
  world.kill()
  await world.network.flush()
  world.start({ hostEpoch: 'epoch-2' })
  writer.retitle('a')
  writer.retitle('b')
  world.leader.serve(SESSION, writer.doc)
  await world.pass(3_000)
  const { value } = (await frames.next()) as { value: SubscriptionFrame }
  expect(value).toEqual({
    kind: 'subscription.session_resynced',
    sessionId: 's1',
    hostEpoch: 'epoch-2',
    revision: 3,
    snapshot: session.current,
  })
})

test('V2 current keeps its identity until something changes, and every change is told', async () => {
  const { world, writer, session } = await followed()
  const before = session.current
  let calls = 0
  const stop = session.onChange(() => {
    calls += 1
  })
  world.leader.publish(SESSION, Uint8Array.of(0, 0))
  await world.network.flush()
  expect([session.current === before, calls]).toEqual([true, 0])
  world.leader.publish(SESSION, writer.retitle('new'))
  await world.network.flush()
  expect([session.current === before, calls]).toEqual([false, 1])
  stop()
  world.leader.publish(SESSION, writer.retitle('newer'))
  await world.network.flush()
  expect(calls).toBe(1)
})

test('V11 closing the connection fails the iterator after what is unread', async () => {
  const { world, connection, writer, frames } = await followed()
  world.leader.publish(SESSION, writer.retitle('unread'))
  await world.network.flush()
  const closing = connection.close()
  expect(await unread(frames, 1)).toEqual([['session_projection', 2, 2]])
  const error = { name: 'ReplicaSubscriptionError', reason: 'connection_closed' }
  await expect(frames.next()).rejects.toMatchObject(error)
  await expect(frames.next()).rejects.toMatchObject(error)
  await world.during(closing)
  await expect(connection.openSessionSubscription({ sessionId: 's1' })).rejects.toMatchObject(error)
})

test('V11 a waiting iterator fails when the credential is revoked, and shows a passing loss only as freshness', async () => {
  const { world, session, frames } = await followed()
  let failed: unknown
  frames.next().catch((error: unknown) => {
    failed = error
  })
  world.kill()
  const leader = world.leader
  await world.network.flush()
  expect([failed, session.freshness.state]).toEqual([undefined, 'offline'])
  world.network.leader = leader
  await world.pass(1_000)
  expect(failed).toBe(undefined)
  const again = session[Symbol.asyncIterator]()
  const next = again.next()
  next.catch(() => {})
  world.leader.closeLinks(4401, 'unauthorized')
  await world.network.flush()
  await expect(again.next()).rejects.toMatchObject({ reason: 'connection_closed' })
  expect(session.freshness.state).toBe('offline')
})

test('V11 without reconnect a loss fails the iterator', async () => {
  const world = new World()
  const connection = await world.connect({ policy: { reconnect: false } })
  world.leader.serve(SESSION, new SessionWriter('s1', 'g1').doc)
  const session = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  const next = session[Symbol.asyncIterator]().next()
  world.kill()
  await expect(world.during(next)).rejects.toMatchObject({ reason: 'connection_closed' })
})

test('V2 a removed session ends the loop with a last frame; asking on is refused', async () => {
  const { world, session, frames } = await followed()
  world.leader.remove(SESSION)
  await world.network.flush()
  const seen: unknown[] = []
  for await (const frame of session) seen.push(short(frame))
  expect(seen).toEqual([['closed', 1, 'session_removed']])
  await expect(frames.next()).rejects.toMatchObject({ reason: 'session_removed' })
  expect(session.freshness.state).toBe('offline')
  world.kill()
  world.start()
  await world.pass(2_000)
  expect(world.leader.joins).toEqual([])
})

test('V2 closing a subscription ends its loop quietly, and leaving a loop does not close it', async () => {
  const { world, writer, session } = await followed()
  world.leader.publish(SESSION, writer.retitle('one'))
  world.leader.publish(SESSION, writer.retitle('two'))
  await world.network.flush()
  const read = async (from: SessionSubscription) => {
    for await (const frame of from) return short(frame)
    return 'ended'
  }
  expect(await read(session)).toEqual(['session_projection', 2, 2])
  expect(await read(session)).toEqual(['session_projection', 3, 3])
  const waiting = read(session)
  await session.close()
  expect(await waiting).toBe('ended')
  expect(await read(session)).toBe('ended')
})
