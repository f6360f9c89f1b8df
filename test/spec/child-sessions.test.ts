import { expect, onTestFinished, test } from 'vitest'
import { readScript } from '../../leader/execution/scripted/script.ts'
import { connectLeader } from '../../replica/client/node/connect-leader.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { InteractionSnapshot } from '../../schema/entities/interaction.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { TextEntry } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import { HandBackend, type HandRun } from '../support/hand-backend.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

/** The children of a session, the oldest first. */
async function childrenOf(leader: TestLeader, sessionId: string): Promise<readonly SessionHeader[]> {
  const { sessions } = await leader.ok('session.list', { limit: 100 })
  return sessions.filter(each => each.parent?.sessionId === sessionId).sort((a, b) => a.createdAt - b.createdAt)
}

function onlyChild(leader: TestLeader, sessionId: string): Promise<SessionHeader> {
  return waitFor(async () => (await childrenOf(leader, sessionId))[0], { what: `a child of ${sessionId}` })
}

/** The newest turn of a session, from its ledger. */
async function newestTurn(leader: TestLeader, sessionId: string) {
  const events = (await leader.ledger(sessionId)).flatMap(record => record.events)
  const admitted = events.filter(each => each.type === 'turn_admitted').at(-1)
  const { turnId } = (admitted?.payload.admission ?? {}) as { turnId: string }
  return await leader.ok('turn.query', { sessionId, turnId })
}

/** What a turn answered. */
async function answerOf(leader: TestLeader, sessionId: string, turnId: string): Promise<string> {
  const { entries } = await leader.ok('transcript.page', { sessionId, limit: 100 })
  return entries
    .filter((entry): entry is TextEntry => entry.kind === 'assistant' && entry.turnId === turnId)
    .map(entry => entry.text)
    .join('')
}

/** A leader, and a run of session `p` whose backend the test plays. */
async function handLed(): Promise<{ leader: TestLeader; hand: HandBackend; parent: HandRun }> {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('p', 'hand')
  await leader.startTurn('p', 't1', 'x')
  return { leader, hand, parent: await hand.run('t1') }
}

function onlyPending(leader: TestLeader): Promise<InteractionSnapshot> {
  return waitFor(async () => (await leader.ok('interaction.list', {})).interactions[0], { what: 'a question' })
}

async function connect(leader: TestLeader, surface: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root: leader.root, surface, cache: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${result.kind}`)
  onTestFinished(() => result.connection.close())
  return result.connection
}

test('T13 F /child starts a linked child session, waits for it and reports its answer', async () => {
  const leader = await startTestLeader()
  await leader.ok('session.create', {
    sessionId: 'p',
    cwd: '/srv',
    backend: 'scripted',
    permissionMode: 'explore',
    model: 'm1',
  })
  await leader.startTurn('p', 't1', '/child bob')
  expect(await leader.ended('p', 't1')).toMatchObject({ status: 'completed' })
  expect(await answerOf(leader, 'p', 't1')).toBe('bob answered: hello from bob')
  const [child] = await childrenOf(leader, 'p')
  expect(child).toMatchObject({
    title: 'bob: hello from bob',
    titleIsManual: false,
    cwd: '/srv',
    backend: 'scripted',
    model: 'm1',
    permissionMode: 'explore',
    collaborationMode: 'agent',
    status: 'idle',
    parent: { sessionId: 'p', turnId: 't1', agentId: expect.any(String), agentName: 'bob' },
  })
})

test('T13 T8 a stopped turn has stopped its children, and theirs, when the stop is answered', async () => {
  const leader = await startTestLeader()
  await leader.create('p')
  const { runId } = await leader.startTurn('p', 't1', '/child bob /child kim /hold')
  const bob = await onlyChild(leader, 'p')
  const kim = await onlyChild(leader, bob.sessionId)
  await waitFor(async () => (await newestTurn(leader, kim.sessionId)).status === 'running')
  const stopped = await leader.ok('turn.stop', { sessionId: 'p', turnId: 't1', runId })
  expect(stopped).toMatchObject({ status: 'cancelled', abortSource: 'user_stop' })
  for (const { sessionId } of [bob, kim]) {
    expect(await newestTurn(leader, sessionId)).toMatchObject({ status: 'cancelled', abortSource: 'parent_stopped' })
    const ends = (await leader.transitions(sessionId)).flat().filter(type => type.startsWith('run_'))
    expect(ends).toEqual(['run_started', 'run_cancelled'])
  }
  expect((await leader.ok('root.verify', {})).faults).toEqual([])
})

test('T13 Q8 an interrupt stops children too, and closes what they ask', async () => {
  const leader = await startTestLeader()
  await leader.create('p')
  const { runId } = await leader.startTurn('p', 't1', '/child bob /ask')
  const asked = await onlyPending(leader)
  const bob = await onlyChild(leader, 'p')
  expect(asked).toMatchObject({ sessionId: bob.sessionId, status: 'pending' })
  await leader.ok('turn.interrupt', { sessionId: 'p', interruptId: 'i1', turnId: 't1', runId })
  expect(await newestTurn(leader, bob.sessionId)).toMatchObject({ status: 'cancelled', abortSource: 'parent_stopped' })
  const closed = await leader.ok('interaction.query', { interactionId: asked.interactionId })
  expect(closed).toMatchObject({ status: 'closed', outcome: { reason: 'turn_stopped' } })
})

test('T13 I4 a question of a child is answered like any other; its parent goes on', async () => {
  const leader = await startTestLeader()
  await leader.create('p')
  await leader.startTurn('p', 't1', '/child bob /ask')
  const asked = await onlyPending(leader)
  const bob = await onlyChild(leader, 'p')
  expect(bob.status).toBe('waiting_for_user')
  const answers = ['red', 'small', 'here'].map(label => ({ labels: [label] }))
  const answer = { kind: 'question' as const, answers }
  await leader.ok('interaction.answer', { interactionId: asked.interactionId, answer })
  expect(await leader.ended('p', 't1')).toMatchObject({ status: 'completed' })
  expect(await answerOf(leader, 'p', 't1')).toBe('bob answered: red / small / here')
})

test('T13 a run that fails stops its children first; one that completes leaves them running', async () => {
  const { leader, hand, parent } = await handLed()
  const first = await parent.context.spawnChild({ agentName: 'bob', content: { text: 'x' } })
  parent.fail(new Error('broken'))
  expect(await leader.ended('p', 't1')).toMatchObject({ status: 'failed', failureClass: 'backend_error' })
  expect(await newestTurn(leader, first.sessionId)).toMatchObject({ abortSource: 'parent_stopped' })
  expect(await first.ended).toMatchObject({ status: 'cancelled', abortSource: 'parent_stopped' })

  await leader.startTurn('p', 't2', 'x')
  const next = await hand.run('t2')
  const second = await next.context.children.start({ agentName: 'kim', content: { text: 'x' } })
  next.complete()
  expect(await leader.ended('p', 't2')).toMatchObject({ status: 'completed' })
  expect(await newestTurn(leader, second.sessionId)).toMatchObject({ status: 'running' })
  await expect(second.stop()).rejects.toThrow('the run is over')
  await expect(next.context.children.start({ agentName: 'x', content: { text: 'x' } })).rejects.toThrow(
    'the run is over',
  )
  ;(await hand.run(second.turnId)).complete()
  expect(await second.ended).toMatchObject({ status: 'completed' })
})

test('T13 T4 a run resumes and retries its child: the same session, whose runs say where they come from', async () => {
  const { leader, hand, parent } = await handLed()
  const { children } = parent.context
  const first = await children.start({ agentName: 'bob', agentId: 'agent-7', content: { text: 'look' } })
  const { sessionId, agentId, agentName } = first
  expect([agentId, agentName]).toEqual(['agent-7', 'bob'])
  await expect(children.resume({ sessionId, content: { text: 'y' } })).rejects.toMatchObject({ code: 'session_busy' })
  const played = await hand.run(first.turnId)
  await played.context.text('one', { messageId: 'a' })
  expect(await first.answer()).toBe('one')
  await played.context.text(' and', { messageId: 'a' })
  await played.context.text('two', { messageId: 'b' })
  expect(await first.answer()).toBe('one and\n\ntwo')
  played.fail(new Error('no network'))
  expect(await first.ended).toMatchObject({ status: 'failed' })

  const retried = await children.retry({ sessionId })
  const again = await hand.run(retried.turnId)
  expect([again.context.input, again.context.runId]).toEqual([{ text: 'look' }, retried.runId])
  await again.context.text('found', { messageId: 'c' })
  again.complete()
  await retried.ended
  expect(await retried.answer()).toBe('found')

  const resumed = await children.resume({ sessionId, content: { text: 'look closer' } })
  const third = await hand.run(resumed.turnId)
  expect(third.context.input).toEqual({ text: 'look closer' })
  third.complete()
  await resumed.ended
  parent.complete()
  await leader.ended('p', 't1')
  const users = (await leader.ledger(sessionId)).flatMap(r => r.events).filter(e => e.type === 'user_message_appended')
  expect(users.map(event => event.payload.content)).toEqual([{ text: 'look' }, { text: 'look closer' }])
  await leader.close()
  const runs = await leader.offline(async store => [
    await store.readRun(sessionId, retried.runId),
    await store.readRun(sessionId, resumed.runId),
  ])
  const agent = { agentId: 'agent-7', agentName: 'bob', status: 'completed' }
  expect(runs).toEqual([
    expect.objectContaining({ ...agent, retriedFromRunId: first.runId }),
    expect.objectContaining({ ...agent, resumedFromRunId: retried.runId }),
  ])
  expect([runs[0]?.resumedFromRunId, runs[1]?.retriedFromRunId]).toEqual([undefined, undefined])
})

test('T13 what is no message, no name or no child of this session is refused; the run goes on', async () => {
  const { leader, parent } = await handLed()
  await leader.create('other', 'hand')
  const { children } = parent.context
  const refusals: readonly [Promise<unknown>, object][] = [
    [
      children.start({ agentName: '', content: { text: 'x' } }),
      { code: 'invalid_request', detail: { path: 'agentName' } },
    ],
    [children.start({ agentName: 'b', content: { text: '' } }), { detail: { path: 'content.text' } }],
    [children.start({ agentName: 'b', agentId: 'no id', content: { text: 'x' } }), { detail: { path: 'agentId' } }],
    [children.start({ agentName: 'b', backend: 'none', content: { text: 'x' } }), { detail: { path: 'backend' } }],
    [children.retry({ sessionId: 'other' }), { code: 'not_found' }],
    [children.retry({ sessionId: 'nowhere' }), { code: 'not_found' }],
    [children.resume({ sessionId: 'p', content: { text: 'x' } }), { code: 'not_found' }],
  ]
  for (const [refused, error] of refusals) await expect(refused).rejects.toMatchObject(error)
  const missing = `sha256:${'0'.repeat(64)}`
  const attachments = [
    { kind: 'file' as const, name: 'n', mimeType: 'text/plain', bytes: 1, ref: { artifact: missing } },
  ]
  const absent = children.start({ agentName: 'b', content: { text: 'x', attachments } })
  await expect(absent).rejects.toMatchObject({ code: 'not_found', detail: { artifact: missing } })
  expect(await childrenOf(leader, 'p')).toEqual([])
  expect((await leader.ok('session.list', {})).sessions.map(each => each.sessionId).sort()).toEqual(['other', 'p'])
  parent.complete()
  expect(await leader.ended('p', 't1')).toMatchObject({ status: 'completed' })
})

test('T13 A7 a run has at most 64 children at once; one that has ended makes room', async () => {
  const { leader, hand, parent } = await handLed()
  const start = () => parent.context.children.start({ agentName: 'bob', content: { text: 'x' } })
  const started = await Promise.all(Array.from({ length: LIMITS.childrenPerRun }, start))
  await expect(start()).rejects.toMatchObject({ code: 'too_large' })
  const [first] = started
  ;(await hand.run(first?.turnId ?? '')).complete()
  await first?.ended
  await start()
  const { runId } = parent.context
  await leader.ok('turn.stop', { sessionId: 'p', turnId: 't1', runId })
  const { sessions } = await leader.ok('session.list', { limit: 100 })
  expect(sessions.map(each => each.status)).toEqual(sessions.map(() => 'idle'))
  expect(sessions).toHaveLength(LIMITS.childrenPerRun + 2)
})

test('T13 A7 children of children go at most 8 deep', async () => {
  const leader = await startTestLeader()
  await leader.create('p')
  const depth = LIMITS.childDepth + 1
  const prompt = Array.from({ length: depth }, (_, i) => `/child c${i + 1} `).join('')
  await leader.startTurn('p', 't1', `${prompt}hi`)
  expect(await leader.ended('p', 't1')).toMatchObject({ status: 'completed' })
  const { sessions } = await leader.ok('session.list', { limit: 100 })
  expect(sessions).toHaveLength(1 + LIMITS.childDepth)
  expect(await answerOf(leader, 'p', 't1')).toContain('c8 failed (backend_error)')
})

test('T13 E6 X14 a drain stops parents and children alike, and leaves nothing to recover', async () => {
  const leader = await startTestLeader()
  await leader.create('p')
  await leader.startTurn('p', 't1', '/child bob /hold')
  const bob = await onlyChild(leader, 'p')
  await waitFor(async () => (await newestTurn(leader, bob.sessionId)).status === 'running')
  await leader.submit(bob.sessionId, 'm1', 'next_turn')
  await leader.close()
  const before = await leader.offline(store => Promise.all(['p', bob.sessionId].map(id => store.readSession(id))))
  for (const { rootTurn } of before) {
    expect(rootTurn).toMatchObject({ status: 'cancelled', abortSource: 'leader_shutdown' })
  }
  expect(before[1]?.queue.parked).toMatchObject({ reason: 'leader_stopped' })
  await leader.start()
  for (const { session, revision } of before) expect(await leader.revision(session.sessionId)).toBe(revision)
})

test('T13 S7 two replicas, one on the parent and one on the child: both see it, and either may speak to the child', async () => {
  const leader = await startTestLeader()
  await leader.create('p')
  const [ada, bob] = [await connect(leader, 'desktop'), await connect(leader, 'tui')]
  const parent = await ada.openSessionSubscription({ sessionId: 'p' })
  const catalog = await ada.openCatalog()
  await ada.startTurn({ sessionId: 'p', turnId: 't1', content: { text: '/child kim /hold' } })
  const row = await waitFor(() => catalog.current.find(each => each.parent?.sessionId === 'p'))
  expect(row.parent).toEqual({ sessionId: 'p', turnId: 't1', agentId: expect.any(String), agentName: 'kim' })
  const child = await bob.openSessionSubscription({ sessionId: row.sessionId })
  await waitFor(() => child.current.rootTurn?.status === 'running')
  expect(parent.current.rootTurn).toMatchObject({ turnId: 't1', status: 'running' })
  const { hostEpoch: originHostEpoch } = bob
  const steer = { originHostEpoch, sessionId: row.sessionId, messageId: 'm1', content: { text: 'hurry' } }
  expect(await bob.submitMessage({ ...steer, placement: 'current_turn' })).toMatchObject({ disposition: 'steering' })
  await waitFor(() => child.current.transcript.entries.some(e => e.kind === 'assistant' && e.text.includes('hurry')))
  const { turnId = '', runId = '' } = child.current.rootTurn ?? {}
  await bob.stopTurn({ sessionId: row.sessionId, turnId, runId })
  await waitFor(() => parent.current.rootTurn?.status === 'completed')
  const said = parent.current.transcript.entries.filter((e): e is TextEntry => e.kind === 'assistant')
  expect(said.map(entry => entry.text).join('')).toMatch(/^kim was stopped \(user_stop\): .*hurry/s)
  const own = await bob.startTurn({ sessionId: row.sessionId, turnId: 'mine', content: { text: 'thanks' } })
  expect(own.turn).toMatchObject({ turnId: 'mine', status: 'running' })
})

test('F /child takes a name and the rest as its prompt; without a name it is any text', () => {
  const child = (prompt: string, agentName = 'bob') => ({ kind: 'child', agentName, prompt })
  expect(readScript('/child bob')).toEqual(child('hello from bob'))
  expect(readScript('/child bob ')).toEqual(child('hello from bob'))
  expect(readScript('/child bob /child kim /hold')).toEqual(child('/child kim /hold'))
  for (const text of ['/child', '/child ', '/children bob', ' /child bob']) {
    expect(readScript(text)).toEqual({ kind: 'reply', text })
  }
})
