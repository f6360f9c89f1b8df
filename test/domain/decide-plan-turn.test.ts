import { expect, test } from 'vitest'
import type { Refusal } from '../../leader/domain/decision.ts'
import { accept, BOB, DomainSession, type InputOf, typesOf } from '../support/domain/domain-session.ts'
import { approveIn, endTurn, expectedNow, interrupted, planOf, proposeIn, update } from '../support/domain/planning.ts'

type Control = InputOf<'plan.control'>
type Start = InputOf<'plan.turn.start'>

const fresh = () => new DomainSession().create()
const control = (input: object): Control => ({ operationId: 'op', ...input }) as unknown as Control
const starting = (input: object): Start => ({ turnId: 'tx', ...input }) as unknown as Start
const approval = (session: DomainSession, changes: object = {}) =>
  ({ kind: 'approve_proposal', ...expectedNow(session), ...changes }) as const
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

test('P7 an interrupted execution goes on as it was, also an older one', () => {
  const session = fresh()
  const first = interrupted(session)
  const wish = { kind: 'resume_execution', executionId: first.executionId }
  expect(session.do('plan.control', control(wish))).toEqual({
    sessionId: 'session-1',
    storeVersion: 4,
    eventType: 'plan_execution_resumed',
    proposalId: null,
    executionId: first.executionId,
  })
  const { endedAt: _endedAt, interruptionReason: _reason, ...rest } = first
  expect(session.state.plan).toMatchObject({ activeExecution: { ...rest, status: 'active' }, lastExecution: null })
  expect(session.state.plan.activeExecution).not.toHaveProperty('interruptionReason')
  session.start('t3')
  endTurn(session, { kind: 'cancelled', abortSource: 'user_stop' })
  const again = session.state.plan.lastExecution as never
  proposeIn(session, 't4', planOf('Else', 'c'))
  approveIn(session, 't5')
  session.take(update(session, [['c', 'completed']]))
  endTurn(session)
  session.do('plan.control', control(wish), { namedExecution: again })
  expect(session.state.plan.activeExecution).toMatchObject({ executionId: first.executionId, status: 'active' })
})

test('P7 P8 only an interrupted execution can be resumed or cancelled', () => {
  const session = fresh()
  const wishes = (executionId: string) => [
    { kind: 'resume_execution', executionId },
    { kind: 'cancel_execution', executionId },
  ]
  for (const wish of wishes('nobody')) conflict(session, wish)
  proposeIn(session, 't1')
  const { executionId } = approveIn(session, 't2')
  endTurn(session)
  for (const wish of wishes(executionId)) conflict(session, wish)
  session.start('t3')
  session.take(
    update(session, [
      ['a', 'completed'],
      ['b', 'completed'],
    ]),
  )
  endTurn(session)
  for (const wish of wishes(executionId)) conflict(session, wish)
  const other = fresh()
  const stopped = interrupted(other)
  other.do('plan.control', control({ kind: 'cancel_execution', executionId: stopped.executionId }))
  for (const wish of wishes(stopped.executionId)) conflict(other, wish)
})

test('P8 an interrupted execution is given up, also an older one while another is carried out', () => {
  const session = fresh()
  const first = interrupted(session)
  const wish = control({ kind: 'cancel_execution', executionId: first.executionId })
  proposeIn(session, 't3', planOf('Else', 'c'))
  const active = approveIn(session, 't4')
  endTurn(session)
  const { storeVersion } = session.state.plan
  const decision = session.decide('plan.control', wish, { namedExecution: first })
  expect(accept(decision).events).toMatchObject([
    {
      type: 'plan_execution_cancelled',
      payload: { execution: { executionId: first.executionId, status: 'cancelled' } },
    },
  ])
  expect(session.take(decision)).toEqual({
    sessionId: 'session-1',
    storeVersion: storeVersion + 1,
    eventType: 'plan_execution_cancelled',
    proposalId: null,
    executionId: first.executionId,
  })
  expect(session.state.plan).toMatchObject({ activeExecution: active, lastExecution: null })
  const other = fresh()
  const only = interrupted(other)
  other.do('plan.control', control({ kind: 'cancel_execution', executionId: only.executionId }))
  expect(other.state.plan).toMatchObject({ activeExecution: null, lastExecution: { status: 'cancelled' } })
})

test('P9 S4 T2 no plan is decided on in an archived session, or while a turn runs', () => {
  const session = fresh()
  const { proposalId } = proposeIn(session, 't1')
  const wishes = [
    control({ kind: 'request_revision', proposalId, feedback: 'x' }),
    control({ kind: 'abandon_proposal', proposalId }),
    control(approval(session)),
    control({ kind: 'resume_execution', executionId: 'x' }),
    control({ kind: 'cancel_execution', executionId: 'x' }),
  ]
  const starts = [starting(approval(session)), starting({ kind: 'resume_execution', executionId: 'x' })]
  const codes = () => [
    ...wishes.map(wish => session.refusal('plan.control', wish)),
    ...starts.map(start => session.refusal('plan.turn.start', start)),
  ]
  session.start('t2')
  for (const refusal of codes()) expect(refusal).toMatchObject({ code: 'session_busy', detail: { turnId: 't2' } })
  endTurn(session)
  session.do('session.archive', { operationId: 'a' })
  for (const refusal of codes()) expect(refusal.code).toBe('session_archived')
})

test('P10 T3 the change and the admission are one transition, with the words of the plan as the turn', () => {
  const session = fresh()
  proposeIn(session, 't1')
  const decision = accept(session.decide('plan.turn.start', starting(approval(session)), { actor: BOB }))
  expect(typesOf(decision)).toEqual(['plan_approved', 'turn_admitted'])
  expect(decision).toMatchObject({
    turn: { turnId: 'tx', as: 'turn' },
    when: { turnStarted: 'tx' },
    effects: [{ kind: 'start_turn', turnId: 'tx' }],
  })
  const result = session.take(decision, BOB)
  const { executionId, proposalId } = session.state.plan.activeExecution as { executionId: string; proposalId: string }
  expect(result).toEqual({
    plan: { sessionId: 'session-1', storeVersion: 2, eventType: 'plan_approved', proposalId, executionId },
  })
  expect(session.admission).toMatchObject({
    turnId: 'tx',
    execution: { kind: 'plan', executionId },
    normalizedInput: { text: 'Carry out the approved plan: Fix it' },
    previousRootTurnId: 't1',
    submittedBy: BOB,
  })
  session.startRun()
  endTurn(session, { kind: 'failed', failureClass: 'network' })
  const resumed = session.do('plan.turn.start', starting({ kind: 'resume_execution', executionId, turnId: 'ty' }))
  expect(resumed).toMatchObject({ plan: { eventType: 'plan_execution_resumed', storeVersion: 4, executionId } })
  expect(session.admission).toMatchObject({
    turnId: 'ty',
    execution: { kind: 'plan', executionId },
    normalizedInput: { text: 'Resume the plan: Fix it' },
  })
})

test('P10 T7 a turn that carries out a plan waits for the last one to clean up', () => {
  const session = fresh()
  proposeIn(session, 't1')
  const decision = session.decide('plan.turn.start', starting(approval(session)), { isCleaningUp: true })
  expect(decision).toEqual({ kind: 'wait_for_cleanup' })
})

test('P10 T6 a turn that is there without a receipt is the same only for the same plan, and the plan is left alone', () => {
  const session = fresh()
  const { proposalId } = proposeIn(session, 't1')
  const start = starting(approval(session, { turnId: 'tx' }))
  const { executionId } = approveIn(session, 'tx')
  const before = session.state
  const again = accept(session.decide('plan.turn.start', start))
  expect(again.events).toEqual([])
  expect(again.result(session.state)).toMatchObject({ plan: { eventType: 'plan_approved', proposalId, executionId } })
  const others = [
    starting({ kind: 'resume_execution', executionId }),
    starting({ ...start, proposalId: 'else' }),
    starting({ ...start, turnId: 't1' }),
    starting({ kind: 'resume_execution', executionId, turnId: 't1' }),
  ]
  for (const other of others) expect(session.refusal('plan.turn.start', other).code).toBe('operation_conflict')
  const message = { turnId: 'tx', content: { text: 'Carry out the approved plan: Fix it' } }
  expect(session.refusal('turn.start', message).code).toBe('operation_conflict')
  expect(session.state).toBe(before)
})

test('P12 ids of proposals and executions sort in the order in which they were made', () => {
  const session = fresh()
  const ids: string[] = []
  for (let i = 0; i < 12; i++) ids.push(proposeIn(session, `t${i}`).proposalId)
  expect([...ids].sort()).toEqual(ids)
})
