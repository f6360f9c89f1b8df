import { Text } from 'ink'
import type { ReactNode } from 'react'
import { expect, onTestFinished, test } from 'vitest'
import { connectLeader, type LeaderConnection } from '../../replica/index.ts'
import {
  LeaderProvider,
  useCatalog,
  useCommand,
  useCommands,
  useFreshness,
  useLeader,
  useLink,
  usePending,
  useSession,
  useSessionSlice,
  useSessionView,
} from '../../replica/react/index.ts'
import { renderStrict } from '../support/react/rendered.tsx'
import { storeOf, talked } from '../support/react/screen-store.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

async function connected({ root }: TestLeader): Promise<LeaderConnection> {
  const result = await connectLeader({ root, surface: 'desktop' })
  if (result.kind !== 'connected') throw new Error(`not connected: ${result.kind}`)
  onTestFinished(() => result.connection.close())
  return result.connection
}

/** What a hook gave, one after the other, without what was given twice; and how often it was asked. */
interface Probe<T> {
  readonly values: T[]
  renders: number
  readonly node: ReactNode
}

/** A part of a screen that shows nothing but what a hook gives. */
function probe<T>(useIt: () => T): Probe<T> {
  const made: { values: T[]; renders: number } = { values: [], renders: 0 }
  return Object.assign(made, { node: <Probed useIt={useIt} into={made as Probe<unknown>} /> })
}

function Probed({
  useIt,
  into,
}: {
  readonly useIt: () => unknown
  readonly into: Pick<Probe<unknown>, 'values' | 'renders'>
}) {
  const value = useIt()
  into.renders += 1
  if (into.values.at(-1) !== value) into.values.push(value)
  return <Text>.</Text>
}

test('experience 10.1 hooks show two sessions and the catalog of a connection, and follow what happens', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  await talked(leader, 'two')
  const connection = await connected(leader)
  const one = probe(() => useSession('one'))
  const two = probe(() => useSession('two'))
  const catalog = probe(() => useCatalog().rows)
  const freshness = probe(() => useFreshness('one').state)
  const leaders = probe(useLeader)
  await renderStrict(
    <LeaderProvider connection={connection}>
      {one.node}
      {two.node}
      {catalog.node}
      {freshness.node}
      {leaders.node}
    </LeaderProvider>,
  )
  expect(leaders.values).toEqual([connection])
  await waitFor(() => one.values.at(-1) && two.values.at(-1) && catalog.values.at(-1))
  expect(catalog.values.at(-1)?.map(row => row.sessionId)).toEqual(['two', 'one'])
  await waitFor(() => freshness.values.at(-1) === 'live')
  const [before, shown] = [two.values.length, one.values.length]
  await leader.startTurn('one', 'next', 'again')
  await leader.ended('one', 'next')
  await waitFor(
    () => one.values.at(-1)?.rootTurn?.turnId === 'next' && one.values.at(-1)?.rootTurn?.status === 'completed',
  )
  expect(one.values.length).toBeGreaterThan(shown)
  expect(two.values).toHaveLength(before)
  await leader.close()
  await waitFor(() => freshness.values.at(-1) === 'offline')
  expect(one.values.at(-1)?.rootTurn?.turnId).toBe('next')
})

test('experience 10.1 strict mode mounts twice and closes nothing; leaving closes the session, not the connection', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const connection = await connected(leader)
  let opened = 0
  const open = connection.openSessionSubscription.bind(connection)
  connection.openSessionSubscription = input => {
    opened += 1
    return open(input)
  }
  const view = probe(() => useSessionView('one'))
  const rendered = await renderStrict(<LeaderProvider connection={connection}>{view.node}</LeaderProvider>)
  await waitFor(() => view.values.at(-1)?.freshness.state === 'live')
  expect(rendered.mounts).toBe(2)
  expect(opened).toBe(1)
  rendered.rerender(
    <LeaderProvider connection={connection}>
      <Text>elsewhere</Text>
    </LeaderProvider>,
  )
  rendered.rerender(<LeaderProvider connection={connection}>{view.node}</LeaderProvider>)
  await leader.startTurn('one', 'next', 'again')
  await waitFor(() => view.values.at(-1)?.projection?.rootTurn?.turnId === 'next')
  expect(opened).toBe(1)
  rendered.unmount()
  const watch = storeOf(leader.root)
  const session = watch.session('one')
  onTestFinished(session.subscribe(() => {}))
  await waitFor(() => session.getSnapshot().projection?.presenceCount === 1)
  expect((await connection.status()).rootId).toBe(connection.rootId)
})

test('experience 10.2 a slice is rendered again only when it is another one', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const connection = await connected(leader)
  const title = probe(() => useSessionSlice('one', ({ session }) => session.title))
  const numbers = probe(() =>
    useSessionSlice(
      'one',
      ({ transcript }) => ({ isLong: transcript.lastSeq > 100 }),
      (a, b) => a.isLong === b.isLong,
    ),
  )
  const whole = probe(() => useSession('one'))
  await renderStrict(
    <LeaderProvider connection={connection}>
      {title.node}
      {numbers.node}
      {whole.node}
    </LeaderProvider>,
  )
  await waitFor(() => whole.values.at(-1))
  const before = [title.renders, numbers.renders]
  await leader.startTurn('one', 'next', 'again')
  await leader.ended('one', 'next')
  await waitFor(() => whole.values.at(-1)?.rootTurn?.status === 'completed' && whole.values.length > 3)
  expect([title.renders, numbers.renders]).toEqual(before)
  expect(title.values).toEqual([null, 'hello'])
  expect(numbers.values).toEqual([null, { isLong: false }])
})

test('experience 5.3 a command says whether it can be run, why not, and what became of it', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  let go = (): void => {}
  const mayConnect = new Promise<void>(resolve => {
    go = resolve
  })
  const store = storeOf(leader.root, {
    connect: async signal => {
      await mayConnect
      return connectLeader({ root: leader.root, surface: 'tui', signal })
    },
  })
  const start = probe(() => useCommand('one', 'startTurn'))
  const rename = probe(() => useCommand('one', 'updateSession'))
  const nothing = probe(() => useCommand('nothing', 'startTurn'))
  await renderStrict(
    <LeaderProvider store={store}>
      {start.node}
      {rename.node}
      {nothing.node}
    </LeaderProvider>,
  )
  expect(start.values[0]).toMatchObject({ state: 'idle', canRun: false, reason: expect.stringContaining('connecting') })
  go()
  await waitFor(() => start.values.at(-1)?.canRun)
  const outcome = await start.values.at(-1)?.run({ turnId: 'next', content: { text: '/hold' } })
  expect(outcome).toMatchObject({ kind: 'done', result: { turn: { turnId: 'next' } } })
  await waitFor(() => start.values.at(-1)?.state === 'idle')
  expect(start.values.map(({ state }) => state)).toContain('sending')
  const refused = await start.values.at(-1)?.run({ content: { text: 'again' } })
  expect(refused).toMatchObject({ kind: 'refused', code: 'session_busy' })
  await waitFor(() => start.values.at(-1)?.state === 'refused')
  expect(start.values.at(-1)).toMatchObject({ canRun: true, reason: (refused as { message: string }).message })
  await waitFor(
    () => nothing.values.at(-1)?.canRun === false && nothing.values.at(-1)?.reason?.includes('nothing under this id'),
  )
  await leader.close()
  await waitFor(() => rename.values.at(-1)?.canRun === false)
  expect(rename.values.at(-1)).toMatchObject({ state: 'idle', reason: expect.stringContaining('until it is back') })
  expect(await rename.values.at(-1)?.run({ expectedRevision: 1, patch: { title: 'x' } })).toMatchObject({
    kind: 'refused',
    code: 'offline',
  })
})

test('experience 10.2 the commands of a session fill in who they are and go to the leader that is there', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const connection = await connected(leader)
  const commands = probe(() => useCommands('one'))
  const session = probe(() => useSession('one'))
  await renderStrict(
    <LeaderProvider connection={connection}>
      {commands.node}
      {session.node}
    </LeaderProvider>,
  )
  await waitFor(() => session.values.at(-1))
  expect(commands.values).toHaveLength(1)
  const [bound] = commands.values
  const sent = await bound?.submitMessage({ content: { text: '/hold' }, placement: 'next_turn' })
  expect(sent).toMatchObject({ disposition: 'turn_started' })
  await waitFor(() => session.values.at(-1)?.rootTurn?.status === 'running')
  const { turnId, runId } = session.values.at(-1)?.rootTurn ?? expect.fail('no turn')
  expect(await bound?.stopTurn({ turnId, runId })).toMatchObject({ status: 'cancelled' })
  await expect(bound?.archiveSession({ operationId: 'not an id' })).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await bound?.archiveSession({})).toMatchObject({ session: { isArchived: true } })
})

test('experience 10.2 what waits for a person is listed over all sessions, oldest first, and goes when it is answered', async () => {
  const leader = await startTestLeader()
  const connection = await connected(leader)
  for (const id of ['one', 'two']) {
    await leader.create(id)
    await leader.startTurn(id, `${id}-turn`, '/ask')
    await waitFor(
      async () =>
        (await leader.ok('turn.query', { sessionId: id, turnId: `${id}-turn` })).status === 'waiting_for_user',
    )
  }
  const pending = probe(usePending)
  const link = probe(() => useLink().kind)
  await renderStrict(
    <LeaderProvider connection={connection}>
      {pending.node}
      {link.node}
    </LeaderProvider>,
  )
  expect(pending.values[0]?.interactions).toBeNull()
  const shown = await waitFor(() => {
    const view = pending.values.at(-1)
    return view?.interactions?.length === 2 && view.freshness.state === 'live' ? view.interactions : null
  })
  expect(shown.map(({ sessionId }) => sessionId)).toEqual(['one', 'two'])
  const first = shown[0] ?? expect.fail('none')
  await leader.ok('turn.stop', { sessionId: 'one', turnId: 'one-turn', runId: first.runId })
  await waitFor(() => pending.values.at(-1)?.interactions?.length === 1)
  expect(pending.values.at(-1)?.interactions).toEqual([shown[1]])
  await leader.close()
  await waitFor(() => pending.values.at(-1)?.freshness.state === 'offline')
  expect(pending.values.at(-1)?.interactions?.map(({ sessionId }) => sessionId)).toEqual(['two'])
})
