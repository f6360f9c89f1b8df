import { expect, onTestFinished, test } from 'vitest'
import { connectLeader } from '../../replica/client/node/connect-leader.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

async function connect(leader: TestLeader, surface: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root: leader.root, surface, cache: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${result.kind}`)
  onTestFinished(() => result.connection.close())
  return result.connection
}

/** A leader with two replicas. */
async function twoReplicas(backends: readonly HandBackend[] = []) {
  const leader = await startTestLeader({ backends })
  return { leader, ada: await connect(leader, 'desktop'), bob: await connect(leader, 'tui') }
}

test('S5 V2 followers of a deleted session are told: a last frame, then session_removed; nobody can open it again', async () => {
  const { leader, ada, bob } = await twoReplicas()
  await leader.create('s')
  await leader.startTurn('s', 't1', 'hello')
  await leader.ended('s', 't1')
  const open = [
    await ada.openSessionSubscription({ sessionId: 's' }),
    await bob.openSessionSubscription({ sessionId: 's' }),
  ]
  const { revision } = (await ada.request('session.get', { sessionId: 's' })).session
  expect(await ada.request('session.delete', { sessionId: 's', expectedRevision: revision })).toEqual({
    kind: 'deleted',
  })
  for (const subscription of open) {
    const frames: unknown[] = []
    for await (const frame of subscription) frames.push(frame)
    expect(frames.at(-1)).toMatchObject({ kind: 'subscription.closed', reason: 'session_removed' })
    await expect(subscription[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'session_removed' })
  }
  await expect(bob.openSessionSubscription({ sessionId: 's' })).rejects.toMatchObject({ code: 'not_found' })
  await expect(bob.request('session.get', { sessionId: 's' })).rejects.toMatchObject({ code: 'not_found' })
  await expect(ada.createSession({ sessionId: 's', cwd: '/', backend: 'scripted' })).rejects.toMatchObject({
    code: 'operation_conflict',
  })
})

test('S6 S5 a fork shows its history at a replica, takes a turn at once, and outlives its source', async () => {
  const { leader, ada, bob } = await twoReplicas()
  await leader.create('s')
  await leader.startTurn('s', 't1', 'hello')
  await leader.ended('s', 't1')
  const { session } = await ada.request('session.fork', { sessionId: 's', fromTurnId: 't1', newSessionId: 'f' })
  expect(session).toMatchObject({ sessionId: 'f', title: 'hello', status: 'idle' })
  const followed = await bob.openSessionSubscription({ sessionId: 'f' })
  const texts = () => followed.current.transcript.entries.map(entry => ('text' in entry ? entry.text : entry.kind))
  expect(texts()).toEqual(['user', 'hello'])
  expect(followed.current).toMatchObject({ rootTurn: null, transcript: { firstSeq: 1, hasMore: false } })
  await ada.startTurn({ sessionId: 'f', turnId: 'own', content: { text: 'again' } })
  await waitFor(() => texts().at(-1) === 'again')
  const { revision } = (await ada.request('session.get', { sessionId: 's' })).session
  await bob.request('session.delete', { sessionId: 's', expectedRevision: revision })
  await leader.restart()
  const page = await leader.ok('transcript.page', { sessionId: 'f', limit: 10 })
  expect(page.entries.map(({ turnId }) => turnId)).toEqual(['t1', 't1', 'own', 'own'])
})

test('S5 T13 linked children go with their session, and theirs with them; while one of them runs nothing goes', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('p', hand.kind)
  await leader.startTurn('p', 't1', 'x')
  const parent = await hand.run('t1')
  const child = await parent.context.spawnChild({ agentName: 'child', content: { text: 'x' } })
  const childId = child.sessionId
  await waitFor(async () => (await leader.call('session.get', { sessionId: childId })).ok)
  const childRun = await waitFor(() => hand.runs.find(run => run.context.session.sessionId === childId))
  childRun.complete()
  parent.complete()
  await leader.ended('p', 't1')
  await leader.ok('turn.start', { sessionId: childId, turnId: 'own', content: { text: 'y' } })
  const removal = async () => {
    const { revision } = (await leader.ok('session.get', { sessionId: 'p' })).session
    return await leader.call('session.delete', { sessionId: 'p', operationId: 'd', expectedRevision: revision })
  }
  expect(await removal()).toMatchObject({ ok: false, error: { code: 'session_busy', detail: { sessionId: childId } } })
  ;(await hand.run('own')).complete()
  await leader.ended(childId, 'own')
  expect(await removal()).toMatchObject({ ok: true, result: { kind: 'deleted' } })
  for (const sessionId of ['p', childId]) {
    expect((await leader.refused('session.get', { sessionId })).code).toBe('not_found')
  }
  await leader.close()
  const faults = await leader.offline(async store => {
    const found: unknown[] = []
    for await (const fault of store.verify()) found.push(fault)
    return found
  })
  expect(faults).toEqual([])
})
