import { expect, test } from 'vitest'
import { decideEnd } from '../../leader/domain/decide/run.ts'
import { accept, BOB, DomainSession, typesOf } from '../support/domain/domain-session.ts'

function end(session: DomainSession): void {
  const { turnId, runId } = session.admission
  const context = { ...session.context(), isDraining: false }
  session.take(decideEnd(session.state, { turnId, runId }, { kind: 'completed' }, context))
}

/** A session whose turns t1 and t2 have ended. */
function twoTurns(): DomainSession {
  const session = new DomainSession().create()
  session.do('turn.start', { turnId: 't1', content: { text: 'first' }, maxSteps: 3 })
  session.startRun()
  end(session)
  session.start('t2', 'second')
  end(session)
  return session
}

const sourceTurn = (session: DomainSession) => ({ sourceTurn: session.turns[0]?.admission as never })

test('T10 T3 a turn is made again from an older one: its input, its own ids, and a run that says where it comes from', () => {
  const session = twoTurns()
  const input = { turnId: 't3', sourceTurnId: 't1' }
  const decision = accept(session.decide('turn.regenerate', input, { actor: BOB, ...sourceTurn(session) }))
  expect(typesOf(decision)).toEqual(['turn_admitted'])
  expect(decision).toMatchObject({ when: { turnStarted: 't3' }, turn: { turnId: 't3', as: 'turn' } })
  expect(decision.effects).toEqual([{ kind: 'start_turn', turnId: 't3' }])
  session.take(decision, BOB)
  const { admission } = session
  const { runId, userMessageId } = admission
  expect(admission).toEqual({
    turnId: 't3',
    runId,
    userMessageId: `input-${runId}`,
    execution: { kind: 'regenerate', sourceTurnId: 't1' },
    previousRootTurnId: 't2',
    normalizedInput: { text: 'first' },
    sourceMessages: [
      {
        messageId: userMessageId,
        content: { text: 'first' },
        placement: 'next_turn',
        disposition: 'turn_started',
        submittedBy: BOB,
      },
    ],
    submittedBy: BOB,
    admittedAt: expect.any(Number),
    maxSteps: 3,
  })
  session.startRun()
  expect(session.state.root?.runs).toEqual([
    { runId, turnId: 't3', sessionId: 'session-1', status: 'running', startedAt: 1_080, regeneratedFromTurnId: 't1' },
  ])
})

test('T10 what cannot be made again: itself, an unknown turn, one that runs, one without an input, in an archived session', () => {
  const session = twoTurns()
  const refuse = (turnId: string, sourceTurnId: string, changes = {}) =>
    session.refusal('turn.regenerate', { turnId, sourceTurnId }, changes).code
  expect(refuse('t1', 't1')).toBe('operation_conflict')
  expect(refuse('t3', 'nobody')).toBe('not_found')
  const bare = { ...session.turns[0]?.admission, userMessageId: null, normalizedInput: null }
  expect(refuse('t3', 't1', { sourceTurn: bare })).toBe('operation_conflict')
  session.start('t3')
  expect(refuse('t4', 't3')).toBe('session_busy')
  expect(refuse('t4', 't1', sourceTurn(session))).toBe('session_busy')
  end(session)
  session.do('session.archive', {})
  expect(refuse('t4', 'nobody')).toBe('session_archived')
})

test('T10 T7 it waits while the ended run cleans up', () => {
  const session = twoTurns()
  const input = { turnId: 't3', sourceTurnId: 't2' }
  expect(session.decide('turn.regenerate', input, { isCleaningUp: true })).toEqual({ kind: 'wait_for_cleanup' })
})

test('T10 T6 a turn that is there without a receipt is compared', () => {
  const session = twoTurns()
  session.do('turn.regenerate', { turnId: 't3', sourceTurnId: 't2' })
  const again = accept(session.decide('turn.regenerate', { turnId: 't3', sourceTurnId: 't2' }))
  expect(again).toMatchObject({ events: [], turn: { turnId: 't3', as: 'turn' } })
  const refuse = (turnId: string, sourceTurnId: string) =>
    session.refusal('turn.regenerate', { turnId, sourceTurnId }).code
  expect(refuse('t3', 't1')).toBe('operation_conflict')
  expect(refuse('t1', 't2')).toBe('operation_conflict')
  expect(session.refusal('turn.start', { turnId: 't3', content: { text: 'second' } }).code).toBe('operation_conflict')
})
