import { expect, test } from 'vitest'
import type { CommandName } from '../../schema/commands/index.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { BOB, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

/** A command, the id that identifies it, and another payload under the same identity. */
interface Case {
  readonly operation: CommandName
  readonly id: string
  readonly input: Readonly<Record<string, unknown>>
  readonly other: Readonly<Record<string, unknown>>
}

const of = (operation: CommandName, id: string, input: object, other: object): Case => ({
  operation,
  id,
  input: { sessionId: 's', ...input },
  other: { sessionId: 's', ...input, ...other },
})

const content = (text: string) => ({ content: { text } })
const entry = (operationId: string, entryId: string, expectedEntryRevision = 1) => ({
  operationId,
  entryId,
  expectedEntryRevision,
})

/** One command of each kind, in an order in which each succeeds on a fresh session. `runId` is the one of turn t1. */
function casesWhileRunning(runId: string): readonly Case[] {
  const submit = (messageId: string) => ({
    originHostEpoch: 'e',
    messageId,
    ...content(messageId),
    placement: 'next_turn',
  })
  return [
    of(
      'session.update',
      'o1',
      { operationId: 'o1', expectedRevision: 2, patch: { title: 'A' } },
      { patch: { title: 'B' } },
    ),
    of('turn.start', 't1', { turnId: 't1', ...content('first') }, content('other')),
    of('turn.message.submit', 'm1', submit('m1'), content('other')),
    of('turn.message.submit', 'm2', submit('m2'), { placement: 'current_turn' }),
    of('turn.message.submit', 'm3', submit('m3'), content('other')),
    of('queue.edit', 'o2', { ...entry('o2', 'm1'), ...content('edited') }, content('other')),
    of('queue.move', 'o3', { ...entry('o3', 'm2'), before: 'm1' }, { before: 'm3' }),
    of('queue.promote', 'o4', entry('o4', 'm2', 2), { expectedEntryRevision: 3 }),
    of('queue.remove', 'o5', entry('o5', 'm3'), { entryId: 'm1' }),
    of('queue.resume', 'o6', { operationId: 'o6' }, { operationId: 'o6', sessionId: 's' }),
    of('queue.retract', 'r1', { retractId: 'r1' }, {}),
    of('turn.interrupt', 'i1', { interruptId: 'i1', turnId: 't1', runId }, { turnId: 't2' }),
    of('turn.stop', runId, { turnId: 't1', runId }, { turnId: 't2' }),
    of('session.archive', 'o7', { operationId: 'o7' }, {}),
    of('session.unarchive', 'o8', { operationId: 'o8' }, {}),
  ]
}

async function started(): Promise<{ leader: TestLeader; hand: HandBackend; cases: readonly Case[] }> {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  const { runId } = await leader.startTurn('s', 't1', 'first')
  return { leader, hand, cases: casesWhileRunning(runId) }
}

/** The results of the first time, by operation and id. */
async function runAll(leader: TestLeader, cases: readonly Case[]): Promise<Map<Case, unknown>> {
  const results = new Map<Case, unknown>()
  for (const one of cases) {
    const answer = await leader.call(one.operation, one.input)
    expect([one, answer.ok]).toEqual([one, true])
    results.set(one, answer.ok && answer.result)
  }
  return results
}

/** What a repeated command gives: the stored result, with the turn as it is now. */
async function expected(leader: TestLeader, one: Case, result: unknown): Promise<unknown> {
  const turn = await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })
  if (one.operation === 'turn.stop') return turn
  return one.operation === 'turn.start' || one.operation === 'turn.interrupt' ? { ...(result as object), turn } : result
}

async function expectReplays(leader: TestLeader, cases: readonly Case[], results: Map<Case, unknown>): Promise<void> {
  const revision = await leader.revision('s')
  for (const one of cases) {
    const result = await expected(leader, one, results.get(one))
    expect([one, await leader.call(one.operation, one.input, BOB)]).toMatchObject([one, { ok: true, result }])
    const asked = { sessionId: 's', operation: one.operation, id: one.id }
    expect(await leader.ok('receipt.query', asked)).toEqual({ stored: true, result })
    if (JSON.stringify(one.other) === JSON.stringify(one.input)) continue
    const reply = await leader.call(one.operation, one.other)
    expect([one, reply]).toMatchObject([one, { status: 409, error: { code: 'operation_conflict' } }])
  }
  expect(await leader.revision('s')).toBe(revision)
}

test('A5 A3 every command, sent again: the stored result, no second effect; another payload: a conflict', async () => {
  const { leader, cases } = await started()
  await expectReplays(leader, cases, await runAll(leader, cases))
})

test('A5 S4 and after a restart, and when the session is archived since', async () => {
  const { leader, hand, cases } = await started()
  const results = await runAll(leader, cases)
  await leader.restart({ backends: [hand] })
  await expectReplays(leader, cases, results)
  await leader.ok('session.archive', { sessionId: 's', operationId: 'last' })
  await expectReplays(leader, cases, results)
})

test('A5 many retries at once have one effect', async () => {
  const { leader } = await started()
  const input = {
    originHostEpoch: 'e',
    sessionId: 's',
    messageId: 'm',
    ...content('x'),
    placement: 'next_turn' as const,
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => leader.ok('turn.message.submit', input)))
  expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
  const added = (await leader.ledger('s')).flatMap(r => r.events).filter(e => e.type === 'queue_entry_added')
  expect(added).toHaveLength(1)
})

test('A5 the same id means another command in another session and for another operation', async () => {
  const { leader } = await started()
  await leader.create('other', 'hand')
  for (const sessionId of ['s', 'other']) {
    const title = `of ${sessionId}`
    const input = { sessionId, operationId: 'same', expectedRevision: sessionId === 's' ? 2 : 1, patch: { title } }
    expect(await leader.ok('session.update', input)).toMatchObject({ session: { title } })
  }
  expect(await leader.ok('queue.resume', { sessionId: 's', operationId: 'same' })).toEqual({ queueRevision: 0 })
  expect(await leader.ok('queue.retract', { sessionId: 's', retractId: 'same' })).toMatchObject({ retracted: [] })
})

test('A5 a command without an operationId is new each time', async () => {
  const { leader } = await started()
  const update = (title: string) => ({ sessionId: 's', expectedRevision: 2, patch: { title } })
  expect(await leader.ok('session.update', update('A'))).toMatchObject({ kind: 'committed' })
  expect(await leader.ok('session.update', update('A'))).toMatchObject({ kind: 'revision_conflict' })
})

test('A3 A5 a refusal is not stored: the same command may succeed later', async () => {
  const { leader, hand } = await started()
  const second = { sessionId: 's', turnId: 't2', ...content('second') }
  expect((await leader.refused('turn.start', second)).code).toBe('session_busy')
  const asked = { sessionId: 's', operation: 'turn.start', id: 't2' }
  expect(await leader.ok('receipt.query', asked)).toEqual({ stored: false })
  ;(await hand.run('t1')).complete()
  await leader.ended('s', 't1')
  expect(await leader.ok('turn.start', second)).toMatchObject({ turn: { turnId: 't2' } })
})

test('A5 C2 a payload is compared in canonical form', async () => {
  const { leader } = await started()
  const base = { originHostEpoch: 'e', sessionId: 's', messageId: 'm', placement: 'next_turn' as const }
  const quotes = [{ text: 'a' }, { text: 'b', label: 'l' }]
  const first = await leader.ok('turn.message.submit', { ...base, content: { text: 'x', quotes } })
  const same = `{"placement":"next_turn","content":{"displayText":"x","attachments":[],"quotes":[{"text":"a"},{"label":"l","text":"b"}],"text":"x"},"messageId":"m","sessionId":"s","originHostEpoch":"other"}`
  expect(await leader.call('turn.message.submit', same)).toMatchObject({ ok: true, result: first })
  const turned = { ...base, content: { text: 'x', quotes: quotes.toReversed() } }
  expect((await leader.refused('turn.message.submit', turned)).code).toBe('operation_conflict')
})

test('A5 receipt.query knows nothing of unknown sessions, operations and ids', async () => {
  const { leader } = await started()
  for (const asked of [
    { sessionId: 'nobody', operation: 'turn.start', id: 't1' },
    { sessionId: 's', operation: 'turn.start', id: 't9' },
    { sessionId: 's', operation: 'turn.message.submit', id: 't1' },
    { sessionId: 's', operation: 'no.such', id: 't1' },
  ]) {
    expect(await leader.ok('receipt.query', asked)).toEqual({ stored: false })
  }
})

test('I4 A5 an answer is found by its interaction', async () => {
  const { leader, hand } = await started()
  const { context } = await hand.run('t1')
  void context.ask({ questions: [{ question: 'Which?', options: [{ label: 'a' }] }] })
  const [pending] = await waitFor(async () => {
    const { interactions } = await leader.ok('interaction.list', {})
    return interactions.length > 0 ? interactions : null
  })
  const interactionId = pending?.interactionId as string
  const asked = { sessionId: 's', operation: 'interaction.answer', id: interactionId }
  expect(await leader.ok('receipt.query', asked)).toEqual({ stored: false })
  const answer = { kind: 'question' as const, answers: [{ labels: ['a'] }] }
  const result = await leader.ok('interaction.answer', { interactionId, answer })
  expect(await leader.ok('receipt.query', asked)).toEqual({ stored: true, result })
})
