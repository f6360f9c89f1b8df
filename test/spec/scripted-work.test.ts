import { expect, test } from 'vitest'
import { createScriptedBackend } from '../../leader/execution/scripted/scripted.ts'
import type { Result } from '../../schema/commands/index.ts'
import type { InteractionAnswer } from '../../schema/entities/interaction.ts'
import type { PlanProposal } from '../../schema/entities/plan.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { PLANNED, planOf, plantPlans } from '../support/planted-plans.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

type Page = Extract<Result<'plan.query'>, { kind: 'page' }>

async function open(modes: Partial<Pick<SessionHeader, 'permissionMode' | 'collaborationMode'>> = {}) {
  const leader = await startTestLeader()
  await leader.ok('session.create', { sessionId: 's', cwd: '/', backend: 'scripted', ...modes })
  return leader
}

/** What a turn's run answered. */
async function answerOf(leader: TestLeader, turnId: string, sessionId = 's'): Promise<string> {
  const { entries } = await leader.ok('transcript.page', { sessionId, limit: 200 })
  return entries
    .filter(entry => entry.kind === 'assistant' && entry.turnId === turnId)
    .map(entry => (entry.kind === 'assistant' ? entry.text : ''))
    .join('')
}

/** Plays a prompt to its end and gives the answer. */
async function play(leader: TestLeader, turnId: string, text: string): Promise<string> {
  await leader.startTurn('s', turnId, text)
  expect(await leader.ended('s', turnId)).toMatchObject({ status: 'completed' })
  return answerOf(leader, turnId)
}

async function plans(leader: TestLeader, sessionId = 's'): Promise<Page> {
  return (await leader.ok('plan.query', { kind: 'list_start', sessionId })) as Page
}

async function proposalIn(leader: TestLeader, sessionId = 's'): Promise<PlanProposal> {
  const { items } = await plans(leader, sessionId)
  const latest = items.flatMap(item => (item.kind === 'proposal' ? [item.proposal] : [])).at(-1)
  if (latest === undefined) throw new Error('nothing is proposed')
  return latest
}

/** Approves the latest proposal with a turn. */
async function carryOut(leader: TestLeader, turnId: string, sessionId = 's'): Promise<string> {
  const { proposalId, revision: expectedRevision } = await proposalIn(leader, sessionId)
  const { storeVersion: expectedStoreVersion } = await plans(leader, sessionId)
  const started = await leader.ok('plan.turn.start', {
    kind: 'approve_proposal',
    sessionId,
    proposalId,
    expectedRevision,
    expectedStoreVersion,
    turnId,
  })
  return started.plan.executionId ?? ''
}

async function executionIn(leader: TestLeader, sessionId = 's') {
  return (await plans(leader, sessionId)).items
    .flatMap(item => (item.kind === 'execution' ? [item.execution] : []))
    .at(-1)
}

const stepEvents = async (leader: TestLeader) =>
  (await leader.ledger('s'))
    .flatMap(record => record.events)
    .filter(event => /^plan_(progress_updated|execution_completed)$/.test(event.type))
    .map(({ type, payload }) => [type, ...(payload.steps as { status: string }[]).map(step => step.status)])

test('F /plan in plan mode proposes three steps titled Scripted plan, and again revises them', async () => {
  const leader = await open({ collaborationMode: 'plan' })
  expect(await play(leader, 't1', '/plan')).toBe('proposed: Scripted plan (revision 1)')
  const first = await proposalIn(leader)
  expect(first).toMatchObject({ title: 'Scripted plan', revision: 1, status: 'pending_approval', turnId: 't1' })
  expect(first.steps).toHaveLength(3)
  expect(await play(leader, 't2', '/plan')).toBe('proposed: Scripted plan (revision 2)')
  expect(await proposalIn(leader)).toMatchObject({ planId: first.planId, supersedesProposalId: first.proposalId })
  expect(await play(leader, 't3', '/plan now')).toBe('/plan now')
})

test('F /plan outside plan mode is any text and proposes nothing', async () => {
  const leader = await open()
  expect(await play(leader, 't1', '/plan')).toBe('/plan')
  expect(await plans(leader)).toMatchObject({ storeVersion: 0, items: [] })
})

test('F P5 the turn of a scripted plan marks its steps one by one', async () => {
  const leader = await open({ collaborationMode: 'plan' })
  await play(leader, 't1', '/plan')
  await carryOut(leader, 't2')
  expect(await leader.ended('s', 't2')).toMatchObject({ status: 'completed' })
  expect(await stepEvents(leader)).toEqual([
    ['plan_progress_updated', 'in_progress', 'pending', 'pending'],
    ['plan_progress_updated', 'completed', 'pending', 'pending'],
    ['plan_progress_updated', 'completed', 'in_progress', 'pending'],
    ['plan_progress_updated', 'completed', 'completed', 'pending'],
    ['plan_progress_updated', 'completed', 'completed', 'in_progress'],
    ['plan_execution_completed', 'completed', 'completed', 'completed'],
  ])
  expect(await executionIn(leader)).toMatchObject({ status: 'completed', title: 'Scripted plan' })
  expect(await answerOf(leader, 't2')).toBe('Scripted plan: 3 of 3 steps completed')
  expect((await leader.ok('session.get', { sessionId: 's' })).session.collaborationMode).toBe('agent')
})

test('F P7 a scripted plan that was stopped goes on where it was, when it is resumed', async () => {
  const clock = new FakeClock()
  const leader = await startTestLeader({ backends: [createScriptedBackend({ clock, kind: 'paced' })] })
  await leader.ok('session.create', { sessionId: 's', cwd: '/', backend: 'paced', collaborationMode: 'plan' })
  await play(leader, 't1', '/plan')
  const executionId = await carryOut(leader, 't2')
  await waitFor(async () => {
    await clock.advance(45)
    return (await executionIn(leader))?.steps[0]?.status === 'completed'
  })
  const { runId } = await leader.ok('turn.query', { sessionId: 's', turnId: 't2' })
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't2', runId })
  const stopped = await executionIn(leader)
  expect(stopped).toMatchObject({ status: 'interrupted', interruptionReason: 'turn_cancelled' })
  const before = (await stepEvents(leader)).length
  expect(before).toBeLessThan(6)
  await leader.ok('plan.turn.start', { kind: 'resume_execution', sessionId: 's', executionId, turnId: 't3' })
  const ended = await waitFor(async () => {
    await clock.advance(45)
    const turn = await leader.ok('turn.query', { sessionId: 's', turnId: 't3' })
    return 'terminalEventId' in turn ? turn : null
  })
  expect(ended).toMatchObject({ status: 'completed' })
  expect((await stepEvents(leader)).slice(before).every(([, first]) => first === 'completed')).toBe(true)
  expect(await executionIn(leader)).toMatchObject({ executionId, status: 'completed' })
})

test('F the turn of any other plan is any text and leaves the steps alone', async () => {
  const leader = await startTestLeader({ plant: store => plantPlans(store, [planOf('Fix it', 'a', 'b')]) })
  await carryOut(leader, 't2', PLANNED)
  expect(await leader.ended(PLANNED, 't2')).toMatchObject({ status: 'completed' })
  expect(await answerOf(leader, 't2', PLANNED)).toBe('Carry out the approved plan: Fix it')
  expect(await executionIn(leader, PLANNED)).toMatchObject({ status: 'active', steps: [{ status: 'pending' }, {}] })
})

test('F P1 /plan while a plan is being carried out tells the refusal', async () => {
  const leader = await startTestLeader({ plant: store => plantPlans(store, [planOf('Fix it', 'a', 'b')]) })
  await carryOut(leader, 't2', PLANNED)
  await leader.ended(PLANNED, 't2')
  const { session } = await leader.ok('session.get', { sessionId: PLANNED })
  const patch = { collaborationMode: 'plan' as const }
  await leader.ok('session.update', { sessionId: PLANNED, expectedRevision: session.revision, patch })
  await leader.startTurn(PLANNED, 't3', '/plan')
  expect(await leader.ended(PLANNED, 't3')).toMatchObject({ status: 'completed' })
  expect(await answerOf(leader, 't3', PLANNED)).toBe('refused: a plan is being carried out')
})

test('F K2 /tasks creates three tasks and works through them, one by one, and three more the next time', async () => {
  const leader = await open()
  expect(await play(leader, 't1', '/tasks')).toBe('completed: T1 Look around, T2 Change it, T3 Check it')
  const query = { kind: 'list_start', sessionId: 's' } as const
  const page = await leader.ok('task.ledger.query', query)
  const tasks = page.kind === 'page' ? page.tasks : []
  expect(tasks.map(({ key, status, completionEvidence }) => [key, status, completionEvidence])).toEqual(
    ['T1', 'T2', 'T3'].map(key => [key, 'completed', 'the script says so']),
  )
  const changes = (await leader.ledger('s'))
    .flatMap(record => record.events)
    .filter(event => event.type.startsWith('task_'))
    .map(({ payload }) => (payload.task as { key: string; status: string }).key)
  expect(changes).toEqual(['T1', 'T2', 'T3', 'T1', 'T1', 'T2', 'T2', 'T3', 'T3'])
  expect(await play(leader, 't2', '/tasks')).toBe('completed: T4 Look around, T5 Change it, T6 Check it')
})

/** Answers the only pending interaction of the session. */
async function answer(leader: TestLeader, given: InteractionAnswer): Promise<void> {
  const [pending] = await waitFor(async () => {
    const { interactions } = await leader.ok('interaction.list', {})
    return interactions.length > 0 ? interactions : null
  })
  const { interactionId } = pending as { interactionId: string }
  await leader.ok('interaction.answer', { sessionId: 's', interactionId, answer: given })
}

test('F /ask waits for its three answers and joins them', async () => {
  const leader = await open()
  await leader.startTurn('s', 't1', '/ask')
  const answers = [{ labels: ['blue'] }, { labels: ['small'] }, { labels: ['there'] }]
  await answer(leader, { kind: 'question', answers })
  expect(await leader.ended('s', 't1')).toMatchObject({ status: 'completed' })
  expect(await answerOf(leader, 't1')).toBe('blue / small / there')
})

test.each([
  ['allow-always', 'permission: allow_always', 'completed'],
  ['reject-always', 'permission: reject_always', 'failed'],
])('F I7 /permission that is answered %s reports it', async (optionId, text, status) => {
  const leader = await open()
  await leader.startTurn('s', 't1', '/permission')
  await answer(leader, { kind: 'permission', optionId })
  expect(await leader.ended('s', 't1')).toMatchObject({ status: 'completed' })
  expect(await answerOf(leader, 't1')).toBe(text)
  const { entries } = await leader.ok('transcript.page', { sessionId: 's', limit: 200 })
  expect(entries.filter(entry => entry.kind === 'tool')).toMatchObject([{ status }])
})

test.each([
  ['explore', 'permission: reject_once', 'failed'],
  ['bypass', 'permission: allow_once', 'completed'],
] as const)(
  'F I7 /permission under %s is decided without a person, and reports the decision',
  async (mode, text, status) => {
    const leader = await open({ permissionMode: mode })
    expect(await play(leader, 't1', '/permission')).toBe(text)
    const { entries } = await leader.ok('transcript.page', { sessionId: 's', limit: 200 })
    expect(entries.filter(entry => entry.kind === 'tool')).toMatchObject([{ status }])
    expect((await leader.ok('interaction.list', {})).interactions).toEqual([])
  },
)
