import { expect, test } from 'vitest'
import { decideEnd, decideRunStart, originOf, type RunEnding } from '../../leader/domain/decide/run.ts'
import { TurnSnapshot } from '../../schema/entities/turn.ts'
import { eventIdAt } from '../../schema/events.ts'
import { accept, BOB, DomainSession, typesOf } from '../support/domain/domain-session.ts'

const created = (): DomainSession => new DomainSession().create()
const content = { text: 'hello' }

function end(session: DomainSession, ending: RunEnding = { kind: 'completed' }, isDraining = false): void {
  const { turnId, runId } = session.admission
  session.take(decideEnd(session.state, { turnId, runId }, ending, { ...session.context(), isDraining }))
}

test('T1 T3 a start admits with everything the run will need, and answers when the run has started', () => {
  const session = created()
  const decision = accept(session.decide('turn.start', { turnId: 't1', content, maxSteps: 3 }))
  expect(decision).toMatchObject({
    when: { turnStarted: 't1' },
    turn: { turnId: 't1', as: 'turn' },
    effects: [{ kind: 'start_turn', turnId: 't1' }],
  })
  expect(session.take(decision)).toEqual({ kind: 'started' })
  const { runId, userMessageId } = session.admission
  const submittedBy = { surface: 'desktop', clientInstanceId: 'ada-1' }
  expect(session.admission).toEqual({
    turnId: 't1',
    runId,
    userMessageId,
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: content,
    sourceMessages: [
      { messageId: userMessageId, content, placement: 'next_turn', disposition: 'turn_started', submittedBy },
    ],
    submittedBy,
    admittedAt: 1_010,
    maxSteps: 3,
  })
  expect(session.state.root?.snapshot).toEqual({ sessionId: 'session-1', turnId: 't1', runId, status: 'admitted' })
})

test('T1 the second transition is the start of the run and the message together', () => {
  const session = created()
  session.do('turn.start', { turnId: 't1', content })
  const decision = decideRunStart(session.state, 't1', session.context())
  expect(typesOf(decision)).toEqual(['run_started', 'user_message_appended'])
  session.take(decision, 'leader')
  const { runId, userMessageId } = session.admission
  const entry = session.state.transcript.at(-1)?.entry
  expect(entry).toMatchObject({ seq: 1, id: userMessageId, kind: 'user', turnId: 't1', runId, content })
  expect(session.state.root?.runs).toEqual([
    { runId, turnId: 't1', sessionId: 'session-1', status: 'running', startedAt: 1_020 },
  ])
  expect(decideRunStart(session.state, 't1', session.context())).toMatchObject({ code: 'operation_conflict' })
})

test('T3 admissions form one chain, and no message that the leader names can be a client’s', () => {
  const session = created()
  const named = new Set<string | null>()
  for (const turnId of ['t1', 't2', 't3']) {
    session.start(turnId)
    named.add(session.admission.userMessageId)
    end(session)
  }
  expect(session.turns.map(turn => turn.admission?.previousRootTurnId)).toEqual([null, 't1', 't2'])
  expect(named.size).toBe(3)
  for (const [i, { admission }] of session.turns.entries()) {
    expect(admission?.userMessageId).toBe(`input-${session.turns[i]?.admission?.runId}`)
  }
})

test('T2 T5 a second start is busy and names the turn', () => {
  const session = created()
  session.do('turn.start', { turnId: 't1', content })
  const refusal = session.refusal('turn.start', { turnId: 't2', content })
  expect(refusal).toMatchObject({ code: 'session_busy', detail: { turnId: 't1', status: 'admitted' } })
  session.startRun()
  expect(session.refusal('turn.start', { turnId: 't2', content }).detail).toMatchObject({ status: 'running' })
})

test.each(['turn.start', 'turn.message.submit'] as const)('T7 %s waits while the ended run cleans up', operation => {
  const session = created()
  session.start('t1')
  end(session)
  const inputs = {
    'turn.start': { turnId: 't2', content },
    'turn.message.submit': { originHostEpoch: 'e', messageId: 'm', content, placement: 'next_turn' },
  } as const
  expect(session.decide(operation, inputs[operation], { isCleaningUp: true })).toEqual({ kind: 'wait_for_cleanup' })
  expect(session.decide(operation, inputs[operation]).kind).toBe('accept')
})

test('T6 a turn that is there without a receipt is known by its admission', () => {
  const session = created()
  session.start('t1', 'first')
  end(session)
  session.start('t2', 'second')
  const same = accept(session.decide('turn.start', { turnId: 't1', content: { text: 'first', displayText: 'first' } }))
  expect(same).toMatchObject({ events: [], turn: { turnId: 't1', as: 'turn' } })
  expect(accept(session.decide('turn.start', { turnId: 't2', content: { text: 'second' } })).events).toEqual([])
  for (const input of [
    { turnId: 't1', content: { text: 'other' } },
    { turnId: 't2', content: { text: 'second' }, maxSteps: 1 },
  ]) {
    expect(session.refusal('turn.start', input).code).toBe('operation_conflict')
  }
})

test('T6 A5 a turn that a message or a hand-off started is not started again under its id', () => {
  const session = created()
  session.submit('m1', 'next_turn', 'by message')
  const { turnId } = session.startRun()
  session.submit('m2', 'next_turn', 'handed on')
  end(session)
  session.handOn()
  const other = { content: { text: 'mine' } }
  expect(session.refusal('turn.start', { turnId, ...other }).code).toBe('operation_conflict')
  expect(session.refusal('turn.start', { turnId: session.admission.turnId, ...other }).code).toBe('operation_conflict')
})

test('T8 a stop parks the queue and closes the interactions in one transition, then is delivered', () => {
  const session = created()
  const { turnId, runId } = session.start('t1')
  session.submit('m1', 'next_turn')
  const request = { kind: 'question' as const, questions: [{ question: 'Which?', options: [] }] }
  session.apply([{ type: 'interaction_opened', payload: { turnId, runId, interactionId: 'i1', request } }])
  const decision = accept(session.decide('turn.stop', { turnId, runId }))
  expect(typesOf(decision)).toEqual(['queue_entries_parked', 'interaction_closed'])
  expect(decision).toMatchObject({ when: { turnEnded: 't1' }, turn: { turnId: 't1', as: 'self' } })
  expect(decision.effects).toEqual([
    { kind: 'settle', interactionId: 'i1', outcome: { kind: 'closure', reason: 'turn_stopped', at: 1_050 } },
    { kind: 'stop_run', turnId, runId, abortSource: 'user_stop' },
  ])
  session.take(decision)
  expect(session.state.queue[0]).toMatchObject({
    entry: { state: 'parked' },
    parked: { reason: 'turn_stopped', since: 1_050 },
  })
})

test.each(['turn.stop', 'turn.interrupt'] as const)('T8 %s: unknown, another run, ended, older', operation => {
  const session = created()
  const first = session.start('t1')
  end(session)
  const second = session.start('t2')
  const input = (turn: { turnId: string; runId: string }) => ({ ...turn, interruptId: 'x' })
  const refuse = (turn: { turnId: string; runId: string }) => session.refusal(operation, input(turn) as never)
  expect(refuse({ turnId: 'nobody', runId: 'r' }).code).toBe('not_found')
  expect(refuse({ ...second, runId: first.runId })).toMatchObject({
    code: 'operation_conflict',
    detail: { runId: second.runId },
  })
  expect(refuse({ ...first, runId: second.runId }).code).toBe('operation_conflict')
  const ended = accept(session.decide(operation, input(first) as never))
  expect(ended).toMatchObject({ events: [], turn: { turnId: 't1' } })
  expect(ended.when).toBeUndefined()
  expect(ended.effects).toBeUndefined()
})

test('Q8 an interrupt is a stop and a retract in one transition; of an ended turn it takes nothing', () => {
  const session = created()
  const turn = session.start('t1')
  session.submit('m1', 'next_turn')
  session.submit('m2', 'current_turn', 'm2', BOB)
  const decision = accept(session.decide('turn.interrupt', { ...turn, interruptId: 'x' }))
  expect(typesOf(decision)).toEqual(['queue_retracted'])
  const queueRevision = session.state.queueRevision + 1
  const result = session.take(decision) as { retracted: { entryId: string }[] }
  expect(result).toMatchObject({ queueRevision })
  expect(result.retracted.map(entry => entry.entryId)).toEqual(['m1', 'm2'])
  session.submit('m3', 'next_turn')
  end(session, { kind: 'cancelled', abortSource: 'user_stop' })
  expect(session.do('turn.interrupt', { ...turn, interruptId: 'y' })).toEqual({
    queueRevision: session.state.queueRevision,
    retracted: [],
  })
  expect(session.queued).toEqual(['m3'])
})

const ENDINGS: readonly [RunEnding, Record<string, unknown>][] = [
  [{ kind: 'completed' }, { status: 'completed' }],
  [
    { kind: 'failed', failureClass: 'network' },
    { status: 'failed', failureClass: 'network' },
  ],
  [
    { kind: 'failed', failureClass: 'auth', failureMessage: 'no key' },
    { status: 'failed', failureClass: 'auth', failureMessage: 'no key' },
  ],
  [
    { kind: 'cancelled', abortSource: 'user_stop' },
    { status: 'cancelled', abortSource: 'user_stop' },
  ],
]

test.each(ENDINGS)(
  'T11 an end %j is one event, and its snapshot has exactly the keys of its status',
  (ending, keys) => {
    const session = created()
    const { turnId, runId } = session.start('t1')
    end(session, ending)
    const terminalEventId = eventIdAt(session.state.revision, 0)
    const snapshot = session.state.root?.snapshot
    expect(snapshot).toEqual({ sessionId: 'session-1', turnId, runId, ...keys, terminalEventId })
    expect(TurnSnapshot.parse(snapshot)).toEqual(snapshot)
    expect(session.turns[0]?.terminalEvents).toHaveLength(1)
    expect(session.turns[0]?.settledBy).toBe(terminalEventId)
    const before = session.state
    end(session, { kind: 'completed' })
    expect(session.state).toBe(before)
  },
)

test('T9 T11 the terminal transition seals text, closes tools and interactions, returns leases, and comes last', () => {
  const session = created()
  const { turnId, runId } = session.start('t1')
  const request = { kind: 'question' as const, questions: [{ question: 'Which?', options: [] }] }
  session.apply([{ type: 'interaction_opened', payload: { turnId, runId, interactionId: 'i1', request } }])
  const call = { turnId, runId, toolCallId: 'c1', name: 'edit', title: 'Edit', status: 'in_progress', input: null }
  session.apply([{ type: 'tool_started', payload: call as never }])
  session.submit('m1', 'current_turn')
  session.apply([{ type: 'queue_entries_pulled', payload: { turnId, runId, entryIds: ['m1'] } }])
  const meta = { blockId: 'b1', kind: 'assistant', messageId: 'a1', offset: 0, turnId, runId, startedAt: 5 } as const
  const context = { ...session.context({ openBlocks: [{ meta, text: 'half' }] }), isDraining: false }
  const decision = decideEnd(session.state, { turnId, runId }, { kind: 'completed' }, context)
  expect(typesOf(decision)).toEqual([
    'text_sealed',
    'interaction_closed',
    'tool_ended',
    'queue_entries_returned',
    'run_completed',
    'turn_settled',
  ])
  session.take(decision)
  const kinds = session.state.transcript.map(({ entry }) => [entry.kind, entry.seq])
  expect(kinds).toEqual([
    ['user', 1],
    ['tool', 2],
    ['assistant', 3],
    ['interaction', 4],
  ])
  expect(session.state.transcript[1]?.entry).toMatchObject({ status: 'unknown' })
  expect(session.state.queue[0]?.entry.state).toBe('queued')
  expect(session.state.root?.snapshot).toMatchObject({ status: 'completed', terminalEventId: eventIdAt(8, 4) })
})

test('L4 T11 an end seals the open text also where nothing else is open', () => {
  const session = created()
  const run = session.start('t1')
  const meta = { blockId: 'b1', kind: 'assistant', messageId: 'a1', offset: 0, ...run, startedAt: 5 } as const
  const context = { ...session.context({ openBlocks: [{ meta, text: 'half' }] }), isDraining: false }
  const decision = decideEnd(session.state, run, { kind: 'completed' }, context)
  expect(typesOf(decision)).toEqual(['text_sealed', 'run_completed', 'turn_settled'])
})

test('T11 X12 the first end counts: a second one in the ledger changes neither run nor snapshot', () => {
  const session = created()
  const run = session.start('t1')
  end(session)
  const { root } = session.state
  session.apply([
    { type: 'run_failed', payload: { ...run, eventId: 'e9-0', failureClass: 'late' } },
    { type: 'turn_settled', payload: { ...run, terminalEventId: 'e9-0' } },
    { type: 'turn_settled', payload: { ...run, terminalEventId: eventIdAt(4, 0) } },
  ])
  expect(session.state.root).toEqual(root)
})

test('T11 a snapshot adopts only the end that its run has', () => {
  const session = created()
  const run = session.start('t1')
  session.apply([{ type: 'run_completed', payload: { ...run, eventId: 'e4-0' } }])
  session.apply([{ type: 'turn_settled', payload: { ...run, terminalEventId: 'e9-9' } }])
  expect(session.state.root?.snapshot.status).toBe('running')
  session.apply([{ type: 'turn_settled', payload: { ...run, terminalEventId: 'e4-0' } }])
  const adopted = session.state.root
  expect(adopted?.snapshot).toMatchObject({ status: 'completed', terminalEventId: 'e4-0' })
  session.apply([{ type: 'turn_settled', payload: { ...run, terminalEventId: 'e4-0' } }])
  expect(session.state.root).toBe(adopted)
})

test.each([
  [{ kind: 'completed' }, false, null, true],
  [{ kind: 'failed', failureClass: 'x' }, false, null, true],
  [{ kind: 'cancelled', abortSource: 'user_stop' }, false, 'turn_stopped', false],
  [{ kind: 'cancelled', abortSource: 'leader_shutdown' }, false, 'leader_stopped', false],
  [{ kind: 'completed' }, true, 'leader_stopped', false],
] as const)('T12 Q9 an end %j (draining: %s) parks as %s, hands on: %s', (ending, isDraining, reason, isHandedOn) => {
  const session = created()
  const { turnId, runId } = session.start('t1')
  session.submit('m1', 'next_turn')
  session.submit('m2', 'current_turn')
  session.apply([{ type: 'queue_entries_pulled', payload: { turnId, runId, entryIds: ['m2'] } }])
  const decision = accept(decideEnd(session.state, { turnId, runId }, ending, { ...session.context(), isDraining }))
  session.take(decision)
  expect(decision.effects).toEqual(isHandedOn ? [{ kind: 'hand_on' }] : [])
  const states = session.state.queue.map(({ entry, parked }) => [entry.entryId, entry.state, parked?.reason ?? null])
  const state = reason === null ? 'queued' : 'parked'
  expect(states).toEqual([
    ['m2', state, reason],
    ['m1', state, reason],
  ])
})

test('T8 T11 a turn that is stopped before its run began gets its run, its message and its end together', () => {
  const session = created()
  session.do('turn.start', { turnId: 't1', content })
  end(session, { kind: 'cancelled', abortSource: 'user_stop' })
  const types = session.transitions.at(-1)?.events.map(event => event.type)
  expect(types).toEqual(['run_started', 'user_message_appended', 'run_cancelled', 'turn_settled'])
  expect(session.state.root?.snapshot).toMatchObject({ status: 'cancelled', terminalEventId: eventIdAt(3, 2) })
  expect(session.state.root?.runs[0]).toMatchObject({ status: 'cancelled', terminalEventId: eventIdAt(3, 2) })
})

const AGENT = { agentId: 'a1', agentName: 'Scout' }
test.each([
  [{ kind: 'external_message' }, {}],
  [{ kind: 'plan', executionId: 'x1' }, {}],
  [{ kind: 'regenerate', sourceTurnId: 't0' }, { regeneratedFromTurnId: 't0' }],
  [{ kind: 'linked_child_initial', ...AGENT }, AGENT],
  [{ kind: 'claimed_agent_graph_intent', ...AGENT, claim: {} }, AGENT],
  [
    { kind: 'linked_child_resume', ...AGENT, sourceRunId: 'r0' },
    { ...AGENT, resumedFromRunId: 'r0' },
  ],
  [
    { kind: 'linked_child_provider_retry', ...AGENT, sourceRunId: 'r0' },
    { ...AGENT, retriedFromRunId: 'r0' },
  ],
] as const)('T3 T4 the run of %j carries %j and nothing else', (execution, origin) => {
  const session = created()
  session.start('t1')
  expect(originOf({ ...session.admission, execution })).toEqual(origin)
})
