import { expect, test } from 'vitest'
import { decideCompact, titleFrom } from '../../leader/domain/decide/session.ts'
import type { DecideContext } from '../../leader/domain/decision.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { LIMITS } from '../../schema/limits.ts'
import { DomainSession, type InputOf, typesOf } from '../support/domain/domain-session.ts'

const created = (changes: Partial<InputOf<'session.create'>> = {}): DomainSession => new DomainSession().create(changes)
const header = (session: DomainSession): SessionHeader => session.state.header as SessionHeader

test('S1 a new session has its defaults and nothing that was not given', () => {
  expect(header(created())).toEqual({
    sessionId: 'session-1',
    title: '',
    titleIsManual: false,
    cwd: '/srv/ada',
    backend: 'scripted',
    permissionMode: 'ask',
    collaborationMode: 'agent',
    status: 'idle',
    isArchived: false,
    createdAt: 1_000,
    lastActivityAt: 1_000,
    revision: 1,
  })
})

test('S1 what was given is kept; a given title is nobody else’s to change', () => {
  const session = created({ title: 'Mine', model: 'm', permissionMode: 'bypass', collaborationMode: 'plan' })
  const given = { title: 'Mine', titleIsManual: true, model: 'm', permissionMode: 'bypass', collaborationMode: 'plan' }
  expect(header(session)).toMatchObject(given)
  session.start('t1', 'a first message')
  expect(header(session)).toMatchObject({ title: 'Mine', revision: 1 })
})

test('S1 an unknown backend is an invalid request, a second session under one id a conflict', () => {
  const input = { cwd: '/', backend: 'nobody' }
  expect(new DomainSession().refusal('session.create', input)).toMatchObject({
    code: 'invalid_request',
    detail: { path: 'backend' },
  })
  expect(created().refusal('session.create', { cwd: '/', backend: 'scripted' }).code).toBe('operation_conflict')
})

test('S1 the first message names a session, the next ones do not', () => {
  const session = created()
  session.start('t1', '  \n\n  Fix   the\tbuild \nand more')
  expect(header(session)).toMatchObject({ title: 'Fix the build', titleIsManual: false, revision: 2 })
  session.submit('m1', 'next_turn', 'Another thing')
  expect(header(session).title).toBe('Fix the build')
})

test('S1 a title comes from what is shown of a message', () => {
  const session = created()
  session.do('turn.start', { turnId: 't1', content: { text: 'the whole prompt', displayText: 'Short' } })
  expect(header(session).title).toBe('Short')
})

test.each([
  ['', ''],
  [' \r\n\t\u2028 ', ''],
  ['one', 'one'],
  ['\n\n# Heading  here\n', '# Heading here'],
  ['a\u2029b', 'a'],
  ['x'.repeat(200), 'x'.repeat(LIMITS.autoTitleChars)],
  [`${'x'.repeat(LIMITS.autoTitleChars - 1)}😀`, 'x'.repeat(LIMITS.autoTitleChars - 1)],
  [`${'x'.repeat(LIMITS.autoTitleChars - 1)} yes`, 'x'.repeat(LIMITS.autoTitleChars - 1)],
])('S1 the title of %j', (text, title) => {
  expect(titleFrom(text)).toBe(title)
})

const MISSING: readonly Parameters<DomainSession['refusal']>[] = [
  ['session.update', { expectedRevision: 1, patch: {} }],
  ['session.archive', {}],
  ['session.unarchive', {}],
  ['turn.start', { turnId: 't', content: { text: 'x' } }],
  ['turn.stop', { turnId: 't', runId: 'r' }],
  ['turn.interrupt', { turnId: 't', runId: 'r', interruptId: 'i' }],
  ['turn.message.submit', { originHostEpoch: 'e', messageId: 'm', content: { text: 'x' }, placement: 'next_turn' }],
  ['queue.edit', { entryId: 'e', expectedEntryRevision: 1, content: { text: 'x' } }],
  ['queue.remove', { entryId: 'e', expectedEntryRevision: 1 }],
  ['queue.move', { entryId: 'e', expectedEntryRevision: 1, before: 'f' }],
  ['queue.promote', { entryId: 'e', expectedEntryRevision: 1 }],
  ['queue.retract', { retractId: 'r' }],
  ['queue.resume', {}],
  ['interaction.answer', { interactionId: 'i', answer: { kind: 'permission', optionId: 'o' } }],
]

test.each(MISSING)('T2 %s on a session that is not there is not_found', (operation, input) => {
  expect(new DomainSession().refusal(operation, input)).toMatchObject({ kind: 'refuse', code: 'not_found' })
})

test.each(MISSING.filter(([operation]) => /^(turn|queue)\./.test(operation)))(
  'S4 %s on an archived session is session_archived',
  (operation, input) => {
    const session = created()
    session.do('session.archive', {})
    expect(session.refusal(operation, input).code).toBe('session_archived')
  },
)

test('S2 an update that fits commits, one that does not is a result', () => {
  const session = created()
  const patch = {
    title: 'New',
    cwd: '/else',
    model: 'm',
    permissionMode: 'explore',
    collaborationMode: 'plan',
  } as const
  const result = session.do('session.update', { expectedRevision: 1, patch })
  expect(result).toEqual({ kind: 'committed', session: header(session) })
  expect(header(session)).toMatchObject({ ...patch, titleIsManual: true, revision: 2 })
  const late = session.decide('session.update', { expectedRevision: 1, patch: { title: 'Late' } })
  expect(typesOf(late)).toEqual([])
  expect(session.take(late)).toEqual({ kind: 'revision_conflict', expected: 1, actual: 2 })
})

test('S2 A3 an update that changes nothing is no header write and no transition', () => {
  const session = created({ title: 'Same' })
  const decision = session.decide('session.update', { expectedRevision: 1, patch: { title: 'Same', cwd: '/srv/ada' } })
  expect(typesOf(decision)).toEqual([])
  expect(session.take(decision)).toEqual({ kind: 'committed', session: header(session) })
})

test('S2 a title that was taken away is given by the next message again', () => {
  const session = created({ title: 'Mine' })
  session.do('session.update', { expectedRevision: 1, patch: { title: '' } })
  expect(header(session)).toMatchObject({ title: '', titleIsManual: false, revision: 2 })
  session.start('t1', 'Named anew')
  expect(header(session).title).toBe('Named anew')
})

test('S2 while a turn runs the modes stay; everything else may change, and a mode may be set to what it is', () => {
  const session = created()
  session.start('t1')
  const { revision } = header(session)
  const expectedRevision = revision
  for (const patch of [{ permissionMode: 'bypass' }, { collaborationMode: 'plan' }] as const) {
    const refusal = session.refusal('session.update', { expectedRevision, patch })
    expect(refusal).toMatchObject({ code: 'session_busy', detail: { turnId: 't1' } })
  }
  const patch = { title: 'Renamed', permissionMode: 'ask' } as const
  expect(session.do('session.update', { expectedRevision, patch })).toMatchObject({ kind: 'committed' })
})

test('S2 I7 the list of what is always allowed can be shortened and nothing else', () => {
  const session = created()
  session.apply([{ type: 'session_updated', payload: { patch: { alwaysAllowed: ['edit', 'execute'] } } }], 'leader')
  const update = (alwaysAllowed: string[]) => ({ expectedRevision: 2, patch: { alwaysAllowed } })
  for (const list of [
    ['edit', 'fetch'],
    ['edit', 'execute', 'fetch'],
    ['edit', 'edit'],
  ]) {
    expect(session.refusal('session.update', update(list))).toMatchObject({
      code: 'invalid_request',
      detail: { path: 'patch.alwaysAllowed' },
    })
  }
  session.do('session.update', update(['execute']))
  expect(header(session)).toMatchObject({ alwaysAllowed: ['execute'], revision: 3 })
})

test('S3 archiving needs a session at rest, and is done once', () => {
  const running = created()
  const { turnId, runId } = running.start('t1')
  expect(running.refusal('session.archive', {})).toMatchObject({ code: 'session_busy', detail: { turnId } })
  running.submit('m1', 'next_turn')
  running.do('turn.stop', { turnId, runId })
  running.apply([
    { type: 'run_cancelled', payload: { turnId, runId, eventId: 'e', abortSource: 'user_stop' } },
    { type: 'turn_settled', payload: { turnId, runId, terminalEventId: 'e' } },
  ])
  expect(running.state.queue[0]?.entry.state).toBe('parked')
  expect(running.refusal('session.archive', {})).toMatchObject({ code: 'session_busy', detail: { queueCount: 1 } })
  running.do('queue.retract', { retractId: 'r' })
  running.do('session.archive', {})
  const again = running.decide('session.archive', {})
  expect(typesOf(again)).toEqual([])
  expect(running.take(again)).toEqual({ session: header(running) })
  running.do('session.unarchive', {})
  expect(header(running).isArchived).toBe(false)
  expect(typesOf(running.decide('session.unarchive', {}))).toEqual([])
})

test('S3 a pending interaction keeps a session from being archived', () => {
  const session = created()
  const { turnId, runId } = session.start('t1')
  const request = { kind: 'question' as const, questions: [{ question: 'Which?', options: [] }] }
  session.apply([{ type: 'interaction_opened', payload: { turnId, runId, interactionId: 'i1', request } }])
  session.state = { ...session.state, root: null }
  expect(session.refusal('session.archive', {}).code).toBe('session_busy')
})

test('L6 a compaction is decided twice: before its work, also while a turn runs, and after it with what it came to', () => {
  const session = created()
  session.start('t1')
  expect(session.decide('session.compact', {})).toEqual({ kind: 'wait_for_compaction', before: null })
  expect(session.decide('session.compact', { beforeRevision: 3 })).toEqual({ kind: 'wait_for_compaction', before: 3 })
  const compacted = { bytesBefore: 9, bytesAfter: 4 }
  const { state } = session
  const done = decideCompact({ compacted } as DecideContext, { sessionId: 's' })
  expect(typesOf(done)).toEqual([])
  expect(session.take(done)).toEqual(compacted)
  expect(session.state).toBe(state)
})
