import { expect, onTestFinished, test } from 'vitest'
import { createAcpBackend } from '../../leader/execution/acp/acp-backend.ts'
import { connectLeader } from '../../replica/index.ts'
import { AGENT_COMMAND } from '../support/acp-stage.ts'
import { startTestLeader } from '../support/start-test-leader.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

test('P13 the plan of an agent over ACP is shown with its time, counts as no plan change, and cannot be carried out', async () => {
  const backend = createAcpBackend({ kind: 'agent', command: AGENT_COMMAND })
  const leader = await startTestLeader({ backends: [backend] })
  await leader.ok('session.create', { sessionId: 's', cwd: testTempDir('acp'), backend: 'agent' })
  const connected = await connectLeader({ root: leader.root, surface: 'desktop', cache: false })
  if (connected.kind !== 'connected') throw new Error(connected.kind)
  onTestFinished(() => connected.connection.close())
  const seen = await connected.connection.openSessionSubscription({ sessionId: 's' })
  await leader.startTurn('s', 't1', 'plan')
  expect(await leader.ended('s', 't1')).toMatchObject({ status: 'completed' })
  const reported = (await leader.ledger('s')).find(({ events }) => events[0]?.type === 'agent_plan_reported')
  const agentPlan = { entries: [{ content: 'first', priority: 'high', status: 'in_progress' }], at: reported?.at }
  const plan = { storeVersion: 0, latestProposal: null, activeExecution: null, lastExecution: null, agentPlan }
  await waitFor(() => seen.current.plan.agentPlan !== null)
  expect(seen.current.plan).toEqual(plan)
  expect(await leader.ok('plan.query', { kind: 'list_start', sessionId: 's' })).toMatchObject({
    storeVersion: 0,
    latestProposalId: null,
    items: [],
  })
  const refused = await leader.refused('plan.turn.start', {
    kind: 'approve_proposal',
    sessionId: 's',
    proposalId: 'anything',
    expectedRevision: 1,
    expectedStoreVersion: 0,
    turnId: 't2',
  })
  expect(refused.code).toBe('operation_conflict')
  await leader.restart({ backends: [backend] })
  await waitFor(() => seen.freshness.state === 'live' && seen.current.hostEpoch === leader.leader.hostEpoch)
  expect(seen.current.plan).toEqual(plan)
})
