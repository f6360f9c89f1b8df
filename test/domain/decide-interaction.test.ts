import { expect, test } from 'vitest'
import { decideExpire, decideOpen } from '../../leader/domain/decide/interaction.ts'
import { decideEnd } from '../../leader/domain/decide/run.ts'
import type { Decision } from '../../leader/domain/decision.ts'
import type { InteractionRequest, InteractionSnapshot, PermissionRequest } from '../../schema/entities/interaction.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { LIMITS } from '../../schema/limits.ts'
import { accept, BOB, DomainSession, typesOf } from '../support/domain/domain-session.ts'

const QUESTION: InteractionRequest = {
  kind: 'question',
  questions: [{ question: 'Which?', options: [{ label: 'a' }, { label: 'b' }], multiple: true }],
}

const PERMISSION: PermissionRequest = {
  kind: 'permission',
  toolCallId: 'c1',
  title: 'Edit',
  toolKind: 'edit',
  options: [
    { optionId: 'always', label: 'Always', kind: 'allow_always' },
    { optionId: 'once', label: 'Once', kind: 'allow_once' },
    { optionId: 'no', label: 'No', kind: 'reject_once' },
  ],
}

const answered = (...labels: string[]) => ({ kind: 'question' as const, answers: [{ labels }] })

function running(changes: Partial<SessionHeader> = {}): DomainSession {
  const session = new DomainSession().create()
  session.start('t1')
  session.apply([{ type: 'session_updated', payload: { patch: changes } }], 'leader')
  return session
}

function open(
  session: DomainSession,
  request: InteractionRequest,
  interactionId = 'i1',
  expiresInMs?: number,
): Decision {
  const { turnId, runId } = session.admission
  const pending = { interactionId, request, ...(expiresInMs === undefined ? {} : { expiresInMs }) }
  return decideOpen(session.state, { turnId, runId }, pending, session.context())
}

const status = (session: DomainSession) => [session.state.root?.snapshot.status, session.state.header?.status]
const last = (session: DomainSession) => session.state.transcript.at(-1)?.entry

test('I2 I3 an interaction is pending with revision 1, and its turn waits for the user', () => {
  const session = running()
  session.take(open(session, QUESTION, 'i1', 500))
  const { turnId, runId } = session.admission
  expect(session.state.interactions).toEqual([
    {
      snapshot: {
        interactionId: 'i1',
        sessionId: 'session-1',
        turnId,
        runId,
        revision: 1,
        request: QUESTION,
        status: 'pending',
        outcome: null,
      },
      order: 1,
      openedAt: 1_040,
      expiresInMs: 500,
    },
  ])
  expect(status(session)).toEqual(['waiting_for_user', 'waiting_for_user'])
  expect(session.state.root?.runs[0]?.status).toBe('waiting_for_user')
})

test('I3 the turn runs again when the last one is settled', () => {
  const session = running()
  session.take(open(session, QUESTION, 'i1'))
  session.take(open(session, QUESTION, 'i2'))
  session.do('interaction.answer', { interactionId: 'i1', answer: answered('a') })
  expect(status(session)).toEqual(['waiting_for_user', 'waiting_for_user'])
  session.do('interaction.answer', { interactionId: 'i2', answer: answered('a') })
  expect(status(session)).toEqual(['running', 'running'])
  expect(session.state.root?.snapshot).not.toHaveProperty('terminalEventId')
})

test('I4 the first valid answer holds: who, when, revision 2; it leaves the pending and enters the transcript', () => {
  const session = running()
  session.take(open(session, QUESTION))
  const decision = session.decide('interaction.answer', { interactionId: 'i1', answer: answered('b') }, { actor: BOB })
  const outcome = { kind: 'answer', answer: answered('b'), by: BOB, at: 1_050 }
  expect(accept(decision).effects).toEqual([{ kind: 'settle', interactionId: 'i1', outcome }])
  const snapshot = session.take(decision, BOB) as InteractionSnapshot
  expect(snapshot).toMatchObject({ interactionId: 'i1', revision: 2, status: 'answered', outcome })
  expect(session.state.interactions).toEqual([])
  expect(last(session)).toMatchObject({
    kind: 'interaction',
    id: 'i1',
    interactionId: 'i1',
    request: QUESTION,
    outcome,
  })
})

test('I4 an equal answer gives the same snapshot; another one, or any to a closed one, is already_resolved', () => {
  const session = running()
  session.take(open(session, QUESTION))
  const answer = (...labels: string[]) => ({ interactionId: 'i1', answer: answered(...labels) })
  const first = session.do('interaction.answer', answer('a', 'b'), { actor: BOB })
  const again = session.decide('interaction.answer', answer('a', 'b'))
  expect(typesOf(again)).toEqual([])
  expect(session.take(again)).toEqual(first)
  expect(session.do('interaction.answer', answer('b', 'a'))).toEqual(first)
  expect(session.refusal('interaction.answer', answer('a'))).toMatchObject({
    code: 'already_resolved',
    detail: { interaction: first },
  })
  const misfit = { interactionId: 'i1', answer: { kind: 'permission' as const, optionId: 'x' } }
  expect(session.refusal('interaction.answer', misfit).code).toBe('already_resolved')
  session.take(open(session, QUESTION, 'i2', 1))
  session.take(decideExpire(session.state, 'i2', session.context()))
  expect(session.refusal('interaction.answer', { ...answer('a'), interactionId: 'i2' }).code).toBe('already_resolved')
})

test('I4 unknown is not_found, a misfit invalid_request with its path', () => {
  const session = running()
  session.take(open(session, QUESTION))
  expect(session.refusal('interaction.answer', { interactionId: 'i9', answer: answered('a') }).code).toBe('not_found')
  expect(session.refusal('interaction.answer', { interactionId: 'i1', answer: answered('c') })).toMatchObject({
    code: 'invalid_request',
    detail: { path: 'answer.answers[0].labels' },
  })
})

test('I1 at most 16 are pending and 256 KiB of them, and one has at most 64 KiB', () => {
  const session = running()
  const big = (kib: number): InteractionRequest => ({ kind: 'form', message: 'x'.repeat(kib * 1024), schema: {} })
  expect(open(session, big(64))).toMatchObject({ kind: 'refuse', code: 'too_large' })
  for (let i = 0; i < 4; i++) session.take(open(session, big(60), `big${i}`))
  expect(open(session, big(60))).toMatchObject({ code: 'queue_full' })
  for (let i = 4; i < LIMITS.interactionsPending; i++) session.take(open(session, QUESTION, `i${i}`))
  expect(open(session, QUESTION)).toMatchObject({ code: 'queue_full' })
  const ids = session.state.interactions.map(r => r.snapshot.interactionId)
  expect(ids).toEqual(['big0', 'big1', 'big2', 'big3', ...Array.from({ length: 12 }, (_, i) => `i${i + 4}`)])
})

test('I1 I7 what a mode answers by itself needs no place among the pending', () => {
  const session = running({ permissionMode: 'bypass' })
  for (let i = 0; i < LIMITS.interactionsPending; i++) session.take(open(session, QUESTION, `i${i}`))
  expect(typesOf(open(session, PERMISSION))).toEqual(['interaction_opened', 'interaction_answered'])
})

const READ = { ...PERMISSION, toolKind: 'read' }
const ONLY_ALWAYS = { ...PERMISSION, options: PERMISSION.options.slice(0, 1) }
const ONLY_REJECT = { ...PERMISSION, options: PERMISSION.options.slice(2) }

test.each([
  ['ask', PERMISSION, [], null],
  ['ask', READ, [], null],
  ['ask', PERMISSION, ['edit'], 'once'],
  ['ask', PERMISSION, ['execute'], null],
  ['bypass', PERMISSION, [], 'once'],
  ['bypass', ONLY_ALWAYS, [], 'always'],
  ['bypass', ONLY_REJECT, [], null],
  ['explore', PERMISSION, [], 'no'],
  ['explore', PERMISSION, ['edit'], 'no'],
  ['explore', READ, [], 'once'],
] as const)(
  'I7 in mode %s a request for %s with %j always allowed is answered %s',
  (mode, request, always, optionId) => {
    const session = running({ permissionMode: mode, alwaysAllowed: [...always] })
    const decision = accept(open(session, request))
    session.take(decision)
    if (optionId === null) {
      expect(session.state.interactions).toHaveLength(1)
      return
    }
    const outcome = { kind: 'answer', answer: { kind: 'permission', optionId }, by: 'leader', at: expect.any(Number) }
    expect(decision.effects).toEqual([{ kind: 'settle', interactionId: 'i1', outcome }])
    expect(session.state.interactions).toEqual([])
    expect(last(session)).toMatchObject({ kind: 'interaction', outcome })
    expect(status(session)).toEqual(['running', 'running'])
  },
)

test('I7 explore refuses what cannot be declined, and asks questions all the same', () => {
  const session = running({ permissionMode: 'explore' })
  expect(open(session, ONLY_ALWAYS)).toMatchObject({ kind: 'refuse', code: 'forbidden' })
  expect(typesOf(open(session, QUESTION))).toEqual(['interaction_opened'])
})

test('I7 always allow is remembered once per tool, and counts as a header write', () => {
  const session = running()
  const { revision } = session.state.header as SessionHeader
  for (const id of ['i1', 'i2']) session.take(open(session, PERMISSION, id))
  for (const interactionId of ['i1', 'i2']) {
    session.do('interaction.answer', { interactionId, answer: { kind: 'permission', optionId: 'always' } })
  }
  expect(session.state.header).toMatchObject({ alwaysAllowed: ['edit'], revision: revision + 1 })
  expect(typesOf(open(session, PERMISSION, 'i3'))).toEqual(['interaction_opened', 'interaction_answered'])
})

test('I7 the list of what is always allowed has a bound', () => {
  const alwaysAllowed = Array.from({ length: LIMITS.alwaysAllowedEntries }, (_, i) => `tool-${i}`)
  const session = running({ alwaysAllowed })
  session.take(open(session, PERMISSION))
  session.do('interaction.answer', { interactionId: 'i1', answer: { kind: 'permission', optionId: 'always' } })
  expect(session.state.header?.alwaysAllowed).toEqual(alwaysAllowed)
})

test('I5 an interaction that expires is closed once', () => {
  const session = running()
  session.take(open(session, QUESTION, 'i1', 500))
  const decision = decideExpire(session.state, 'i1', session.context())
  expect(accept(decision).effects).toEqual([
    { kind: 'settle', interactionId: 'i1', outcome: { kind: 'closure', reason: 'expired', at: 1_050 } },
  ])
  session.take(decision)
  expect(last(session)).toMatchObject({ outcome: { kind: 'closure', reason: 'expired', at: 1_050 } })
  expect(typesOf(decideExpire(session.state, 'i1', session.context()))).toEqual([])
})

test('I5 the end of the turn closes what is pending as turn_terminal', () => {
  const session = running()
  session.take(open(session, QUESTION))
  const { turnId, runId } = session.admission
  const context = { ...session.context(), isDraining: false }
  session.take(decideEnd(session.state, { turnId, runId }, { kind: 'completed' }, context))
  expect(session.state.interactions).toEqual([])
  expect(last(session)).toMatchObject({ outcome: { kind: 'closure', reason: 'turn_terminal' } })
})

test('L4 whatever adds to the transcript seals the open text first', () => {
  const session = running()
  session.take(open(session, QUESTION))
  const { turnId, runId } = session.admission
  const meta = { blockId: 'b1', kind: 'thinking', messageId: 'm', offset: 0, turnId, runId, startedAt: 1 } as const
  const openBlocks = [{ meta, text: 'hm' }]
  const answer = { interactionId: 'i1', answer: answered('a') }
  expect(typesOf(session.decide('interaction.answer', answer, { openBlocks }))).toEqual([
    'text_sealed',
    'interaction_answered',
  ])
  expect(typesOf(session.decide('turn.stop', { turnId, runId }, { openBlocks }))).toEqual([
    'text_sealed',
    'interaction_closed',
  ])
  expect(typesOf(decideExpire(session.state, 'i1', session.context({ openBlocks })))).toEqual([
    'text_sealed',
    'interaction_closed',
  ])
})
