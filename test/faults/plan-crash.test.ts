import { expect, test } from 'vitest'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { Input, Result } from '../../schema/commands/index.ts'
import type { PlanProposal } from '../../schema/entities/plan.ts'
import type { Admission } from '../../schema/entities/turn.ts'
import { eventsOf, readLedger } from '../support/live/ledger.ts'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { PLANNED, planOf, plantPlans } from '../support/planted-plans.ts'

type Start = Input<'plan.turn.start'>
type Page = Extract<Result<'plan.query'>, { kind: 'page' }>

/** Where the leader dies, and whether the approval is durable then. */
const POINTS = [
  ['before_batch', false],
  ['after_batch_before_publish', true],
  ['after_admission', true],
  ['after_run_started', true],
] as const

async function plannedRoot() {
  const root = testRoot()
  const [proposal] = await root.offline(store => plantPlans(store, [planOf('Fix it', 'a', 'b', 'c')]))
  // Recovery adopts the planted end first: the deaths below are those of the approval.
  await (await root.start()).stop()
  return { root, proposal: proposal as PlanProposal }
}

function approvalOf(proposal: PlanProposal, turnId: string): Start {
  const { proposalId, revision: expectedRevision } = proposal
  return { kind: 'approve_proposal', sessionId: PLANNED, proposalId, expectedRevision, expectedStoreVersion: 1, turnId }
}

/** A leader that dies at the point while it approves; whatever the client still hears. */
async function dieWhileApproving(root: TestRoot, point: string, start: Start): Promise<void> {
  const leader = root.spawn({ env: { HEADWATER_CRASH_AT: point } })
  await leader.ready
  const connection = await root.connect()
  const answer = connection.startPlanTurn(start).catch(() => null)
  expect(await leader.exited).toEqual({ code: null, signal: 'SIGKILL' })
  await connection.close()
  await answer
}

async function readPlan(connection: LeaderConnection): Promise<Page> {
  return (await connection.queryPlan({ kind: 'list_start', sessionId: PLANNED })) as Page
}

const executionsIn = ({ items }: Page) => items.flatMap(item => (item.kind === 'execution' ? [item.execution] : []))

test.each(POINTS)(
  'X9 X13 P10 A5 killed at %s while a plan is approved: one execution of what was approved, and a retry',
  {
    timeout: 60_000,
  },
  async (point, isDurable) => {
    const { root, proposal } = await plannedRoot()
    const start = approvalOf(proposal, 't2')
    await dieWhileApproving(root, point, start)
    await root.start()
    const connection = await root.connect()
    const found = await readPlan(connection)
    const stored = { storeVersion: 3, activeExecutionId: null }
    expect(found).toMatchObject(isDurable ? stored : { storeVersion: 1, activeExecutionId: null })
    const { planId, proposalId, contentDigest, steps } = proposal
    const content = { planId, proposalId, contentDigest, steps: steps.map(step => ({ ...step, status: 'pending' })) }
    const interrupted = { ...content, status: 'interrupted', interruptionReason: 'leader_restarted' }
    expect(executionsIn(found)).toMatchObject(isDurable ? [interrupted] : [])

    const retried = await connection.startPlanTurn(start)
    const after = await readPlan(connection)
    const [execution] = executionsIn(after)
    expect(executionsIn(after)).toMatchObject([isDurable ? interrupted : { ...content, status: 'active' }])
    expect(retried.plan).toEqual({
      sessionId: PLANNED,
      storeVersion: 2,
      eventType: 'plan_approved',
      proposalId,
      executionId: execution?.executionId,
    })
    if (isDurable) expect(retried.turn).toMatchObject({ status: 'failed', failureClass: 'app_restarted' })
    expect(await connection.startPlanTurn(start)).toMatchObject({ plan: retried.plan })

    const ledger = await readLedger(connection, PLANNED)
    expect(eventsOf(ledger, 'plan_approved').length).toBe(1)
    const admitted = eventsOf(ledger, 'turn_admitted').map(({ payload }) => (payload.admission as Admission).turnId)
    expect(admitted).toEqual(['t1', 't2'])
    expect(await connection.request('root.verify', {})).toMatchObject({ faults: [] })
  },
)

test('X9 X13 P7 P11 an execution that a killed leader left is resumed in a turn of its own', {
  timeout: 60_000,
}, async () => {
  const { root, proposal } = await plannedRoot()
  const start = approvalOf(proposal, 't2')
  await dieWhileApproving(root, 'after_run_started', start)
  // Its successors die while they recover, before and after the interruption is stored.
  for (const point of ['before_batch', 'mid_recovery:1', 'after_batch_before_publish', 'mid_recovery:1']) {
    const leader = root.spawn({ env: { HEADWATER_CRASH_AT: point } })
    await leader.ready.then(
      () => leader.kill(),
      () => leader.exited,
    )
  }
  await root.start()
  const connection = await root.connect()
  const found = await readPlan(connection)
  expect(found).toMatchObject({ storeVersion: 3, activeExecutionId: null })
  const executionId = executionsIn(found)[0]?.executionId ?? ''
  const resume: Start = { kind: 'resume_execution', sessionId: PLANNED, executionId, turnId: 't2' }
  await expect(connection.startPlanTurn(resume)).rejects.toMatchObject({ code: 'operation_conflict' })
  expect(await readPlan(connection)).toEqual(found)
  const resumed = await connection.startPlanTurn({ ...resume, turnId: 't3' })
  expect(resumed.plan).toMatchObject({ eventType: 'plan_execution_resumed', storeVersion: 4, executionId })
  expect(await readPlan(connection)).toMatchObject({ storeVersion: 4, activeExecutionId: executionId })
  const ledger = await readLedger(connection, PLANNED)
  expect(eventsOf(ledger, 'plan_execution_interrupted').map(({ payload }) => payload.reason)).toEqual([
    'leader_restarted',
  ])
})
