import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { PLAN_TOOLS, TASK_TOOLS } from '../../leader/execution/tools/run-tools.ts'
import type { RunContext } from '../../leader/index.ts'
import type { Result } from '../../schema/commands/index.ts'
import { canonicalDigest } from '../../schema/digest.ts'
import type { PlanExecution, PlanProposal } from '../../schema/entities/plan.ts'
import { LIMITS } from '../../schema/limits.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { planOf } from '../support/planted-plans.ts'
import { startTestLeader } from '../support/start-test-leader.ts'

type Page = Extract<Result<'plan.query'>, { kind: 'page' }>

/** A leader with the session `s` in plan mode, whose turn `t1` the test plays. */
async function openStage() {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.ok('session.create', { sessionId: 's', cwd: '/', backend: hand.kind, collaborationMode: 'plan' })
  await leader.startTurn('s', 't1', 'plan it')
  const plan = async (): Promise<Page> =>
    (await leader.ok('plan.query', { kind: 'list_start', sessionId: 's' })) as Page
  return { leader, hand, plan, run: (await hand.run('t1')).context }
}

function call(run: RunContext, name: string, input: unknown): Promise<unknown> {
  const tool = [...TASK_TOOLS, ...PLAN_TOOLS].find(each => each.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool.call(run, input)
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    value => value,
    error => [error.name, error.code, error.message],
  )

test('P1 P4 P5 a run proposes, revises, and carries out what was approved, in a turn that knows what it is for', async () => {
  const { leader, hand, plan, run } = await openStage()
  const content = planOf('Fix it', 'a', 'b')
  expect([run.session.collaborationMode, run.execution]).toEqual(['plan', { kind: 'external_message' }])
  const first = await run.submitPlan(content)
  expect(first).toEqual({
    planId: expect.any(String),
    proposalId: expect.any(String),
    sessionId: 's',
    turnId: 't1',
    revision: 1,
    contentDigest: canonicalDigest(content),
    ...content,
    status: 'pending_approval',
    submittedAt: expect.any(Number),
  })
  const second = await run.submitPlan(content)
  expect(second).toMatchObject({ planId: first.planId, revision: 2, supersedesProposalId: first.proposalId })
  expect(run.plan).toMatchObject({ storeVersion: 2, latestProposal: second })
  expect((await plan()).items).toEqual([
    { kind: 'proposal', proposal: { ...first, status: 'stale' } },
    { kind: 'proposal', proposal: second },
  ])
  ;(await hand.run('t1')).complete()
  await leader.ended('s', 't1')
  const { plan: approved } = await leader.ok('plan.turn.start', {
    kind: 'approve_proposal',
    sessionId: 's',
    proposalId: second.proposalId,
    expectedRevision: 2,
    expectedStoreVersion: 2,
    turnId: 't2',
  })
  const { context } = await hand.run('t2')
  const executionId = approved.executionId ?? ''
  expect([context.session.collaborationMode, context.execution]).toEqual(['agent', { kind: 'plan', executionId }])
  const step = (a: 'in_progress' | 'completed', b: 'pending' | 'skipped') => ({
    executionId,
    steps: [
      { id: 'a', status: a },
      { id: 'b', status: b, note: 'not needed' },
    ],
  })
  const going = await context.updatePlan(step('in_progress', 'pending'))
  expect(going).toMatchObject({
    executionId,
    status: 'active',
    steps: [{ status: 'in_progress' }, { status: 'pending' }],
  })
  expect(context.plan.activeExecution).toEqual(going)
  const done = await context.updatePlan(step('completed', 'skipped'))
  expect(done).toMatchObject({ status: 'completed', steps: [{ status: 'completed' }, { note: 'not needed' }] })
  expect(context.plan).toMatchObject({ activeExecution: null, lastExecution: done })
})

test('P1 P5 C3 what a backend gives wrongly is refused where it gives it, and the run goes on', async () => {
  const { leader, hand, plan, run } = await openStage()
  const content = planOf('Fix it', 'a', 'b')
  const invalid = (message: RegExp) => ['HeadwaterError', 'invalid_request', expect.stringMatching(message)]
  expect(await refusal(run.submitPlan({ ...content, steps: [] }))).toEqual(invalid(/^steps: /))
  expect(await refusal(run.submitPlan(planOf('x', 'a', 'a')))).toEqual(invalid(/^steps: step ids must be unique/))
  expect(await refusal(run.submitPlan({ ...content, status: 'approved' } as never))).toEqual(invalid(/^status: /))
  const large = { ...planOf('x', ...Array.from({ length: 33 }, (_, i) => `s${i}`)) }
  const steps = large.steps.map(each => ({ ...each, description: 'd'.repeat(LIMITS.planStepDescriptionBytes) }))
  expect(await refusal(run.submitPlan({ ...large, steps }))).toEqual(invalid(/65536 bytes/))
  const update = { executionId: 'none', steps: [{ id: 'a', status: 'completed' as const }] }
  expect(await refusal(run.updatePlan({ ...update, steps: [] }))).toEqual(invalid(/^steps: /))
  expect(await refusal(run.updatePlan(update))).toEqual([
    'HeadwaterError',
    'operation_conflict',
    'this execution is not the active one',
  ])
  expect(await refusal(run.updatePlan(update).catch(error => error.detail))).toMatchObject({ storeVersion: 0 })
  expect(await plan()).toMatchObject({ storeVersion: 0, items: [] })
  const told = await run.submitPlan({ ...content, title: 'Fix \udc00', overview: undefined as never })
  expect(told).not.toHaveProperty('overview')
  expect(told.title).toBe('Fix \ufffd')
  ;(await hand.run('t1')).complete()
  expect(await leader.ended('s', 't1')).toMatchObject({ status: 'completed' })
})

test('K3 P1 every tool has a name of its own, a description and an input that is a JSON schema', () => {
  const tools = [...TASK_TOOLS, ...PLAN_TOOLS]
  const names = ['task_create', 'task_update', 'task_list', 'task_get', 'plan_submit', 'plan_update']
  expect(tools.map(tool => tool.name)).toEqual(names)
  for (const { description, input } of tools) {
    expect(description.length).toBeGreaterThan(20)
    expect(z.toJSONSchema(input, { io: 'input' })).toMatchObject({ type: 'object', additionalProperties: false })
  }
  const create = z.toJSONSchema(tools[0]?.input as z.ZodMiniType, { io: 'input' })
  expect(create).toMatchObject({ required: ['subject'], properties: { subject: { type: 'string', maxLength: 1_000 } } })
})

test('K3 the task tools create, change, list and find tasks, and say in words what they refuse', async () => {
  const { run } = await openStage()
  const one = await call(run, 'task_create', { subject: 'one' })
  expect(one).toMatchObject({ key: 'T1', subject: 'one', status: 'pending' })
  const part = await call(run, 'task_create', { subject: 'part', parent: 'T1', owner: 'ada' })
  const begun = await call(run, 'task_update', { task: 'T1', status: 'in_progress' })
  const { revision } = run.tasks.list()
  expect(await call(run, 'task_list', {})).toEqual({ revision, tasks: [begun, part] })
  expect(await call(run, 'task_list', { status: 'pending' })).toEqual({ revision, tasks: [part] })
  expect(await call(run, 'task_get', { task: 'T1.1' })).toEqual(part)
  expect(await refusal(call(run, 'task_get', { task: 'T7' }))).toEqual([
    'HeadwaterError',
    'not_found',
    'there is no such task',
  ])
  expect(await refusal(call(run, 'task_list', { status: 'done' }))).toEqual([
    'HeadwaterError',
    'invalid_request',
    expect.stringMatching(/^status: must be one of "pending", /),
  ])
  const completed = { task: 'T1', status: 'completed', completionEvidence: 'x' }
  expect(await refusal(call(run, 'task_update', completed))).toEqual([
    'HeadwaterError',
    'operation_conflict',
    'T1.1 is not finished',
  ])
  await call(run, 'task_update', { task: 'T1.1', status: 'cancelled' })
  expect(await call(run, 'task_update', completed)).toMatchObject({ status: 'completed', completionEvidence: 'x' })
})

test('P1 P5 the plan tools propose a plan and tell how far it is', async () => {
  const { leader, hand, run } = await openStage()
  const proposal = (await call(run, 'plan_submit', planOf('Fix it', 'a'))) as PlanProposal
  expect(await refusal(call(run, 'plan_submit', { title: 'x' }))).toEqual([
    'HeadwaterError',
    'invalid_request',
    'steps: must be a value of type array',
  ])
  ;(await hand.run('t1')).complete()
  await leader.ended('s', 't1')
  const { plan } = await leader.ok('plan.turn.start', {
    kind: 'approve_proposal',
    sessionId: 's',
    proposalId: proposal.proposalId,
    expectedRevision: 1,
    expectedStoreVersion: 1,
    turnId: 't2',
  })
  const { context } = await hand.run('t2')
  const update = { executionId: plan.executionId, steps: [{ id: 'a', status: 'completed' }] }
  expect(((await call(context, 'plan_update', update)) as PlanExecution).status).toBe('completed')
  expect(await refusal(call(context, 'plan_update', update))).toEqual([
    'HeadwaterError',
    'operation_conflict',
    'this execution is not the active one',
  ])
})
