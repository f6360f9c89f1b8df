import { expect, test } from 'vitest'
import type { OfflineStore } from '../../leader/index.ts'
import type { Admission, Execution } from '../../schema/entities/turn.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { ADA, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

const RUN = { sessionId: 's', turnId: 't1', runId: 'r1' }
const AGENT = { agentId: 'a1', agentName: 'Scout' }
const CONTENT = { text: 'hello', quotes: [{ text: 'q' }] }

function admission(changes: Partial<Admission> = {}): { sessionId: string } & Admission {
  return {
    ...RUN,
    userMessageId: 'm1',
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: CONTENT,
    sourceMessages: [],
    submittedBy: ADA,
    admittedAt: 1_700_000_000_000,
    ...changes,
  }
}

type Step = (store: OfflineStore) => Promise<unknown>

const admit =
  (changes: Partial<Admission> = {}): Step =>
  store =>
    store.admitTurn(admission(changes))
const run =
  (changes: object = {}): Step =>
  store =>
    store.createRun({ ...RUN, ...changes })
const message =
  (changes: object = {}): Step =>
  store =>
    store.appendUserMessage({ sessionId: 's', turnId: 't1', messageId: 'm1', content: CONTENT, at: 5, ...changes })
const happened =
  (type: string, payload: Readonly<Record<string, unknown>> = {}): Step =>
  store =>
    store.appendRunEvent({ sessionId: 's', runId: 'r1', type, payload })

/** A leader on a root whose session `s` holds what the steps wrote, and a second session `other` that nothing happened to. */
async function planted(steps: readonly Step[], hand = new HandBackend()): Promise<TestLeader> {
  return await startTestLeader({
    backends: [hand],
    plant: async store => {
      for (const sessionId of ['other', 's']) await store.createSession({ sessionId, cwd: '/', backend: 'hand' })
      for (const step of steps) await step(store)
    },
  })
}

/** Starts two more leaders: what recovery left must not change any more. */
async function expectSettled(leader: TestLeader): Promise<void> {
  const ledger = await leader.ledger('s')
  const turn = await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })
  for (let i = 0; i < 2; i++) {
    await leader.restart({ backends: [new HandBackend()] })
    expect(await leader.ledger('s')).toEqual(ledger)
    expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual(turn)
  }
  expect((await leader.ok('root.verify', {})).faults).toEqual([])
}

const failed = { ...RUN, status: 'failed', failureClass: 'app_restarted', terminalEventId: expect.any(String) }

async function eventTypes(leader: TestLeader): Promise<readonly string[]> {
  return (await leader.transitions('s')).flat()
}

test('X1 X5 X13 a run without an end fails once; its equal message is kept; the same after a third start', async () => {
  const equal = { quotes: [{ text: 'q' }], attachments: [], displayText: 'hello', text: 'hello' }
  const leader = await planted([admit(), run(), message({ content: equal })])
  expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual(failed)
  expect((await leader.transitions('s')).slice(-1)).toEqual([['run_failed', 'turn_settled']])
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 10 })
  expect(page.entries).toMatchObject([{ kind: 'user', id: 'm1', content: CONTENT }])
  await expectSettled(leader)
})

test.each([
  ['run_completed', {}, { status: 'completed' }],
  ['run_cancelled', { abortSource: 'user_stop' }, { status: 'cancelled', abortSource: 'user_stop' }],
  [
    'run_failed',
    { failureClass: 'auth', failureMessage: 'no key' },
    { status: 'failed', failureClass: 'auth', failureMessage: 'no key' },
  ],
])('X2 an end %s in the ledger is adopted, without a second one', async (type, payload, keys) => {
  const leader = await planted([admit(), run(), message(), happened(type, payload)])
  const turn = await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })
  expect(turn).toEqual({ ...RUN, ...keys, terminalEventId: 'e5-0' })
  expect((await eventTypes(leader)).filter(name => name === 'turn_settled' || name.startsWith('run_'))).toEqual([
    'run_created',
    type,
    'turn_settled',
  ])
  await expectSettled(leader)
})

test.each<Execution>([{ kind: 'external_message' }, { kind: 'regenerate', sourceTurnId: 't0' }])(
  'X3 T6 an admission %j without a run is resumed before ready: same run, one message, busy meanwhile',
  async execution => {
    const hand = new HandBackend()
    const leader = await planted([admit({ execution })], hand)
    expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual({ ...RUN, status: 'running' })
    const other = { sessionId: 's', turnId: 't2', content: { text: 'x' } }
    expect(await leader.refused('turn.start', other)).toMatchObject({ code: 'session_busy', detail: { turnId: 't1' } })
    const { context } = await hand.run('t1')
    expect([context.runId, context.input]).toEqual(['r1', CONTENT])
    const again = await leader.call('turn.start', { sessionId: 's', turnId: 't1', content: CONTENT })
    const isExternal = execution.kind === 'external_message'
    expect(again).toMatchObject(
      isExternal
        ? { result: { kind: 'started', turn: { ...RUN, status: 'running' } } }
        : { error: { code: 'operation_conflict' } },
    )
    hand.runs[0]?.complete()
    expect(await leader.ended('s', 't1')).toMatchObject({ status: 'completed' })
    const messages = (await eventTypes(leader)).filter(type => type === 'user_message_appended')
    expect(messages).toHaveLength(1)
    await expectSettled(leader)
  },
)

test('X3 nothing else runs by itself: a turn admitted before another fails instead', async () => {
  const hand = new HandBackend()
  const second = { turnId: 't2', runId: 'r2', userMessageId: 'm2', previousRootTurnId: 't1' }
  const leader = await planted([admit(), admit(second)], hand)
  expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual(failed)
  expect((await hand.run('t2')).context.runId).toBe('r2')
  expect(hand.runs).toHaveLength(1)
})

test('X4 a missing message is put back from the admission: same id, at its time', async () => {
  const leader = await planted([admit(), run()])
  expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual(failed)
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 10 })
  expect(page.entries).toEqual([
    {
      seq: 1,
      id: 'm1',
      turnId: 't1',
      runId: 'r1',
      at: 1_700_000_000_000,
      kind: 'user',
      content: CONTENT,
      submittedBy: ADA,
    },
  ])
  await expectSettled(leader)
})

const CLOSED: readonly [Execution, object][] = [
  [{ kind: 'linked_child_initial', ...AGENT }, AGENT],
  [
    { kind: 'linked_child_resume', ...AGENT, sourceRunId: 'r0' },
    { ...AGENT, resumedFromRunId: 'r0' },
  ],
  [{ kind: 'claimed_agent_graph_intent', ...AGENT, claim: { targetTurnId: 't1', any: [1] } }, AGENT],
  [{ kind: 'plan', executionId: 'x1' }, {}],
]

test.each(CLOSED)(
  'X6 an admission %j without a run is closed without executing; its run carries %j',
  async (execution, origin) => {
    const hand = new HandBackend()
    const leader = await planted([admit({ execution })], hand)
    expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual(failed)
    expect(hand.runs).toEqual([])
    await expectSettled(leader)
    await leader.close()
    const reading = await leader.offline(store => store.readTurn('s', 't1'))
    const { status: _status, ...ended } = failed
    const keys = { ...ended, status: 'failed', startedAt: expect.any(Number), endedAt: expect.any(Number) }
    expect(reading.runs).toEqual([{ ...keys, ...origin }])
    expect(reading.userMessages).toMatchObject([{ messageId: 'm1', content: CONTENT, at: 1_700_000_000_000 }])
    expect(reading.classification).toEqual({
      kind: 'fact',
      fact: { runStatus: 'failed', failureClass: 'app_restarted' },
    })
  },
)

test('X7 a provider retry without a run is closed without a message; its run names the one it retries', async () => {
  const execution: Execution = { kind: 'linked_child_provider_retry', ...AGENT, sourceRunId: 'r0' }
  const leader = await planted([admit({ execution, userMessageId: null, normalizedInput: null })])
  expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual(failed)
  await expectSettled(leader)
  await leader.close()
  const reading = await leader.offline(store => store.readTurn('s', 't1'))
  expect(reading.userMessages).toEqual([])
  expect(reading.runs).toMatchObject([{ ...AGENT, retriedFromRunId: 'r0', status: 'failed' }])
  expect(reading.runs[0]).not.toHaveProperty('resumedFromRunId')
})

test('X11 a tool call without an outcome becomes unknown and is not made again', async () => {
  const hand = new HandBackend()
  const call = (toolCallId: string) => happened('tool_started', { toolCallId, name: 'edit', title: 'Edit' })
  const done = happened('tool_ended', { toolCallId: 'c1', status: 'completed', output: 'ok' })
  const leader = await planted([admit(), run(), message(), call('c1'), call('c2'), done], hand)
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 10 })
  expect(page.entries.slice(1)).toMatchObject([
    { kind: 'tool', toolCallId: 'c1', status: 'completed' },
    { kind: 'tool', toolCallId: 'c2', status: 'unknown' },
  ])
  expect(hand.runs).toEqual([])
  await expectSettled(leader)
})

const CONTRADICTIONS: readonly [string, readonly Step[]][] = [
  ['another message', [admit(), run(), message({ content: { text: 'other' } })]],
  ['another message id', [admit(), run(), message({ messageId: 'm9' })]],
  ['two messages', [admit(), run(), message(), message()]],
  ['a message without a run', [admit(), message()]],
  ['two ends', [admit(), run(), message(), happened('run_completed'), happened('run_failed')]],
  ['an end without a run', [admit(), happened('run_completed')]],
  ['two runs', [admit(), run(), run({ runId: 'r2' }), message()]],
  ['another run', [admit(), run({ runId: 'r2' })]],
  ['a lineage without its agent', [admit({ execution: { kind: 'linked_child_initial', ...AGENT } }), run()]],
  ['a lineage nobody admitted', [admit(), run({ resumedFromRunId: 'r0' })]],
  ['two heads', [admit(), admit({ turnId: 't2', runId: 'r2', userMessageId: 'm2' })]],
  ['a gap', [admit({ previousRootTurnId: 't0' })]],
  ['a turn admitted twice', [admit(), admit({ runId: 'r2' })]],
]

test.each(CONTRADICTIONS)('X5 X12 A9 %s: the session is set aside, and nobody else notices', async (_name, steps) => {
  const hand = new HandBackend()
  const leader = await planted(steps, hand)
  const ledger = await leader.ledger('s')
  expect((await leader.ok('session.get', { sessionId: 's' })).session.status).toBe('damaged')
  const listed = (await leader.ok('session.list', {})).sessions
  expect(listed.find(session => session.sessionId === 's')?.status).toBe('damaged')
  const status = await leader.ok('host.status', {})
  expect(status.faults).toMatchObject([{ code: 'session_damaged', sessionId: 's' }])
  expect(status.activeTurns).toBe(0)
  expect(hand.runs).toEqual([])
  const commands = [
    ['turn.start', { turnId: 't9', content: { text: 'x' } }],
    ['turn.stop', { turnId: 't1', runId: 'r1' }],
    ['turn.message.submit', { originHostEpoch: 'e', messageId: 'm', content: { text: 'x' }, placement: 'next_turn' }],
    ['session.update', { expectedRevision: 1, patch: { title: 'x' } }],
    ['session.archive', {}],
    ['queue.retract', { retractId: 'r' }],
  ] as const
  for (const [operation, input] of commands) {
    const answer = await leader.call(operation, { sessionId: 's', ...input })
    expect([operation, answer]).toMatchObject([operation, { status: 423, error: { code: 'session_damaged' } }])
  }
  await leader.ok('transcript.page', { sessionId: 's', limit: 10 })
  await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })
  expect(await leader.ledger('s')).toEqual(ledger)
  await leader.startTurn('other', 't1', 'hi')
  ;(await hand.run('t1')).complete()
  await leader.ended('other', 't1')
  await leader.restart({ backends: [hand] })
  expect((await leader.ok('session.get', { sessionId: 's' })).session.status).toBe('damaged')
  expect(await leader.ledger('s')).toEqual(ledger)
})

test('T4 a claim that names another session, turn or run cannot be planted', async () => {
  const claims = [{ targetSessionId: 'x' }, { targetTurnId: 'x' }, { targetRunId: 'x' }]
  const leader = await planted([])
  await leader.close()
  await leader.offline(async store => {
    for (const claim of claims) {
      const execution = { kind: 'claimed_agent_graph_intent' as const, ...AGENT, claim }
      await expect(store.admitTurn(admission({ execution }))).rejects.toMatchObject({ code: 'invalid_request' })
    }
    const null_ = admission({ normalizedInput: null })
    await expect(store.admitTurn(null_)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await store.readAdmissionChain('s')).toEqual([])
  })
})

test('X14 after a graceful stop the next start writes nothing', async () => {
  const hand = new HandBackend()
  const leader = await planted([], hand)
  const { runId } = await leader.startTurn('s', 't1', 'x')
  void (await hand.run('t1')).context.ask({ questions: [{ question: 'Which?', options: [] }] }).catch(() => {})
  await waitFor(async () => (await leader.ok('interaction.list', {})).interactions.length === 1)
  await leader.submit('s', 'm1', 'next_turn')
  await leader.close()
  const before = await leader.offline(store => store.readSession('s'))
  expect(before).toMatchObject({
    rootTurn: { turnId: 't1', runId, status: 'cancelled', abortSource: 'leader_shutdown' },
    queue: { parked: { reason: 'leader_stopped' } },
    interactions: { pending: [] },
  })
  await leader.start({ backends: [hand] })
  expect(await leader.revision('s')).toBe(before.revision)
  const [closed] = (await leader.ledger('s')).flatMap(r => r.events).filter(e => e.type === 'interaction_closed')
  expect(closed?.payload).toMatchObject({ reason: 'turn_stopped' })
})
