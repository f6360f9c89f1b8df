import { expect, test } from 'vitest'
import type { InteractionAnswer, InteractionSnapshot, PermissionRequest } from '../../schema/entities/interaction.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { LIMITS } from '../../schema/limits.ts'
import { HandBackend, type HandRun } from '../support/hand-backend.ts'
import { ADA, BOB, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

interface Stage {
  readonly leader: TestLeader
  readonly hand: HandBackend
  readonly run: HandRun
}

/** A session whose turn t1 runs. */
async function busy(permissionMode: SessionHeader['permissionMode'] = 'ask'): Promise<Stage> {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.ok('session.create', { sessionId: 's', cwd: '/', backend: 'hand', permissionMode })
  await leader.startTurn('s', 't1', 'first')
  return { leader, hand, run: await hand.run('t1') }
}

const QUESTIONS = { questions: [{ question: 'Which?', options: [{ label: 'a' }, { label: 'b' }], multiple: true }] }

const PERMISSION: Omit<PermissionRequest, 'kind'> = {
  toolCallId: 'c1',
  title: 'Edit a file',
  toolKind: 'edit',
  options: [
    { optionId: 'once', label: 'Once', kind: 'allow_once' },
    { optionId: 'always', label: 'Always', kind: 'allow_always' },
    { optionId: 'no', label: 'No', kind: 'reject_once' },
  ],
}

const answered = (...labels: string[]): InteractionAnswer => ({ kind: 'question', answers: [{ labels }] })

/** The pending interactions of all sessions, as soon as there are so many. */
function pending(leader: TestLeader, count: number): Promise<readonly InteractionSnapshot[]> {
  return waitFor(async () => {
    const { interactions } = await leader.ok('interaction.list', {})
    return interactions.length === count ? interactions : null
  })
}

const status = async (leader: TestLeader) => [
  (await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).status,
  (await leader.ok('session.get', { sessionId: 's' })).session.status,
]

test('I2 I3 a question is durable before its backend waits; the turn waits for the user and goes on after the answer', async () => {
  const { leader, run } = await busy()
  const asked = run.context.ask(QUESTIONS)
  const [snapshot] = await pending(leader, 1)
  const { interactionId, runId } = snapshot as InteractionSnapshot
  expect(snapshot).toEqual({
    interactionId,
    sessionId: 's',
    turnId: 't1',
    runId,
    revision: 1,
    request: { kind: 'question', ...QUESTIONS },
    status: 'pending',
    outcome: null,
  })
  expect(await leader.ok('interaction.query', { interactionId })).toEqual(snapshot)
  expect(await status(leader)).toEqual(['waiting_for_user', 'waiting_for_user'])
  const settled = await leader.ok('interaction.answer', { sessionId: 's', interactionId, answer: answered('a') }, BOB)
  const outcome = { kind: 'answer', answer: answered('a'), by: BOB, at: expect.any(Number) }
  expect(settled).toEqual({ ...snapshot, revision: 2, status: 'answered', outcome })
  expect(await asked).toMatchObject({ kind: 'answer', answer: answered('a'), by: BOB })
  expect(await status(leader)).toEqual(['running', 'running'])
})

test('I4 of answers that race one wins; an equal one is the same snapshot, also after a restart; another is refused', async () => {
  const { leader, hand, run } = await busy()
  const asked = run.context.ask(QUESTIONS)
  const [snapshot] = await pending(leader, 1)
  const interactionId = snapshot?.interactionId as string
  const say = (label: string, actor = ADA) =>
    leader.call('interaction.answer', { sessionId: 's', interactionId, answer: answered(label) }, actor)
  const answers = await Promise.all([say('a'), say('b', BOB), say('a', BOB), say('b')])
  const won = answers.flatMap(a => (a.ok ? [a.result as InteractionSnapshot] : []))
  const [snapshotOfWinner] = won
  const outcome = snapshotOfWinner?.outcome
  const chosen = outcome?.kind === 'answer' && outcome.answer.kind === 'question' ? outcome.answer.answers[0] : null
  const [same = '', other = ''] = chosen?.labels[0] === 'a' ? ['a', 'b'] : ['b', 'a']
  expect(won).toEqual([snapshotOfWinner, snapshotOfWinner])
  expect(await asked).toEqual(outcome)
  await leader.restart({ backends: [hand] })
  expect(await say(same)).toMatchObject({ ok: true, result: snapshotOfWinner })
  expect(await say(other)).toMatchObject({ status: 409, error: { code: 'already_resolved' } })
  const misfit = { interactionId, answer: { kind: 'permission', optionId: 'x' } }
  expect(await leader.call('interaction.answer', misfit)).toMatchObject({ error: { code: 'already_resolved' } })
})

test('I4 W2 unknown, of another session, misfit, malformed', async () => {
  const { leader, run } = await busy()
  await leader.create('other')
  void run.context.ask(QUESTIONS)
  const [snapshot] = await pending(leader, 1)
  const interactionId = snapshot?.interactionId as string
  const answer = answered('a')
  const refuse = async (input: object) => {
    const reply = await leader.call('interaction.answer', { interactionId, answer, ...input })
    return reply.ok ? 'ok' : [reply.error.code, reply.error.detail?.path]
  }
  expect(await refuse({ interactionId: 'nobody' })).toEqual(['not_found', undefined])
  expect(await refuse({ sessionId: 's', interactionId: 'nobody' })).toEqual(['not_found', undefined])
  expect(await refuse({ sessionId: 'other' })).toEqual(['not_found', undefined])
  expect(await refuse({ answer: answered('c') })).toEqual(['invalid_request', 'answer.answers[0].labels'])
  expect(await refuse({ answer: { kind: 'question', answers: [] } })).toEqual(['invalid_request', 'answer.answers'])
  expect(await refuse({ answer: { kind: 'permission', optionId: 'x' } })).toEqual(['invalid_request', 'answer.kind'])
  expect(await refuse({ answer: { kind: 'guess' } })).toEqual(['invalid_request', 'answer.kind'])
  expect(await refuse({ answer: { kind: 'question', answers: [{}] } })).toEqual([
    'invalid_request',
    'answer.answers[0].labels',
  ])
  expect((await leader.refused('interaction.query', { interactionId: 'nobody' })).code).toBe('not_found')
  expect((await leader.refused('interaction.query', { sessionId: 'other', interactionId })).code).toBe('not_found')
  expect(await refuse({})).toBe('ok')
})

test('I1 a request that does not fit is the backend’s failure; too many pending ones are refused to it', async () => {
  const { leader, run } = await busy()
  await expect(run.context.ask({ questions: [] })).rejects.toThrow('questions')
  await expect(run.context.form({ schema: { properties: { a: { type: 'object' } } } })).rejects.toThrow('schema')
  const long = 'x'.repeat(LIMITS.interactionTextChars)
  const options = Array.from({ length: 8 }, () => ({ label: long, description: long }))
  await expect(run.context.ask({ questions: [{ question: 'q', options }] })).rejects.toThrow('65536')
  for (let i = 0; i < LIMITS.interactionsPending; i++) void run.context.ask(QUESTIONS)
  await pending(leader, LIMITS.interactionsPending)
  await expect(run.context.ask(QUESTIONS)).rejects.toThrow('too many')
})

test('I5 an interaction expires after running time, if its backend said so', async () => {
  const { leader, run } = await busy()
  const outcome = await run.context.ask({ ...QUESTIONS, expiresInMs: 30 })
  expect(outcome).toMatchObject({ kind: 'closure', reason: 'expired' })
  expect(await status(leader)).toEqual(['running', 'running'])
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 5 })
  expect(page.entries.at(-1)).toMatchObject({ kind: 'interaction', outcome: { kind: 'closure', reason: 'expired' } })
})

test('I5 I6 a stop closes as turn_stopped, an end as turn_terminal; both stay queryable and in the transcript', async () => {
  const { leader, hand, run } = await busy()
  void run.context.ask(QUESTIONS)
  const [first] = await pending(leader, 1)
  run.complete()
  await leader.ended('s', 't1')
  const { runId } = await leader.startTurn('s', 't2', 'second')
  void (await hand.run('t2')).context.ask(QUESTIONS).catch(() => {})
  const [second] = await pending(leader, 1)
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't2', runId })
  await leader.restart({ backends: [hand] })
  const closed = [
    [first, 'turn_terminal'],
    [second, 'turn_stopped'],
  ] as const
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 10 })
  const entries = page.entries.filter(entry => entry.kind === 'interaction')
  for (const [i, [snapshot, reason]] of closed.entries()) {
    const interactionId = snapshot?.interactionId as string
    const settled = await leader.ok('interaction.query', { interactionId })
    expect(settled).toMatchObject({ revision: 2, status: 'closed', outcome: { kind: 'closure', reason } })
    expect(entries[i]).toMatchObject({ id: interactionId, interactionId, outcome: settled.outcome })
    const late = { interactionId, answer: answered('a') }
    expect((await leader.refused('interaction.answer', late)).code).toBe('already_resolved')
  }
  expect(await leader.ok('interaction.list', {})).toEqual({ interactions: [], nextCursor: null })
})

test('I7 bypass allows once without asking, and records it', async () => {
  const { leader, run } = await busy('bypass')
  const outcome = await run.context.requestPermission(PERMISSION)
  expect(outcome).toMatchObject({ kind: 'answer', answer: { kind: 'permission', optionId: 'once' }, by: 'leader' })
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 5 })
  const entry = page.entries.at(-1)
  expect(entry).toMatchObject({ kind: 'interaction', outcome })
  const { interactionId } = entry as { interactionId: string }
  expect(await leader.ok('interaction.query', { interactionId })).toMatchObject({ status: 'answered', outcome })
  expect((await leader.ok('interaction.list', {})).interactions).toEqual([])
  expect(await status(leader)).toEqual(['running', 'running'])
})

test('I7 explore lets reading through and refuses everything else without asking', async () => {
  const { leader, run } = await busy('explore')
  expect(await run.context.requestPermission({ ...PERMISSION, toolKind: 'read' })).toMatchObject({
    answer: { optionId: 'once' },
    by: 'leader',
  })
  expect(await run.context.requestPermission(PERMISSION)).toMatchObject({ answer: { optionId: 'no' }, by: 'leader' })
  void run.context.ask(QUESTIONS)
  await pending(leader, 1)
})

test('I7 always allow holds for this session and this tool, is listed, and can be taken back', async () => {
  const { leader, hand, run } = await busy()
  void run.context.requestPermission(PERMISSION)
  const [asked] = await pending(leader, 1)
  const answer = { kind: 'permission' as const, optionId: 'always' }
  await leader.ok('interaction.answer', { interactionId: asked?.interactionId as string, answer })
  const header = async () => (await leader.ok('session.get', { sessionId: 's' })).session
  expect(await header()).toMatchObject({ alwaysAllowed: ['edit'] })
  expect(await run.context.requestPermission(PERMISSION)).toMatchObject({ answer: { optionId: 'once' }, by: 'leader' })
  void run.context.requestPermission({ ...PERMISSION, toolKind: 'execute' })
  await pending(leader, 1)
  const { revision } = await header()
  const shorten = (alwaysAllowed: string[]) => ({
    sessionId: 's',
    expectedRevision: revision,
    patch: { alwaysAllowed },
  })
  expect(await leader.refused('session.update', shorten(['edit', 'execute']))).toMatchObject({
    code: 'invalid_request',
  })
  await leader.ok('session.update', shorten([]))
  void run.context.requestPermission(PERMISSION)
  await pending(leader, 2)
  await leader.create('other', 'hand')
  await leader.startTurn('other', 'other-1', 'x')
  void (await hand.run('other-1')).context.requestPermission(PERMISSION)
  await pending(leader, 3)
})

test('I7 the list of pending ones goes over all sessions, oldest first, and survives in nobody’s memory', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  const order: string[] = []
  for (const sessionId of ['b', 'a', 'c']) {
    await leader.create(sessionId, 'hand')
    const { turnId } = await leader.startTurn(sessionId, `turn-${sessionId}`, 'x')
    const { context } = await hand.run(turnId)
    for (const question of [`${sessionId}1`, `${sessionId}2`]) {
      const before = (await leader.ok('interaction.list', {})).interactions.length
      void context.ask({ questions: [{ question, options: [] }] }).catch(() => {})
      await pending(leader, before + 1)
      order.push(question)
      const now = Date.now()
      await waitFor(() => Date.now() > now)
    }
  }
  const { interactions } = await leader.ok('interaction.list', {})
  const asked = interactions.map(i => (i.request.kind === 'question' ? i.request.questions[0]?.question : ''))
  expect(asked).toEqual(order)
})
