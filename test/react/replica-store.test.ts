import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectLeader, openOffline } from '../../replica/index.ts'
import { createReplicaStore } from '../../replica/react/replica-store.ts'
import { isLive, reading, storeOf, talked } from '../support/react/screen-store.ts'
import { startTestLeader, TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

test('experience 10.1 a store finds its leader, shows sessions and the catalog, and follows what happens', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  await talked(leader, 'two')
  const store = storeOf(leader.root)
  expect(store.link.getSnapshot().kind).toBe('connecting')
  const [one, two] = [store.session('one'), store.session('two')]
  const seen: { readonly seen: readonly unknown[] }[] = [reading(store.catalog), reading(one), reading(two)]
  await waitFor(() => isLive(one) && isLive(two) && isLive(store.catalog))
  expect(store.link.getSnapshot().kind).toBe('connected')
  expect(store.catalog.getSnapshot().rows?.map(row => row.sessionId)).toEqual(['two', 'one'])
  expect(one.getSnapshot().projection?.rootTurn?.status).toBe('completed')
  const before = two.getSnapshot()
  await leader.startTurn('one', 'next', 'again')
  await waitFor(() => one.getSnapshot().projection?.rootTurn?.turnId === 'next')
  expect(two.getSnapshot()).toBe(before)
  for (const { seen: values } of seen) expect(new Set(values).size).toBe(values.length)
})

test('experience 5.1 A10 what was seen is shown at once without a leader, as of then, and becomes live when one comes', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const first = storeOf(leader.root)
  reading(first.catalog)
  const shown = first.session('one')
  reading(shown)
  await waitFor(() => isLive(shown) && isLive(first.catalog))
  const { projection } = shown.getSnapshot()
  await first.close()
  await leader.close()

  const store = storeOf(leader.root)
  const [one, unknown] = [store.session('one'), store.session('never-seen')]
  const { seen } = reading(one)
  reading(unknown)
  reading(store.catalog)
  await waitFor(() => one.getSnapshot().projection !== null && store.catalog.getSnapshot().rows !== null)
  expect(one.getSnapshot().projection).toEqual(projection)
  expect(one.getSnapshot().freshness).toEqual({ state: 'offline', asOf: expect.any(Number) })
  expect(store.catalog.getSnapshot().rows?.map(row => row.sessionId)).toEqual(['one'])
  const lost = await waitFor(() => {
    const link = store.link.getSnapshot()
    return link.kind === 'lost' ? link : null
  })
  expect(lost.reason).not.toBe('')
  expect(unknown.getSnapshot()).toMatchObject({ projection: null, failure: null, freshness: { state: 'offline' } })

  await leader.start()
  store.retryNow()
  await waitFor(() => isLive(one) && isLive(store.catalog))
  await waitFor(() => unknown.getSnapshot().failure?.code === 'not_found')
  expect(one.getSnapshot().projection?.hostEpoch).toBe(leader.leader.hostEpoch)
  const states = seen.map(view => view.freshness.state)
  expect(states.indexOf('live')).toBe(states.length - 1)
  expect(new Set(seen.slice(1, -1).map(view => view.projection?.revision))).toEqual(new Set([projection?.revision]))
})

test('experience 5.1 a leader that goes and comes back leaves what is shown in place, as offline, until it is live again', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const store = storeOf(leader.root)
  const one = store.session('one')
  const { seen } = reading(one)
  const links = reading(store.link)
  await waitFor(() => isLive(one))
  await leader.close()
  await waitFor(() => store.link.getSnapshot().kind === 'lost')
  expect(one.getSnapshot().freshness.state).toBe('offline')
  expect(one.getSnapshot().projection).not.toBeNull()
  await leader.start()
  store.retryNow()
  await waitFor(() => isLive(one))
  expect(one.getSnapshot().projection?.hostEpoch).toBe(leader.leader.hostEpoch)
  const first = seen.findIndex(view => view.projection !== null)
  expect(seen.slice(first).every(view => view.projection !== null)).toBe(true)
  expect(links.seen.map(link => link.kind)).toEqual(['connecting', 'connected', 'lost', 'connected'])
})

test('experience 10.1 a connection that ended for good is replaced, and what was open is opened on the next one', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const store = storeOf(leader.root, {
    connect: signal => connectLeader({ root: leader.root, surface: 'tui', signal, reconnect: false }),
  })
  const one = store.session('one')
  reading(one)
  reading(store.catalog)
  await waitFor(() => isLive(one) && isLive(store.catalog))
  const { connection } = store
  await leader.restart()
  await waitFor(() => isLive(one) && isLive(store.catalog))
  expect(store.connection).not.toBe(connection)
  await leader.startTurn('one', 'next', 'again')
  await waitFor(() => one.getSnapshot().projection?.rootTurn?.turnId === 'next')
})

test('experience 10.1 a session is opened by its first reader and closed a second after its last one', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const store = storeOf(leader.root)
  const one = store.session('one')
  const [first, second] = [reading(one), reading(one)]
  await waitFor(() => one.getSnapshot().projection?.presenceCount === 1)
  first.stop()
  second.stop()
  const opened = one.getSnapshot()
  const third = reading(one)
  await leader
    .ok('session.update', { sessionId: 'one', expectedRevision: 1, patch: { title: 'renamed' } })
    .catch(() => {})
  expect(opened.freshness.state).toBe('live')
  third.stop()
  await waitFor(() => one.getSnapshot().freshness.state === 'offline')
  expect(one.getSnapshot().projection).not.toBeNull()
  const watch = storeOf(leader.root)
  const watched = watch.session('one')
  reading(watched)
  await waitFor(() => watched.getSnapshot().projection?.presenceCount === 1)
})

test('experience 10.1 a session that is not there says so, appears when it is made, and goes when it is deleted', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const store = storeOf(leader.root)
  const [one, later] = [store.session('one'), store.session('later')]
  reading(one)
  reading(later)
  await waitFor(() => isLive(one) && later.getSnapshot().failure?.code === 'not_found')
  await leader.create('later')
  await waitFor(() => isLive(later))
  expect(later.getSnapshot()).toMatchObject({ failure: null, projection: { session: { sessionId: 'later' } } })
  const { revision } = (await leader.ok('session.get', { sessionId: 'one' })).session
  await leader.ok('session.delete', { sessionId: 'one', expectedRevision: revision })
  await waitFor(() => one.getSnapshot().failure?.code === 'not_found')
  expect(one.getSnapshot()).toMatchObject({ projection: null, freshness: { state: 'offline' } })
})

test('experience 5.1 a refusal that needs a person stops the looking, and retryNow asks again', async () => {
  const asked: number[] = []
  const range = { min: 9, max: 9, version: '9.0.0' }
  const store = storeOf('unused', {
    openOffline: async () => null,
    connect: async () => {
      asked.push(Date.now())
      return asked.length === 1
        ? { kind: 'incompatible', leader: range, replica: { min: 1, max: 1, version: '0.1.0' } }
        : { kind: 'unauthorized' }
    },
    surroundings: {
      random: () => 0,
      clock: { now: () => 0, after: () => expect.fail('nothing is waited for') },
    },
  })
  await waitFor(() => store.link.getSnapshot().kind === 'incompatible')
  expect(store.link.getSnapshot()).toEqual({ kind: 'incompatible', leader: '9.0.0', replica: '0.1.0' })
  store.retryNow()
  await waitFor(() => store.link.getSnapshot().kind === 'unauthorized')
  expect(asked).toHaveLength(2)
})

test('experience 5.1 looking again backs off up to ten seconds, and says when', async () => {
  const waits: number[] = []
  let run = (): void => {}
  const store = storeOf('unused', {
    openOffline: async () => null,
    connect: async () => ({ kind: 'unavailable', reason: 'no leader runs' }),
    wallNow: () => 5_000,
    surroundings: {
      random: () => 0.999,
      clock: {
        now: () => 0,
        after: (delayMs, due) => {
          waits.push(delayMs)
          run = due
          return () => {}
        },
      },
    },
  })
  for (let attempt = 1; attempt <= 10; attempt++) {
    await waitFor(() => waits.length === attempt)
    expect(store.link.getSnapshot()).toEqual({
      kind: 'lost',
      reason: 'no leader runs',
      since: 5_000,
      retryAt: 5_000 + (waits.at(-1) as number),
      freshness: { state: 'offline', asOf: null },
    })
    run()
  }
  expect(waits.map(wait => Math.round(wait / 100))).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100, 100])
})

test('experience 10.3 readers are told once for all that happened between two turns of the schedule', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const flushes: (() => void)[] = []
  const store = storeOf(leader.root, { schedule: flush => flushes.push(flush) })
  const one = store.session('one')
  const { seen } = reading(one)
  await waitFor(() => isLive(one))
  expect(seen).toHaveLength(1)
  expect(flushes).toHaveLength(1)
  flushes.shift()?.()
  expect(seen).toEqual([expect.anything(), one.getSnapshot()])
})

test('experience 10.1 a store with a connection of its maker closes nothing but what it opened', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const result = await connectLeader({ root: leader.root, surface: 'tui' })
  if (result.kind !== 'connected') throw new Error('not connected')
  const store = createReplicaStore({ connection: result.connection })
  const one = store.session('one')
  reading(one)
  await waitFor(() => isLive(one))
  await store.close()
  expect(store.link.getSnapshot()).toEqual({ kind: 'closed', reason: 'closed here' })
  expect((await result.connection.status()).connections).toBe(1)
  const other = createReplicaStore({ connection: result.connection })
  await result.connection.close()
  await waitFor(() => other.link.getSnapshot().kind === 'closed')
  await other.close()
})

test('O3 copies of another root are not shown, and go from the screen where another root answers', async () => {
  const leader = await startTestLeader()
  const other = new TestLeader(join(leader.root, '..', 'other'))
  onTestFinished(() => other.close())
  await other.start()
  await talked(leader, 'one')
  const first = storeOf(leader.root)
  const seen = first.session('one')
  reading(seen)
  reading(first.catalog)
  await waitFor(() => isLive(seen) && isLive(first.catalog))
  await first.close()
  let go = (): void => {}
  const mayConnect = new Promise<void>(resolve => {
    go = resolve
  })
  const store = storeOf(leader.root, {
    openOffline: () => openOffline({ root: leader.root }),
    connect: async signal => {
      await mayConnect
      return connectLeader({ root: other.root, surface: 'tui', signal })
    },
  })
  const one = store.session('one')
  reading(one)
  reading(store.catalog)
  await waitFor(() => one.getSnapshot().projection !== null && store.catalog.getSnapshot().rows?.length === 1)
  go()
  await waitFor(() => one.getSnapshot().failure?.code === 'not_found' && isLive(store.catalog))
  expect(one.getSnapshot()).toMatchObject({ projection: null, aside: null })
  expect(store.catalog.getSnapshot().rows).toEqual([])
  const late = store.session('late')
  reading(late)
  await waitFor(() => late.getSnapshot().failure?.code === 'not_found')
})
