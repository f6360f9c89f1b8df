import { expect, test } from 'vitest'
import { decideSubmitPlan } from '../../leader/domain/decide/plan/progress.ts'
import type { Refusal } from '../../leader/domain/decision.ts'
import { canonicalDigest } from '../../schema/digest.ts'
import type { PlanProposal } from '../../schema/entities/plan.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { BOB, DomainSession, type InputOf, typesOf } from '../support/domain/domain-session.ts'
import {
  approveIn,
  endTurn,
  expectedNow,
  interrupted,
  PLAN,
  planOf,
  proposeIn,
  submission,
  submitPlan,
  update,
} from '../support/domain/planning.ts'

type Control = InputOf<'plan.control'>
type Start = InputOf<'plan.turn.start'>

const fresh = () => new DomainSession().create()
const control = (input: object): Control => ({ operationId: 'op', ...input }) as unknown as Control
const starting = (input: object): Start => ({ turnId: 'tx', ...input }) as unknown as Start
const approval = (session: DomainSession, changes: object = {}) =>
  ({ kind: 'approve_proposal', ...expectedNow(session), ...changes }) as const
const said = ({ state }: DomainSession) =>
  state.transcript.flatMap(({ entry }) => (entry.kind === 'plan' ? [entry.text] : []))

/** The refusal of both forms of a decision about a plan; nothing was folded. */
function conflict(session: DomainSession, wish: object, changes: object = {}): Refusal[] {
  const before = session.state
  const refusals = [session.refusal('plan.control', control(wish), changes)]
  const { kind } = wish as { kind: string }
  if (kind === 'approve_proposal' || kind === 'resume_execution') {
    refusals.push(session.refusal('plan.turn.start', starting(wish), changes))
  }
  expect(session.state).toBe(before)
  for (const { code } of refusals) expect(code).toBe('operation_conflict')
  return refusals
}

test('P1 a submitted plan waits for approval, under an id that sorts', () => {
  const session = fresh()
  const { turnId, runId } = session.start('t1')
  const proposal = submitPlan(session)
  expect(proposal).toEqual({
    planId: expect.stringMatching(/^plan-000000000001-/),
    proposalId: expect.stringMatching(/^proposal-000000000001-/),
    sessionId: 'session-1',
    turnId: 't1',
    revision: 1,
    contentDigest: canonicalDigest(PLAN),
    ...PLAN,
    status: 'pending_approval',
    submittedAt: expect.any(Number),
  })
  expect(session.state.plan).toEqual({
    storeVersion: 1,
    latestProposal: proposal,
    activeExecution: null,
    lastExecution: null,
    agentPlan: null,
  })
  const entry = session.state.transcript.at(-1)?.entry as Extract<TranscriptEntry, { kind: 'plan' }>
  expect(entry).toEqual({
    seq: 2,
    id: `plan-event-${session.state.revision}`,
    turnId,
    runId,
    at: expect.any(Number),
    kind: 'plan',
    text: 'Plan proposed: Fix it (revision 1)',
    event: 'plan_submitted',
    proposalId: proposal.proposalId,
  })
})

test('P1 a later plan of an undecided one is its next revision; of an approved or abandoned one it is another plan', () => {
  const session = fresh()
  const first = proposeIn(session, 't1')
  const second = proposeIn(session, 't2', planOf('Better', 'a'))
  expect(second).toMatchObject({ planId: first.planId, revision: 2, supersedesProposalId: first.proposalId })
  expect(second.proposalId > first.proposalId).toBe(true)
  session.do('plan.control', control({ kind: 'request_revision', proposalId: second.proposalId, feedback: 'shorter' }))
  const third = proposeIn(session, 't3')
  expect(third).toMatchObject({ planId: first.planId, revision: 3, supersedesProposalId: second.proposalId })
  session.do('plan.control', control({ kind: 'abandon_proposal', proposalId: third.proposalId }))
  const other = proposeIn(session, 't4')
  expect(other).toMatchObject({ revision: 1, status: 'pending_approval' })
  expect(other.planId).not.toBe(first.planId)
  expect(other).not.toHaveProperty('supersedesProposalId')
  approveIn(session, 't5')
  session.take(
    update(session, [
      ['a', 'completed'],
      ['b', 'skipped'],
    ]),
  )
  const last = submitPlan(session)
  expect(last.planId).not.toBe(other.planId)
  expect(last.revision).toBe(1)
})

test('P1 nothing is submitted while a plan is carried out', () => {
  const session = fresh()
  proposeIn(session, 't1')
  const { executionId } = approveIn(session, 't2')
  expect(submission(session)).toMatchObject({
    kind: 'refuse',
    code: 'operation_conflict',
    detail: { activeExecutionId: executionId },
  })
})

test('P1 L4 text that was streamed before a plan stands before it in the transcript', () => {
  const session = fresh()
  const run = session.start('t1')
  const meta = { blockId: 'b', kind: 'assistant' as const, messageId: 'm', offset: 0, ...run, startedAt: 5 }
  const context = session.context({ openBlocks: [{ meta, text: 'so' }] })
  expect(typesOf(decideSubmitPlan(session.state, run, PLAN, context))).toEqual(['text_sealed', 'plan_submitted'])
})

test('P2 asking for changes makes the proposal stale, keeps the words and sets the mode', () => {
  const session = fresh()
  const { proposalId } = proposeIn(session, 't1')
  const input = control({ kind: 'request_revision', proposalId, feedback: 'Leave the tests' })
  expect(session.do('plan.control', input, { actor: BOB })).toEqual({
    sessionId: 'session-1',
    storeVersion: 2,
    eventType: 'plan_revision_requested',
    proposalId,
    executionId: null,
  })
  expect(session.state.plan.latestProposal).toMatchObject({ status: 'stale', feedback: 'Leave the tests' })
  expect(session.state.header).toMatchObject({ collaborationMode: 'plan', revision: 3 })
  expect(session.state.transcript.at(-1)?.entry).toMatchObject({
    kind: 'plan',
    turnId: 't1',
    text: 'Changes to the plan requested: Leave the tests',
    by: BOB,
  })
})

test('P3 abandoning makes the proposal stale and sets the mode', () => {
  const session = new DomainSession().create({ collaborationMode: 'plan' })
  const { proposalId } = proposeIn(session, 't1')
  expect(session.do('plan.control', control({ kind: 'abandon_proposal', proposalId }))).toEqual({
    sessionId: 'session-1',
    storeVersion: 2,
    eventType: 'plan_abandoned',
    proposalId,
    executionId: null,
  })
  expect(session.state.plan.latestProposal).toMatchObject({ status: 'stale' })
  expect(session.state.plan.latestProposal).not.toHaveProperty('feedback')
  expect(session.state.header?.collaborationMode).toBe('agent')
})

test('P4 approving makes one active execution of exactly what was approved, and touches the mode only if it differs', () => {
  const session = fresh()
  const { proposalId, planId, contentDigest } = proposeIn(session, 't1')
  const decision = session.decide('plan.control', control(approval(session)))
  expect(typesOf(decision)).toEqual(['plan_approved'])
  const result = session.take(decision)
  const execution = session.state.plan.activeExecution
  expect(execution).toEqual({
    executionId: expect.stringMatching(/^execution-000000000002-/),
    planId,
    proposalId,
    contentDigest,
    title: 'Fix it',
    status: 'active',
    steps: PLAN.steps.map(step => ({ ...step, status: 'pending' })),
    startedAt: expect.any(Number),
  })
  expect(result).toEqual({
    sessionId: 'session-1',
    storeVersion: 2,
    eventType: 'plan_approved',
    proposalId,
    executionId: execution?.executionId,
  })
  expect(session.state.plan.latestProposal?.status).toBe('approved')
  const planned = new DomainSession().create({ collaborationMode: 'plan' })
  proposeIn(planned, 't1')
  expect(typesOf(planned.decide('plan.control', control(approval(planned))))).toEqual([
    'plan_approved',
    'session_updated',
  ])
  planned.do('plan.control', control(approval(planned)))
  expect(planned.state.header?.collaborationMode).toBe('agent')
})

test('P2 P3 P4 only the latest proposal can be decided on, and only while it waits', () => {
  const session = fresh()
  const wishes = (proposalId: string) => [
    { kind: 'request_revision', proposalId, feedback: 'x' },
    { kind: 'abandon_proposal', proposalId },
    {
      kind: 'approve_proposal',
      proposalId,
      expectedRevision: 1,
      expectedStoreVersion: session.state.plan.storeVersion,
    },
  ]
  for (const wish of wishes('nobody')) conflict(session, wish)
  const first = proposeIn(session, 't1')
  const second = proposeIn(session, 't2')
  for (const wish of wishes(first.proposalId)) {
    for (const { detail } of conflict(session, wish)) {
      expect(detail).toEqual({
        storeVersion: 2,
        latestProposalId: second.proposalId,
        revision: 2,
        status: 'pending_approval',
        activeExecutionId: null,
      })
    }
  }
  session.do('plan.control', control({ kind: 'request_revision', proposalId: second.proposalId, feedback: 'x' }))
  for (const wish of wishes(second.proposalId))
    conflict(session, { ...wish, ...('expectedRevision' in wish ? { expectedRevision: 2 } : {}) })
  const third = proposeIn(session, 't3')
  session.do('plan.control', control({ kind: 'abandon_proposal', proposalId: third.proposalId }))
  for (const wish of wishes(third.proposalId)) conflict(session, wish)
  proposeIn(session, 't4')
  approveIn(session, 't5')
  endTurn(session)
  for (const wish of wishes((session.state.plan.latestProposal as PlanProposal).proposalId)) conflict(session, wish)
})

test('P4 an approval names the revision and the version it was made on', () => {
  const session = fresh()
  proposeIn(session, 't1')
  const { expectedRevision, expectedStoreVersion } = expectedNow(session)
  conflict(session, approval(session, { expectedRevision: expectedRevision + 1 }))
  conflict(session, approval(session, { expectedStoreVersion: expectedStoreVersion - 1 }))
  conflict(session, approval(session, { expectedStoreVersion: expectedStoreVersion + 1 }))
})

test('P4 P7 neither approval nor resumption while a plan is carried out', () => {
  const session = fresh()
  const first = interrupted(session)
  proposeIn(session, 't3', planOf('Else', 'c'))
  const second = approveIn(session, 't4')
  endTurn(session)
  // A proposal beside an active execution can only be planted.
  const active = session.state.plan.activeExecution
  session.state = {
    ...session.state,
    plan: {
      ...session.state.plan,
      latestProposal: { ...(session.state.plan.latestProposal as PlanProposal), status: 'pending_approval' },
    },
  }
  for (const { detail } of conflict(session, approval(session))) {
    expect(detail).toMatchObject({ activeExecutionId: second.executionId })
  }
  conflict(session, { kind: 'resume_execution', executionId: first.executionId }, { namedExecution: first })
  conflict(session, { kind: 'resume_execution', executionId: second.executionId })
  expect(session.state.plan.activeExecution).toBe(active)
})

test('P5 progress is an event without a line of history; finishing every step completes the execution', () => {
  const session = fresh()
  proposeIn(session, 't1')
  const { executionId } = approveIn(session, 't2')
  const lines = said(session).length
  expect(
    session.take(
      update(session, [
        ['b', 'pending'],
        ['a', 'in_progress', 'looking'],
      ]),
    ),
  ).toMatchObject({
    executionId,
    status: 'active',
    steps: [
      { id: 'a', status: 'in_progress', note: 'looking' },
      { id: 'b', status: 'pending' },
    ],
  })
  expect(session.state.plan.storeVersion).toBe(3)
  expect(said(session).length).toBe(lines)
  // A note that is not given again stays.
  session.take(
    update(session, [
      ['a', 'completed'],
      ['b', 'in_progress'],
    ]),
  )
  expect(session.state.plan.activeExecution?.steps[0]).toMatchObject({ status: 'completed', note: 'looking' })
  const last = session.take(
    update(session, [
      ['a', 'completed'],
      ['b', 'skipped', 'not needed'],
    ]),
  )
  expect(last).toMatchObject({ executionId, status: 'completed', endedAt: expect.any(Number) })
  expect(session.state.plan).toMatchObject({ storeVersion: 5, activeExecution: null, lastExecution: last })
  expect(said(session).at(-1)).toBe('Plan completed: Fix it')
})

test('P5 what changes nothing is no event', () => {
  const session = fresh()
  proposeIn(session, 't1')
  approveIn(session, 't2')
  session.take(
    update(session, [
      ['a', 'in_progress'],
      ['b', 'pending'],
    ]),
  )
  expect(
    typesOf(
      update(session, [
        ['a', 'in_progress'],
        ['b', 'pending'],
      ]),
    ),
  ).toEqual([])
})

test.each([
  [
    'another execution',
    [
      ['a', 'pending'],
      ['b', 'pending'],
    ],
    'execution-x',
  ],
  ['a step is missing', [['b', 'in_progress']], undefined],
  [
    'a step the plan does not have',
    [
      ['a', 'completed'],
      ['b', 'pending'],
      ['c', 'pending'],
    ],
    undefined,
  ],
  [
    'a step named twice',
    [
      ['a', 'completed'],
      ['b', 'pending'],
      ['b', 'pending'],
    ],
    undefined,
  ],
  [
    'one instead of another',
    [
      ['a', 'completed'],
      ['c', 'pending'],
    ],
    undefined,
  ],
  [
    'two in progress',
    [
      ['a', 'completed'],
      ['b', 'in_progress'],
      ['c', 'in_progress'],
    ],
    undefined,
    planOf('Three', 'a', 'b', 'c'),
  ],
  [
    'a finished step taken back',
    [
      ['a', 'in_progress'],
      ['b', 'pending'],
    ],
    undefined,
  ],
  [
    'a finished step skipped',
    [
      ['a', 'skipped'],
      ['b', 'pending'],
    ],
    undefined,
  ],
  [
    'another note on a finished step',
    [
      ['a', 'completed', 'else'],
      ['b', 'pending'],
    ],
    undefined,
  ],
] as const)('P5 refused with the state as it was: %s', (_name, steps, executionId, content = PLAN) => {
  const session = fresh()
  proposeIn(session, 't1', content as never)
  approveIn(session, 't2')
  const rest = content.steps.slice(1).map(step => [step.id, 'pending'] as const)
  session.take(update(session, [['a', 'completed'], ...rest]))
  expect(update(session, steps as never, executionId)).toMatchObject({ kind: 'refuse', code: 'operation_conflict' })
})

test('P5 without an active execution there is nothing to update', () => {
  const session = fresh()
  const { executionId } = interrupted(session)
  session.start('t3')
  expect(
    update(
      session,
      [
        ['a', 'completed'],
        ['b', 'completed'],
      ],
      executionId,
    ),
  ).toMatchObject({ code: 'operation_conflict' })
})

test.each([
  [{ kind: 'completed' }, false, null],
  [{ kind: 'failed', failureClass: 'network' }, false, 'turn_failed'],
  [{ kind: 'cancelled', abortSource: 'user_stop' }, false, 'turn_cancelled'],
  [{ kind: 'cancelled', abortSource: 'leader_shutdown' }, false, 'leader_stopped'],
  [{ kind: 'completed' }, true, 'leader_stopped'],
  [{ kind: 'failed', failureClass: 'network' }, true, 'leader_stopped'],
] as const)('P6 P11 a turn that ends %o (draining: %s) interrupts the execution: %s', (end, isDraining, reason) => {
  const session = fresh()
  proposeIn(session, 't1')
  const { executionId } = approveIn(session, 't2')
  // Any later turn of the session counts, not only the one that began it.
  endTurn(session)
  session.start('t3')
  endTurn(session, end, isDraining)
  const { activeExecution, lastExecution, storeVersion } = session.state.plan
  if (reason === null) {
    expect({ activeExecution, storeVersion }).toMatchObject({ activeExecution: { executionId }, storeVersion: 2 })
    return
  }
  expect({ activeExecution, storeVersion }).toEqual({ activeExecution: null, storeVersion: 3 })
  expect(lastExecution).toMatchObject({
    executionId,
    status: 'interrupted',
    interruptionReason: reason,
    endedAt: expect.any(Number),
  })
  expect(session.state.root?.snapshot.status).toBe(end.kind)
  expect(session.state.transcript.at(-1)?.entry).toMatchObject({
    kind: 'plan',
    turnId: 't3',
    text: `Plan interrupted: Fix it (${reason.replace('_', ' ')})`,
    executionId,
  })
})
