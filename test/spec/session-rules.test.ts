import { expect, test } from 'vitest'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { BOB, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

async function headerOf(leader: TestLeader, sessionId: string): Promise<SessionHeader> {
  return (await leader.ok('session.get', { sessionId })).session
}

test('S1 create gives the whole header with its defaults, and the same again for the same input', async () => {
  const leader = await startTestLeader()
  const input = { sessionId: 's', cwd: '/nowhere/yet', backend: 'scripted' }
  const first = await leader.call('session.create', input)
  const session = {
    sessionId: 's',
    title: '',
    titleIsManual: false,
    cwd: '/nowhere/yet',
    backend: 'scripted',
    permissionMode: 'ask',
    collaborationMode: 'agent',
    status: 'idle',
    isArchived: false,
    createdAt: expect.any(Number),
    lastActivityAt: expect.any(Number),
    revision: 1,
  }
  expect(first).toEqual({ ok: true, status: 200, result: { session }, revision: 1 })
  expect(await leader.call('session.create', input, BOB)).toEqual(first)
  expect(await leader.refused('session.create', { ...input, title: 'x' })).toMatchObject({ code: 'operation_conflict' })
  expect(await leader.transitions('s')).toEqual([['session_created']])
  await leader.restart()
  expect(await leader.call('session.create', input)).toEqual(first)
})

test('S1 a backend the leader does not know is an invalid request, and nothing is there afterwards', async () => {
  const leader = await startTestLeader()
  const answer = await leader.call('session.create', { sessionId: 's', cwd: '/', backend: 'nobody' })
  expect(answer).toMatchObject({
    ok: false,
    status: 400,
    error: { code: 'invalid_request', detail: { path: 'backend' } },
  })
  expect((await leader.refused('session.get', { sessionId: 's' })).code).toBe('not_found')
  await leader.create('s')
})

test('S1 the first message names a session', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  await leader.startTurn('s', 't1', '\n  Fix the   build  \nplease')
  expect(await headerOf(leader, 's')).toMatchObject({ title: 'Fix the build', titleIsManual: false, revision: 2 })
  await leader.ended('s', 't1')
})

test('S2 a stale revision is a result, not an error', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  const update = (operationId: string, expectedRevision: number, title: string) =>
    leader.ok('session.update', { sessionId: 's', operationId, expectedRevision, patch: { title } })
  const committed = await update('o1', 1, 'One')
  expect(committed).toEqual({ kind: 'committed', session: await headerOf(leader, 's') })
  expect(await update('o2', 1, 'Two')).toEqual({ kind: 'revision_conflict', expected: 1, actual: 2 })
  expect(await update('o1', 1, 'One')).toEqual(committed)
  expect(await update('o2', 1, 'Two')).toEqual({ kind: 'revision_conflict', expected: 1, actual: 2 })
  expect(await headerOf(leader, 's')).toMatchObject({ title: 'One', revision: 2 })
  expect(await leader.revision('s')).toBe(2)
})

test('S2 of many updates on one revision exactly one commits', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  const updates = Array.from({ length: 12 }, (_, i) =>
    leader.ok('session.update', { sessionId: 's', expectedRevision: 1, patch: { title: `T${i}` } }),
  )
  const kinds = (await Promise.all(updates)).map(result => result.kind)
  expect(kinds.filter(kind => kind === 'committed')).toHaveLength(1)
  expect(await headerOf(leader, 's')).toMatchObject({ revision: 2 })
})

test('S2 the modes of a session do not change while a turn runs', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  await leader.startTurn('s', 't1', 'x')
  const { revision: expectedRevision } = await headerOf(leader, 's')
  const patches = [{ permissionMode: 'bypass' }, { collaborationMode: 'plan' }] as const
  for (const patch of patches) {
    const error = await leader.refused('session.update', { sessionId: 's', expectedRevision, patch })
    expect(error).toMatchObject({ code: 'session_busy', detail: { turnId: 't1' } })
  }
  ;(await hand.run('t1')).complete()
  await leader.ended('s', 't1')
  for (const [i, patch] of patches.entries()) {
    const input = { sessionId: 's', expectedRevision: expectedRevision + i, patch }
    expect(await leader.ok('session.update', input)).toMatchObject({ kind: 'committed' })
  }
})

const PATCHES: readonly [object, string][] = [
  [{ title: 'x'.repeat(201) }, 'patch.title'],
  [{ cwd: `/${'x'.repeat(4096)}` }, 'patch.cwd'],
  [{ cwd: 'relative' }, 'patch.cwd'],
  [{ model: 'x'.repeat(201) }, 'patch.model'],
  [{ permissionMode: 'sometimes' }, 'patch.permissionMode'],
  [{ status: 'idle' }, 'patch.status'],
  [{ title: null }, 'patch.title'],
]

test('S2 W2 a patch out of bounds is an invalid request that names its path', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  for (const [patch, path] of PATCHES) {
    const answer = await leader.call('session.update', { sessionId: 's', expectedRevision: 1, patch })
    expect([patch, answer]).toMatchObject([patch, { ok: false, status: 400, error: { detail: { path } } }])
  }
  expect(await leader.revision('s')).toBe(1)
})

test('S3 archiving is refused while a turn runs and while entries wait, parked ones too; then done once', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  const { runId } = await leader.startTurn('s', 't1', 'x')
  await leader.submit('s', 'm1', 'next_turn')
  expect(await leader.refused('session.archive', { sessionId: 's' })).toMatchObject({
    code: 'session_busy',
    detail: { turnId: 't1' },
  })
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId })
  const busy = await leader.call('session.archive', { sessionId: 's' })
  expect(busy).toMatchObject({ status: 409, error: { code: 'session_busy', detail: { queueCount: 1 } } })
  await leader.ok('queue.retract', { sessionId: 's', retractId: 'r' })
  const { session } = await leader.ok('session.archive', { sessionId: 's' })
  expect(session.isArchived).toBe(true)
  const revision = await leader.revision('s')
  expect(await leader.ok('session.archive', { sessionId: 's' })).toEqual({ session })
  expect(await leader.revision('s')).toBe(revision)
  expect((await leader.ok('session.unarchive', { sessionId: 's' })).session).toMatchObject({ isArchived: false })
})

const REFUSED_WHEN_ARCHIVED: Readonly<Record<string, object>> = {
  'turn.start': { turnId: 't9', content: { text: 'x' } },
  'turn.stop': { turnId: 't9', runId: 'r' },
  'turn.interrupt': { turnId: 't9', runId: 'r', interruptId: 'i' },
  'turn.message.submit': { originHostEpoch: 'e', messageId: 'm9', content: { text: 'x' }, placement: 'next_turn' },
  'queue.edit': { entryId: 'e', expectedEntryRevision: 1, content: { text: 'x' } },
  'queue.remove': { entryId: 'e', expectedEntryRevision: 1 },
  'queue.move': { entryId: 'e', expectedEntryRevision: 1, before: 'f' },
  'queue.promote': { entryId: 'e', expectedEntryRevision: 1 },
  'queue.retract': { retractId: 'r' },
  'queue.resume': {},
}

test('S4 an archived session refuses turns and queue before any trace; a known identity is answered first', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  await leader.startTurn('s', 't1', 'hi')
  const ended = await leader.ended('s', 't1')
  await leader.ok('session.archive', { sessionId: 's' })
  const revision = await leader.revision('s')
  for (const [operation, input] of Object.entries(REFUSED_WHEN_ARCHIVED)) {
    const answer = await leader.call(operation, { sessionId: 's', ...input })
    expect([operation, answer]).toMatchObject([operation, { status: 409, error: { code: 'session_archived' } }])
  }
  const start = { sessionId: 's', turnId: 't1', content: { text: 'hi' } }
  expect(await leader.ok('turn.start', start)).toEqual({ kind: 'started', turn: ended })
  expect(await leader.revision('s')).toBe(revision)
  expect((await leader.refused('turn.query', { sessionId: 's', turnId: 't9' })).code).toBe('not_found')
  for (const [operation, id] of [
    ['turn.start', 't9'],
    ['turn.message.submit', 'm9'],
  ] as const) {
    expect(await leader.ok('receipt.query', { sessionId: 's', operation, id })).toEqual({ stored: false })
  }
  await leader.ok('session.unarchive', { sessionId: 's' })
  await leader.startTurn('s', 't9', 'x')
  await leader.ended('s', 't9')
})

test('S7 the list goes from the newest activity on, in pages, archived ones apart', async () => {
  const leader = await startTestLeader()
  for (let i = 0; i < 7; i++) await leader.create(`s${i}`)
  await waitFor(async () => Date.now() > (await headerOf(leader, 's6')).lastActivityAt)
  await leader.ok('session.update', { sessionId: 's2', expectedRevision: 1, patch: { title: 'touched' } })
  await leader.ok('session.archive', { sessionId: 's4' })
  const seen: SessionHeader[] = []
  let cursor: string | undefined
  for (;;) {
    const page = await leader.ok('session.list', { limit: 3, ...(cursor === undefined ? {} : { cursor }) })
    seen.push(...page.sessions)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  expect(seen[0]).toEqual(await headerOf(leader, 's2'))
  const byActivity = [...seen].sort((a, b) => b.lastActivityAt - a.lastActivityAt)
  expect(seen.map(s => s.lastActivityAt)).toEqual(byActivity.map(s => s.lastActivityAt))
  expect(seen.map(s => s.sessionId).sort()).toEqual(['s0', 's1', 's2', 's3', 's5', 's6'])
  const archived = await leader.ok('session.list', { archived: true })
  expect(archived).toMatchObject({ kind: 'page', sessions: [{ sessionId: 's4' }], nextCursor: null })
  expect(await leader.refused('session.list', { cursor: 'nonsense' })).toMatchObject({ code: 'invalid_request' })
  expect(await leader.refused('session.list', { limit: 101 })).toMatchObject({ detail: { path: 'limit' } })
})

test('S7 lastActivityAt moves at the start and the end of a turn and with a command, not with what a run does', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  await leader.startTurn('s', 't1', 'x')
  const started = (await headerOf(leader, 's')).lastActivityAt
  const run = await hand.run('t1')
  await waitFor(() => Date.now() > started + 5)
  await run.context.notice('something')
  await run.context.text('more')
  expect((await headerOf(leader, 's')).lastActivityAt).toBe(started)
  await leader.submit('s', 'm1', 'current_turn')
  const submitted = (await headerOf(leader, 's')).lastActivityAt
  expect(submitted).toBeGreaterThan(started)
  await waitFor(() => Date.now() > submitted + 5)
  await leader.ok('queue.retract', { sessionId: 's', retractId: 'r' })
  run.complete()
  await leader.ended('s', 't1')
  expect((await headerOf(leader, 's')).lastActivityAt).toBeGreaterThan(submitted)
})

test('S8 a session that waits for its backend or for a person keeps answering, and no other session waits for it', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  await leader.create('other')
  const { runId } = await leader.startTurn('s', 't1', 'x')
  const run = await hand.run('t1')
  const asked = run.context.ask({ questions: [{ question: 'Which?', options: [] }] }).catch(() => null)
  await waitFor(async () => (await headerOf(leader, 's')).status === 'waiting_for_user')
  await leader.submit('s', 'm1', 'next_turn')
  await leader.startTurn('other', 't1', 'hi')
  await leader.ended('other', 't1')
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId })
  await asked
  expect((await headerOf(leader, 's')).status).toBe('idle')
})
