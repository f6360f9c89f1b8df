import { expect, onTestFinished, test } from 'vitest'
import type { LeaderConnection, SessionSubscription, SubscriptionFrame } from '../../replica/client/types.ts'
import { connectLeader } from '../../replica/index.ts'
import type { Input, Result } from '../../schema/commands/index.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { PLANNED, planOf, plantPlans } from '../support/planted-plans.ts'
import { ADA, BOB, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor, within } from '../support/wait-for.ts'

type Start = Input<'plan.turn.start'>
type Page = Extract<Result<'plan.query'>, { kind: 'page' }>

async function plannedLeader(contents = [planOf('Fix it', 'a', 'b')]) {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand], plant: store => plantPlans(store, contents, hand.kind) })
  return { hand, leader }
}

async function replica(leader: TestLeader, surface: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root: leader.root, surface, cache: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${result.kind}`)
  onTestFinished(() => result.connection.close())
  return result.connection
}

async function page(leader: TestLeader): Promise<Page> {
  return (await leader.ok('plan.query', { kind: 'list_start', sessionId: PLANNED })) as Page
}

async function approval(leader: TestLeader, turnId: string): Promise<Start> {
  const { latestProposalId, storeVersion, items } = await page(leader)
  const latest = items.flatMap(item => (item.kind === 'proposal' ? [item.proposal] : [])).at(-1)
  return {
    kind: 'approve_proposal',
    sessionId: PLANNED,
    proposalId: latestProposalId ?? '',
    expectedRevision: latest?.revision ?? 0,
    expectedStoreVersion: storeVersion,
    turnId,
  }
}

/** The same approval without a turn. */
function controlOf(start: Start, operationId: string): Input<'plan.control'> {
  const { turnId: _turnId, ...rest } = start
  return { ...rest, operationId } as Input<'plan.control'>
}

/** What happens until the next frame about a domain, as its kinds. */
async function untilDomain(frames: AsyncIterator<SubscriptionFrame>): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  for (;;) {
    const { value } = (await frames.next()) as { value: SubscriptionFrame }
    const kind = value.kind.replace('subscription.session_', '')
    seen.push('domain' in value ? [kind, value.domain, value.revision] : [kind, value.revision])
    if ('domain' in value) return seen
  }
}

const executionsIn = ({ items }: Page) => items.flatMap(item => (item.kind === 'execution' ? [item.execution] : []))
const planIn = ({ current }: SessionSubscription) => current.plan

test('P10 P13 A5 V3 one replica approves once, another is told, and a replay gives the original answer after a restart too', async () => {
  const { hand, leader } = await plannedLeader()
  const ada = await replica(leader, 'desktop')
  const bob = await replica(leader, 'tui')
  const seen = await bob.openSessionSubscription({ sessionId: PLANNED })
  const frames = seen[Symbol.asyncIterator]()
  const start = await approval(leader, 't2')
  const approved = await ada.startPlanTurn(start)
  const executionId = approved.plan.executionId ?? ''
  expect(approved).toEqual({
    plan: {
      sessionId: PLANNED,
      storeVersion: 2,
      eventType: 'plan_approved',
      proposalId: start.kind === 'approve_proposal' ? start.proposalId : '',
      executionId: expect.stringMatching(/^execution-000000000002-/),
    },
    turn: { sessionId: PLANNED, turnId: 't2', runId: expect.any(String), status: 'running' },
  })
  const told = await within(untilDomain(frames), 2_000, 'the other replica to be told')
  expect(told.slice(-2)).toEqual([
    ['projection', expect.any(Number)],
    ['domain_changed', 'plan', expect.any(Number)],
  ])
  expect((told.at(-1) as unknown[])[2]).toBe((told.at(-2) as unknown[])[1])
  await waitFor(() => planIn(seen).activeExecution?.executionId === executionId)
  expect((await hand.run('t2')).context.input).toEqual({ text: 'Carry out the approved plan: Fix it' })
  expect(await bob.startPlanTurn(start)).toEqual(approved)
  expect(await page(leader)).toMatchObject({ storeVersion: 2, activeExecutionId: executionId })

  await leader.restart({ backends: [hand] })
  const after = await page(leader)
  expect(after).toMatchObject({ storeVersion: 3, activeExecutionId: null })
  expect(executionsIn(after)).toMatchObject([
    { executionId, status: 'interrupted', interruptionReason: 'leader_stopped' },
  ])
  const again = await leader.ok('plan.turn.start', start)
  expect(again).toEqual({ plan: approved.plan, turn: expect.objectContaining({ turnId: 't2', status: 'cancelled' }) })
  // The turn of the approval cannot become that of a resumption.
  const wrong: Start = { kind: 'resume_execution', sessionId: PLANNED, executionId, turnId: 't2' }
  expect((await leader.refused('plan.turn.start', wrong)).code).toBe('operation_conflict')
  expect(await page(leader)).toEqual(after)
  const resumed = await leader.ok('plan.turn.start', { ...wrong, turnId: 't3' })
  expect(resumed.plan).toMatchObject({ storeVersion: 4, eventType: 'plan_execution_resumed', executionId })
  const run = await hand.run('t3')
  expect(run.context.input).toEqual({ text: 'Resume the plan: Fix it' })
  expect(await page(leader)).toMatchObject({ storeVersion: 4, activeExecutionId: executionId })
  run.complete()
  await leader.ended(PLANNED, 't3')
  expect(await page(leader)).toMatchObject({ storeVersion: 4, activeExecutionId: executionId })
  await waitFor(() => planIn(seen).storeVersion === 4 && seen.current.rootTurn?.turnId === 't3')
})

test('P10 two clients approve at once: there is one execution and one turn', async () => {
  const { leader } = await plannedLeader()
  const starts = await Promise.all(['ta', 'tb', 'tc', 'td'].map(turnId => approval(leader, turnId)))
  const answers = await Promise.all(
    starts.map((start, i) => leader.call('plan.turn.start', start, i % 2 === 0 ? ADA : BOB)),
  )
  const lost = answers.flatMap(answer => (answer.ok ? [] : [answer.error.code]))
  expect(lost.length).toBe(3)
  for (const code of lost) expect(['session_busy', 'operation_conflict']).toContain(code)
  const facts = (await leader.transitions(PLANNED)).flat()
  expect(facts.filter(type => type === 'plan_approved').length).toBe(1)
  expect(facts.filter(type => type === 'turn_admitted').length).toBe(2)
  expect(executionsIn(await page(leader)).length).toBe(1)
})

test('P4 P9 two clients approve without a turn: the second is told how the plan is', async () => {
  const { leader } = await plannedLeader()
  const start = await approval(leader, 'none')
  const [first, second] = await Promise.all([
    leader.call('plan.control', controlOf(start, 'o1'), ADA),
    leader.call('plan.control', controlOf(start, 'o2'), BOB),
  ])
  expect(first).toMatchObject({ ok: true, result: { eventType: 'plan_approved', storeVersion: 2 } })
  expect(second).toMatchObject({
    ok: false,
    status: 409,
    error: { code: 'operation_conflict', detail: { storeVersion: 2, activeExecutionId: expect.any(String) } },
  })
})

test('P4 an approval of what is not the latest any more changes nothing', async () => {
  const { leader } = await plannedLeader([planOf('One', 'a'), planOf('Two', 'a', 'b')])
  const start = await approval(leader, 't2')
  const before = await leader.revision(PLANNED)
  const stale = [
    { ...start, expectedRevision: 1 },
    { ...start, expectedStoreVersion: 1 },
    { ...start, proposalId: 'proposal-000000000001-aaaaaaaa' },
  ] as Start[]
  for (const input of stale) {
    const error = await leader.refused('plan.turn.start', input)
    expect(error).toMatchObject({
      code: 'operation_conflict',
      detail: {
        revision: 2,
        storeVersion: 2,
        latestProposalId: 'proposal-000000000002-aaaaaaaa',
        activeExecutionId: null,
      },
    })
  }
  expect(await leader.revision(PLANNED)).toBe(before)
  expect((await page(leader)).items).toMatchObject([
    { proposal: { status: 'stale', title: 'One' } },
    { proposal: { status: 'pending_approval', title: 'Two' } },
  ])
})

test('P9 A5 a replay gives the answer it got, however far the plan is, and while a turn runs', async () => {
  const { leader } = await plannedLeader()
  const start = await approval(leader, 'none')
  const input = controlOf(start, 'o1')
  const approved = await leader.ok('plan.control', input)
  await leader.startTurn(PLANNED, 't2', 'go')
  const cancel: Input<'plan.control'> = {
    kind: 'cancel_execution',
    sessionId: PLANNED,
    operationId: 'o2',
    executionId: approved.executionId ?? '',
  }
  expect((await leader.refused('plan.control', cancel)).code).toBe('session_busy')
  expect(await leader.ok('plan.control', input)).toEqual(approved)
  const { runId } = await leader.ok('turn.query', { sessionId: PLANNED, turnId: 't2' })
  await leader.ok('turn.stop', { sessionId: PLANNED, turnId: 't2', runId })
  expect(executionsIn(await page(leader))).toMatchObject([
    { status: 'interrupted', interruptionReason: 'turn_cancelled' },
  ])
  expect(await leader.ok('plan.control', cancel)).toMatchObject({
    eventType: 'plan_execution_cancelled',
    storeVersion: 4,
  })
  expect(await leader.ok('plan.control', input)).toEqual(approved)
  expect((await leader.refused('plan.control', { ...cancel, operationId: 'o1' })).code).toBe('operation_conflict')
})

test('P7 P8 an execution that newer ones have followed is found, on the disk and before it is there', async () => {
  const { leader } = await plannedLeader()
  const approved = await leader.ok('plan.control', controlOf(await approval(leader, 'none'), 'o1'))
  const first = approved.executionId ?? ''
  const [planned] = (await page(leader)).items.flatMap(item => (item.kind === 'proposal' ? [item.proposal] : []))
  await leader.close()
  // Another plan, proposed in a turn of its own while nobody served the root.
  await leader.offline(async store => {
    const run = { sessionId: PLANNED, runId: 'r1' }
    await store.appendRunEvent({
      ...run,
      type: 'plan_execution_interrupted',
      payload: { executionId: first, reason: 'leader_stopped' },
    })
    const proposal = { ...planned, proposalId: 'proposal-000000000004-bbbbbbbb', status: 'pending_approval' }
    await store.appendRunEvent({ ...run, type: 'plan_submitted', payload: { proposal } })
  })
  await leader.start({ backends: [new HandBackend()] })
  const second = await leader.ok('plan.control', controlOf(await approval(leader, 'none'), 'o2'))
  const resume = { kind: 'resume_execution', sessionId: PLANNED, executionId: first } as const
  expect((await leader.refused('plan.control', { ...resume, operationId: 'o3' })).code).toBe('operation_conflict')
  const cancel = { kind: 'cancel_execution', sessionId: PLANNED, executionId: first } as const
  const [cancelled, again] = await Promise.all([
    leader.call('plan.control', { ...cancel, operationId: 'o4' }),
    leader.call('plan.control', { ...cancel, operationId: 'o5' }),
  ])
  expect([cancelled.ok, again.ok]).toEqual([true, false])
  expect(await page(leader)).toMatchObject({ activeExecutionId: second.executionId })
  expect(executionsIn(await page(leader)).map(({ status }) => status)).toEqual(['cancelled', 'active'])
})

test('E6 X14 P11 a leader that stops interrupts the plan of a session at rest, and leaves nothing to recover', async () => {
  const { leader } = await plannedLeader()
  const approved = await leader.ok('plan.control', controlOf(await approval(leader, 'none'), 'o1'))
  const revision = await leader.revision(PLANNED)
  await leader.restart({ backends: [new HandBackend()] })
  const records = (await leader.ledger(PLANNED)).slice(revision)
  expect(records).toMatchObject([
    {
      actor: 'leader',
      events: [
        {
          type: 'plan_execution_interrupted',
          payload: { executionId: approved.executionId, reason: 'leader_stopped' },
        },
      ],
    },
  ])
})

test('P12 pages: proposals, then executions, oldest first, as they are at one version', async () => {
  const contents = Array.from({ length: 20 }, (_, i) => planOf(`Plan ${i + 1}`, 'a'))
  const { leader } = await plannedLeader(contents)
  await leader.ok('plan.control', controlOf(await lastApproval(leader), 'o1'))
  const first = await page(leader)
  expect(first.items.length).toBe(16)
  expect(first.items).toMatchObject(
    contents.slice(0, 16).map(({ title }) => ({ kind: 'proposal', proposal: { title } })),
  )
  const next = {
    kind: 'list_continue',
    sessionId: PLANNED,
    storeVersion: first.storeVersion,
    cursor: first.nextCursor ?? '',
  } as const
  const second = (await leader.ok('plan.query', next)) as Page
  expect(second).toMatchObject({ storeVersion: 21, latestProposalId: first.latestProposalId, nextCursor: null })
  expect(second.items).toMatchObject([
    ...contents.slice(16).map(({ title }) => ({ kind: 'proposal', proposal: { title } })),
    { kind: 'execution', execution: { title: 'Plan 20', status: 'active' } },
  ])
  const statuses = [...first.items, ...second.items].map(
    item => (item.kind === 'proposal' ? item.proposal : item.execution).status,
  )
  expect(statuses).toEqual([...Array(19).fill('stale'), 'approved', 'active'])
  for (const cursor of ['nonsense', 'p.proposal-000000000099-aaaaaaaa', `x.${first.latestProposalId}`, 'p.!']) {
    expect((await leader.refused('plan.query', { ...next, cursor })).code).toBe('invalid_request')
  }
  expect(await leader.ok('plan.query', { ...next, storeVersion: 20 })).toEqual({
    kind: 'revision_changed',
    expected: 20,
    actual: 21,
  })
  expect((await leader.refused('plan.query', { kind: 'list_start', sessionId: 'nobody' })).code).toBe('not_found')
})

async function lastApproval(leader: TestLeader): Promise<Start> {
  const { latestProposalId, storeVersion } = await page(leader)
  return {
    kind: 'approve_proposal',
    sessionId: PLANNED,
    proposalId: latestProposalId ?? '',
    expectedRevision: 20,
    expectedStoreVersion: storeVersion,
    turnId: 'none',
  }
}

test('P9 S7 L2 the catalog shows how far the plan is, the transcript what became of it and by whom', async () => {
  const { leader } = await plannedLeader()
  const ada = await replica(leader, 'desktop')
  const catalog = await ada.openCatalog()
  const session = await ada.openSessionSubscription({ sessionId: PLANNED })
  expect(catalog.current).toMatchObject([{ sessionId: PLANNED }])
  expect(catalog.current[0]).not.toHaveProperty('plan')
  await ada.controlPlan(controlOf(await approval(leader, 'none'), 'o1'))
  await waitFor(() => catalog.current[0]?.plan !== undefined, { what: 'the plan in the catalog' })
  expect(catalog.current[0]?.plan).toEqual({ done: 0, total: 2 })
  const said = session.current.transcript.entries.flatMap(entry => (entry.kind === 'plan' ? [entry] : []))
  expect(said).toMatchObject([
    { turnId: 't1', runId: 'r1', event: 'plan_submitted', text: 'Plan proposed: Fix it (revision 1)' },
    { turnId: 't1', event: 'plan_approved', text: 'Plan approved: Fix it (revision 1)', by: { surface: 'desktop' } },
  ])
})
