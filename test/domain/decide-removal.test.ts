import { expect, test } from 'vitest'
import { decideEnd } from '../../leader/domain/decide/run.ts'
import { decideChildDelete } from '../../leader/domain/decide/session.ts'
import type { ForkSource } from '../../leader/domain/decision.ts'
import { hasUnfinishedWork } from '../../leader/domain/state.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { accept, DomainSession, typesOf } from '../support/domain/domain-session.ts'

function ended(session: DomainSession): void {
  const { turnId, runId } = session.admission
  const context = { ...session.context(), isDraining: false }
  session.take(decideEnd(session.state, { turnId, runId }, { kind: 'completed' }, context))
}

test('S5 a deletion is the last transition: nothing is left to do, and its id is used up', () => {
  const session = new DomainSession().create()
  session.start('t1')
  session.submit('m1', 'next_turn')
  session.do('turn.stop', session.admission)
  ended(session)
  const input = { operationId: 'd', expectedRevision: session.state.header?.revision ?? 0 }
  const decision = accept(session.decide('session.delete', input))
  expect(typesOf(decision)).toEqual(['session_deleted'])
  expect(decision.when).toBe('children_deleted')
  expect(session.take(decision)).toEqual({ kind: 'deleted' })
  expect(session.state).toMatchObject({ isDeleted: true, queue: [], interactions: [] })
  expect(hasUnfinishedWork(session.state)).toBe(false)
  const making = { cwd: '/', backend: 'scripted' }
  expect(session.refusal('session.create', making).code).toBe('operation_conflict')
  expect(session.refusal('session.fork', { fromTurnId: 't1', newSessionId: 'session-1' }).code).toBe(
    'operation_conflict',
  )
  for (const refusal of [
    session.refusal('turn.start', { turnId: 't2', content: { text: 'x' } }),
    session.refusal('session.update', { expectedRevision: 1, patch: {} }),
    session.refusal('session.delete', { ...input, operationId: 'e' }),
  ]) {
    expect(refusal.code).toBe('not_found')
  }
})

test('S5 what stands in the way of a deletion: another revision, a turn, a turn of a child; a clean-up is waited for', () => {
  const session = new DomainSession().create()
  const input = (expectedRevision: number) => ({ operationId: 'd', expectedRevision })
  expect(accept(session.decide('session.delete', input(7))).result(session.state)).toEqual({
    kind: 'revision_conflict',
    expected: 7,
    actual: 1,
  })
  expect(session.refusal('session.delete', input(1), { busyChild: 'child' })).toMatchObject({
    code: 'session_busy',
    detail: { sessionId: 'child' },
  })
  expect(session.decide('session.delete', input(1), { isCleaningUp: true })).toEqual({ kind: 'wait_for_cleanup' })
  session.start('t1')
  expect(session.refusal('session.delete', input(2)).detail).toEqual({ turnId: 't1' })
  expect(decideChildDelete(session.state, session.context())).toMatchObject({ kind: 'refuse', code: 'session_busy' })
  ended(session)
  const child = decideChildDelete(session.state, session.context())
  expect(typesOf(child)).toEqual(['session_deleted'])
  session.take(child)
  expect(typesOf(decideChildDelete(session.state, session.context()))).toEqual([])
})

test('S6 a fork begins with a header of its own and what was copied; its entries are numbered on', () => {
  const source = new DomainSession().create({ title: 'Source', permissionMode: 'bypass', collaborationMode: 'plan' })
  source.start('t1')
  ended(source)
  expect(source.state.root?.endSeq).toBe(1)
  const header = source.state.header as ForkSource['header']
  const tail = [{ ...source.state.transcript[0]?.entry, seq: 41 }] as TranscriptEntry[]
  const forkSource = {
    header: { ...header, alwaysAllowed: ['edit'] },
    turn: { isTerminal: true, throughSeq: 41, tail },
  }
  const fork = new DomainSession()
  const input = { fromTurnId: 't1', newSessionId: fork.sessionId }
  const decision = accept(fork.decide('session.fork', input, { forkSource }))
  expect(typesOf(decision)).toEqual(['session_created', 'session_forked'])
  fork.take(decision)
  expect(fork.state).toMatchObject({
    header: { title: 'Source', permissionMode: 'bypass', collaborationMode: 'plan', revision: 1, createdAt: 1_000 },
    root: null,
    queue: [],
    agentSession: null,
    nextSeq: 42,
  })
  expect(fork.state.header).not.toHaveProperty('alwaysAllowed')
  expect(fork.state.transcript.map(({ entry }) => entry)).toEqual(tail)
  fork.start('own')
  expect(fork.state.transcript.at(-1)?.entry).toMatchObject({ seq: 42, turnId: 'own' })
  expect(fork.admission.previousRootTurnId).toBeNull()
  expect(fork.refusal('session.fork', input, { forkSource }).code).toBe('operation_conflict')
})
