import { expect, test } from 'vitest'
import { recover } from '../../leader/domain/recover.ts'
import { hasUnfinishedWork } from '../../leader/domain/state.ts'
import { DomainSession } from '../support/domain/domain-session.ts'
import { approveIn, endTurn, expectedNow, interrupted, proposeIn } from '../support/domain/planning.ts'

/** Recovers, folds, and recovers again: the second time there is nothing to do. */
function recovered(session: DomainSession) {
  const decide = () => {
    const { state, turns } = session
    const decided = recover({ state, turns, previousRootTurnId: null, context: { at: session.at, openBlocks: [] } })
    if (decided.kind !== 'recovered') throw new Error(`quarantined: ${decided.reason}`)
    return decided
  }
  const first = decide()
  session.apply(first.events, 'leader')
  expect(decide().events).toEqual([])
  return { types: first.events.map(e => e.type), cases: first.cases, resume: first.resume }
}

function expectInterrupted(session: DomainSession, executionId: string): void {
  expect(session.state.plan).toMatchObject({
    activeExecution: null,
    lastExecution: { executionId, status: 'interrupted', interruptionReason: 'leader_restarted' },
  })
}

test('X9 P11 an execution whose turns have ended well is interrupted by a start', () => {
  const session = new DomainSession().create()
  proposeIn(session, 't1')
  const { executionId } = approveIn(session, 't2')
  endTurn(session)
  expect(hasUnfinishedWork(session.state)).toBe(true)
  expect(recovered(session)).toEqual({ types: ['plan_execution_interrupted'], cases: ['X9'], resume: null })
  expectInterrupted(session, executionId)
  expect(hasUnfinishedWork(session.state)).toBe(false)
})

test('X9 X1 an execution is interrupted with the run that the leader left', () => {
  const session = new DomainSession().create()
  proposeIn(session, 't1')
  const { executionId } = approveIn(session, 't2')
  const { types, cases } = recovered(session)
  expect(types).toEqual(['run_failed', 'turn_settled', 'plan_execution_interrupted'])
  expect(cases).toEqual(['X1', 'X9'])
  expectInterrupted(session, executionId)
  expect(session.state.root?.snapshot).toMatchObject({ status: 'failed', failureClass: 'app_restarted' })
})

test('X9 X6 an admitted turn of a plan is closed without executing, and its execution interrupted', () => {
  const session = new DomainSession().create()
  proposeIn(session, 't1')
  session.do('plan.turn.start', { kind: 'approve_proposal', ...expectedNow(session), turnId: 't2' } as never)
  const executionId = session.state.plan.activeExecution?.executionId ?? ''
  const { types, cases, resume } = recovered(session)
  expect(types).toEqual([
    'run_started',
    'user_message_appended',
    'run_failed',
    'turn_settled',
    'plan_execution_interrupted',
  ])
  expect({ cases, resume }).toEqual({ cases: ['X6', 'X9'], resume: null })
  expect(session.state.root?.runs).toMatchObject([{ status: 'failed', failureClass: 'app_restarted' }])
  expectInterrupted(session, executionId)
})

test('X9 X3 an execution is interrupted although the newest turn begins again', () => {
  const session = new DomainSession().create()
  proposeIn(session, 't1')
  const { executionId } = approveIn(session, 't2')
  endTurn(session)
  session.do('turn.start', { turnId: 't3', content: { text: 'go on' } })
  expect(recovered(session)).toEqual({ types: ['plan_execution_interrupted'], cases: ['X3', 'X9'], resume: 't3' })
  expectInterrupted(session, executionId)
})

test('X14 what was interrupted, and what waits for approval, needs no recovery', () => {
  const session = new DomainSession().create()
  interrupted(session)
  proposeIn(session, 't3')
  expect(recovered(session)).toEqual({ types: [], cases: [], resume: null })
})
