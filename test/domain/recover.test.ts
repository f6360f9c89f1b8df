import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DecideContext } from '../../leader/domain/decision.ts'
import { collectTurnFacts } from '../../leader/domain/facts.ts'
import { type Recovery, recover } from '../../leader/domain/recover.ts'
import { activeTurn, hasUnfinishedWork } from '../../leader/domain/state.ts'
import type { Admission, Execution } from '../../schema/entities/turn.ts'
import { type DomainEvent, type EventPayloads, type EventType, eventIdAt } from '../../schema/events.ts'
import { CommandWalk, commandSteps } from '../support/domain/command-walk.ts'
import { DomainSession } from '../support/domain/domain-session.ts'
import { assertProperty } from '../support/property.ts'

type Recovered = Extract<Recovery, { kind: 'recovered' }>
type OpenBlocks = DecideContext['openBlocks']

const RUN = { turnId: 't1', runId: 'r1' }
const AGENT = { agentId: 'a1', agentName: 'Scout' }

function event<T extends EventType>(type: T, payload: EventPayloads[T]): DomainEvent {
  return { type, payload } as DomainEvent
}

function admission(changes: Partial<Admission> = {}): Admission {
  return {
    ...RUN,
    userMessageId: 'm1',
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: { text: 'hello' },
    sourceMessages: [],
    submittedBy: null,
    admittedAt: 77,
    ...changes,
  }
}

const admit = (changes: Partial<Admission> = {}): DomainEvent =>
  event('turn_admitted', { admission: admission(changes) })
const started = (origin: object = {}): DomainEvent => event('run_started', { ...RUN, ...origin })
const message = (changes: object = {}): DomainEvent =>
  event('user_message_appended', {
    ...RUN,
    messageId: 'm1',
    content: { text: 'hello' },
    submittedBy: null,
    at: 77,
    ...changes,
  })
const completed = (revision: number): DomainEvent => event('run_completed', { ...RUN, eventId: eventIdAt(revision, 0) })

/** A session whose ledger holds each of these as a record of its own, after its creation. */
function planted(...events: readonly DomainEvent[]): DomainSession {
  const session = new DomainSession().create()
  for (const one of events) session.apply([one], 'leader')
  return session
}

function recovery(session: DomainSession, openBlocks: OpenBlocks = []): Recovery {
  const { state, turns } = session
  return recover({ state, turns, previousRootTurnId: null, context: { at: session.at, openBlocks } })
}

/** Recovers, folds, and recovers again: the second time there is nothing to do. */
function recovered(session: DomainSession, openBlocks: OpenBlocks = []): Recovered & { types: readonly string[] } {
  const first = recovery(session, openBlocks)
  if (first.kind !== 'recovered') throw new Error(`quarantined: ${first.reason}`)
  session.apply(first.events, 'leader')
  expect(recovery(session)).toEqual({ ...first, events: [], cases: first.resume === null ? [] : ['X3'] })
  return { ...first, types: first.events.map(e => e.type) }
}

const snapshot = (session: DomainSession) => session.state.root?.snapshot
const entries = (session: DomainSession) => session.state.transcript.map(live => live.entry)

test('X14 a session at rest needs nothing', () => {
  const session = planted()
  expect(recovered(session)).toMatchObject({ events: [], resume: null, cases: [] })
  session.start('t1')
  const { turnId, runId } = session.admission
  session.apply([
    event('run_completed', { turnId, runId, eventId: eventIdAt(4, 0) }),
    event('turn_settled', { turnId, runId, terminalEventId: eventIdAt(4, 0) }),
  ])
  expect(recovered(session)).toMatchObject({ events: [], resume: null, cases: [] })
})

test('X1 a run without an end fails once, as app_restarted', () => {
  const session = planted(admit(), started(), message())
  expect(recovered(session)).toMatchObject({ types: ['run_failed', 'turn_settled'], cases: ['X1'], resume: null })
  const terminalEventId = eventIdAt(session.state.revision, 0)
  const failed = { status: 'failed', failureClass: 'app_restarted', terminalEventId }
  expect(snapshot(session)).toEqual({ sessionId: 'session-1', ...RUN, ...failed })
  expect(session.state.root?.runs).toEqual([
    { sessionId: 'session-1', ...RUN, startedAt: 1_020, endedAt: 1_040, ...failed },
  ])
})

test('X1 L4 open text is sealed before the end, and counts in the terminal event’s id', () => {
  const session = planted(admit(), started(), message())
  const meta = { blockId: 'b1', kind: 'assistant', messageId: 'a', offset: 0, ...RUN, startedAt: 5 } as const
  expect(recovered(session, [{ meta, text: 'half a sen' }]).types).toEqual([
    'text_sealed',
    'run_failed',
    'turn_settled',
  ])
  expect(snapshot(session)).toMatchObject({ terminalEventId: eventIdAt(session.state.revision, 1) })
  expect(entries(session).at(-1)).toMatchObject({ kind: 'assistant', id: 'b1', text: 'half a sen' })
})

test.each([
  [completed(5), { status: 'completed' }],
  [
    event('run_cancelled', { ...RUN, eventId: eventIdAt(5, 0), abortSource: 'user_stop' }),
    { status: 'cancelled', abortSource: 'user_stop' },
  ],
  [
    event('run_failed', { ...RUN, eventId: eventIdAt(5, 0), failureClass: 'auth', failureMessage: 'no key' }),
    { status: 'failed', failureClass: 'auth', failureMessage: 'no key' },
  ],
])('X2 an end in the ledger is adopted, without a second one: %j', (terminal, keys) => {
  const session = planted(admit(), started(), message(), terminal)
  expect(snapshot(session)?.status).toBe('running')
  expect(recovered(session)).toMatchObject({ types: ['turn_settled'], cases: ['X2'] })
  expect(snapshot(session)).toEqual({ sessionId: 'session-1', ...RUN, ...keys, terminalEventId: eventIdAt(5, 0) })
})

test('X2 X4 an adopted end also gets its missing message back', () => {
  const session = planted(admit(), started(), completed(4))
  expect(recovered(session).types).toEqual(['user_message_appended', 'turn_settled'])
})

test.each<Execution>([{ kind: 'external_message' }, { kind: 'regenerate', sourceTurnId: 't0' }])(
  'X3 an admission %j without a run is resumed: nothing is written, the turn is named',
  execution => {
    const session = planted(admit({ execution }))
    expect(recovered(session)).toMatchObject({ events: [], resume: 't1', cases: ['X3'] })
    session.startRun()
    expect(session.admission.runId).toBe('r1')
    expect(session.turns[0]?.userMessages).toHaveLength(1)
    expect(recovered(session).types).toEqual(['run_failed', 'turn_settled'])
  },
)

test('X3 only the newest turn is resumed: an older one fails, with its run and its message', () => {
  const second = { turnId: 't2', runId: 'r2', userMessageId: 'm2', previousRootTurnId: 't1' }
  const session = planted(admit(), admit(second))
  const result = recovered(session)
  expect(result.types).toEqual(['run_started', 'user_message_appended', 'run_failed', 'turn_settled'])
  expect(result.resume).toBe('t2')
  expect(session.turns[0]?.terminalEvents).toHaveLength(1)
  expect(snapshot(session)).toMatchObject({ turnId: 't2', status: 'admitted' })
})

test.each([event('run_created', RUN), started()])(
  'X4 a missing message is put back: same id, at the admission',
  run => {
    const session = planted(admit({ normalizedInput: { text: 'hello', quotes: [{ text: 'q' }] } }), run)
    const result = recovered(session)
    expect(result).toMatchObject({ cases: ['X4'], types: ['user_message_appended', 'run_failed', 'turn_settled'] })
    expect(entries(session)).toEqual([
      {
        seq: 1,
        id: 'm1',
        ...RUN,
        at: 77,
        kind: 'user',
        content: { text: 'hello', quotes: [{ text: 'q' }] },
        submittedBy: null,
      },
    ])
  },
)

test('X5 C2 a message that is equal in canonical form is kept and not doubled', () => {
  const given = { content: { quotes: [], displayText: 'hello', text: 'hello', attachments: [] } }
  const session = planted(admit(), started(), message(given))
  expect(recovered(session).types).toEqual(['run_failed', 'turn_settled'])
  expect(entries(session)).toHaveLength(1)
})

const CLOSED: readonly [string, Execution, object][] = [
  ['X6', { kind: 'linked_child_initial', ...AGENT }, AGENT],
  ['X6', { kind: 'linked_child_resume', ...AGENT, sourceRunId: 'r0' }, { ...AGENT, resumedFromRunId: 'r0' }],
  ['X6', { kind: 'claimed_agent_graph_intent', ...AGENT, claim: { targetRunId: 'r1' } }, AGENT],
  ['X6', { kind: 'plan', executionId: 'x1' }, {}],
]

test.each(CLOSED)('X6 case %s of %j is closed without executing; its run carries %j', (name, execution, origin) => {
  const session = planted(admit({ execution }))
  const result = recovered(session)
  expect(result).toMatchObject({ cases: [name], resume: null })
  expect(result.types).toEqual(['run_started', 'user_message_appended', 'run_failed', 'turn_settled'])
  const terminalEventId = eventIdAt(session.state.revision, 2)
  const ended = { status: 'failed', failureClass: 'app_restarted', terminalEventId }
  const keys = { sessionId: 'session-1', ...RUN, startedAt: 1_020, endedAt: 1_020 }
  expect(session.state.root?.runs).toEqual([{ ...keys, ...origin, ...ended }])
  expect(entries(session)).toMatchObject([{ id: 'm1', at: 77 }])
})

test('X7 a provider retry is closed without a message, and only names the run it retries', () => {
  const execution: Execution = { kind: 'linked_child_provider_retry', ...AGENT, sourceRunId: 'r0' }
  const session = planted(admit({ execution, userMessageId: null, normalizedInput: null }))
  const result = recovered(session)
  expect(result).toMatchObject({ cases: ['X7'], types: ['run_started', 'run_failed', 'turn_settled'] })
  expect(session.state.root?.runs[0]).toMatchObject({ ...AGENT, retriedFromRunId: 'r0', status: 'failed' })
  expect(session.state.root?.runs[0]).not.toHaveProperty('resumedFromRunId')
  expect(entries(session)).toEqual([])
})

test('X1 a provider retry whose run began has no message to put back', () => {
  const execution: Execution = { kind: 'linked_child_provider_retry', ...AGENT, sourceRunId: 'r0' }
  const admitted = admit({ execution, userMessageId: null, normalizedInput: null })
  expect(recovered(planted(admitted, started({ ...AGENT, retriedFromRunId: 'r0' }))).types).toEqual([
    'run_failed',
    'turn_settled',
  ])
})

test('X8 a pending interaction is closed as host_restarted, before the end of its turn', () => {
  const request = { kind: 'question' as const, questions: [{ question: 'Which?', options: [] }] }
  const open = (interactionId: string) => event('interaction_opened', { ...RUN, interactionId, request })
  const session = planted(admit(), started(), message(), open('i1'), open('i2'))
  const result = recovered(session)
  expect(result.cases).toEqual(['X8', 'X1'])
  expect(result.types).toEqual(['interaction_closed', 'interaction_closed', 'run_failed', 'turn_settled'])
  expect(session.state.interactions).toEqual([])
  expect(snapshot(session)).toMatchObject({ status: 'failed', terminalEventId: eventIdAt(session.state.revision, 2) })
  expect(entries(session).at(-1)).toMatchObject({ outcome: { kind: 'closure', reason: 'host_restarted' } })
})

test('X10 what waits or was in flight is parked in place; what is parked keeps its reason; what was delivered is gone', () => {
  const session = new DomainSession().create()
  session.start('t1')
  const run = { turnId: 't1', runId: session.admission.runId }
  for (const id of ['s1', 's2']) session.submit(id, 'current_turn')
  for (const id of ['f1', 'f2']) session.submit(id, 'next_turn')
  session.apply([event('queue_entries_parked', { entryIds: ['f1'], reason: 'turn_stopped' })])
  session.apply([event('queue_entries_pulled', { ...run, entryIds: ['s1', 's2'] })])
  const content = { text: 's1' }
  session.apply([event('steering_delivered', { ...run, entryId: 's1', messageId: 's1', content, submittedBy: null })])
  expect(recovered(session).cases).toEqual(['X1', 'X10'])
  expect(session.state.queue.map(r => [r.entry.entryId, r.entry.state, r.parked?.reason])).toEqual([
    ['s2', 'parked', 'leader_restarted'],
    ['f1', 'parked', 'turn_stopped'],
    ['f2', 'parked', 'leader_restarted'],
  ])
  expect(hasUnfinishedWork(session.state)).toBe(false)
})

test('X11 a tool call without an outcome becomes unknown, in the ledger and in the transcript', () => {
  const call = (toolCallId: string) =>
    event('tool_started', { ...RUN, toolCallId, name: 'edit', title: 'Edit', status: 'in_progress', input: null })
  const done = event('tool_ended', { ...RUN, toolCallId: 'c1', status: 'completed', output: 'ok' })
  const session = planted(admit(), started(), message(), call('c1'), call('c2'), done)
  expect(recovered(session)).toMatchObject({ cases: ['X11'], types: ['tool_ended', 'run_failed', 'turn_settled'] })
  expect(entries(session).slice(1)).toMatchObject([
    { toolCallId: 'c1', status: 'completed', output: 'ok' },
    { toolCallId: 'c2', status: 'unknown', output: null },
  ])
})

test('X11 L3 a call whose entry was sealed meanwhile gets its outcome in an entry of its own', () => {
  const session = planted(admit(), started(), message())
  const call = { ...RUN, toolCallId: 'c1', name: 'edit', title: 'Edit', status: 'in_progress', input: null } as const
  session.apply([event('tool_started', call)])
  for (let i = 0; i < 130; i++) session.apply([event('notice_appended', { ...RUN, entryId: `n${i}`, text: 'x' })])
  expect(session.sealed).toContainEqual(expect.objectContaining({ toolCallId: 'c1', status: 'in_progress' }))
  expect(recovered(session).cases).toEqual(['X11'])
  expect(entries(session).at(-1)).toMatchObject({ kind: 'tool', toolCallId: 'c1', status: 'unknown' })
})

const claim = (changes: object): Execution => ({ kind: 'claimed_agent_graph_intent', ...AGENT, claim: { ...changes } })

const CONTRADICTIONS: readonly [string, readonly DomainEvent[]][] = [
  ['another message', [admit(), started(), message({ content: { text: 'other' } })]],
  ['another message id', [admit(), started(), message({ messageId: 'm9' })]],
  ['two messages', [admit(), started(), message(), message()]],
  [
    'a message where none was admitted',
    [
      admit({
        execution: { kind: 'linked_child_provider_retry', ...AGENT, sourceRunId: 'r0' },
        userMessageId: null,
        normalizedInput: null,
      }),
      started({ ...AGENT, retriedFromRunId: 'r0' }),
      message(),
    ],
  ],
  ['a message without a run', [admit(), message()]],
  ['an end without a run', [admit(), completed(3)]],
  ['two ends', [admit(), started(), message(), completed(5), completed(6)]],
  ['two runs', [admit(), started(), event('run_started', { turnId: 't1', runId: 'r2' }), message()]],
  ['another run', [admit(), event('run_started', { turnId: 't1', runId: 'r2' })]],
  [
    'an end of another run',
    [admit(), started(), message(), event('run_completed', { turnId: 't1', runId: 'r2', eventId: 'e5-0' })],
  ],
  ['a lineage without its agent', [admit({ execution: { kind: 'linked_child_initial', ...AGENT } }), started()]],
  ['a lineage nobody admitted', [admit(), started({ resumedFromRunId: 'r0' })]],
  [
    'a lineage with another agent',
    [admit({ execution: { kind: 'linked_child_initial', ...AGENT } }), started({ ...AGENT, agentId: 'a2' })],
  ],
  ['two heads', [admit(), admit({ turnId: 't2', runId: 'r2', userMessageId: 'm2' })]],
  ['a gap', [admit({ previousRootTurnId: 't0' })]],
  ['a turn admitted twice', [admit(), admit({ runId: 'r2' })]],
  [
    'a settled turn without an end',
    [admit(), started(), message(), event('turn_settled', { ...RUN, terminalEventId: 'e1-0' })],
  ],
  [
    'a settled turn with another end',
    [admit(), started(), message(), completed(5), event('turn_settled', { ...RUN, terminalEventId: 'e1-0' })],
  ],
  ['facts without an admission', [started()]],
  ['a claim on another turn', [admit({ execution: claim({ targetTurnId: 't9' }) })]],
  ['a claim on another run', [admit({ execution: claim({ targetRunId: 'r9' }) })]],
  ['a claim on another session', [admit({ execution: claim({ targetSessionId: 'session-9' }) })]],
]

test.each(CONTRADICTIONS)('X5 X12 %s: quarantine', (_name, events) => {
  const session = planted(...events)
  const before = session.state
  expect(recovery(session)).toEqual({ kind: 'quarantine', reason: expect.stringContaining('turn ') })
  expect(session.state).toBe(before)
})

test('X12 a snapshot that claims an end the ledger does not have: quarantine', () => {
  const session = planted(admit(), started(), message())
  const { state } = session
  const ended = { sessionId: 'session-1', ...RUN, status: 'completed', terminalEventId: 'e5-0' } as const
  const root = { ...(state.root as NonNullable<typeof state.root>), snapshot: ended }
  const input = { turns: session.turns, previousRootTurnId: null, context: { at: 1, openBlocks: [] } }
  expect(recover({ ...input, state: { ...state, root } })).toMatchObject({ kind: 'quarantine' })
})

test('X12 turns before the oldest unfinished one are not looked at again, but the chain must lead to them', () => {
  const later = { turnId: 't2', runId: 'r2', userMessageId: 'm2', previousRootTurnId: 't1' }
  const session = planted(admit(), started(), message(), completed(5))
  session.apply([event('turn_settled', { ...RUN, terminalEventId: eventIdAt(5, 0) })])
  session.apply([admit(later)])
  const turns = collectTurnFacts('session-1', session.records.slice(6))
  const context = { at: 1, openBlocks: [] }
  const { state } = session
  expect(recover({ state, turns, previousRootTurnId: 't1', context })).toMatchObject({ resume: 't2' })
  expect(recover({ state, turns, previousRootTurnId: null, context })).toMatchObject({ kind: 'quarantine' })
})

test('X13 X14 wherever a healthy session is left, recovery finds no fault, and a second one nothing to do', () => {
  assertProperty(
    fc.property(commandSteps, steps => {
      const walk = new CommandWalk()
      for (const step of steps) walk.step(step)
      const { session } = walk
      const wasActive = activeTurn(session.state)?.admission
      const { resume } = recovered(session)
      const isAdmitted = session.state.root?.snapshot.status === 'admitted'
      expect(resume).toBe(isAdmitted ? wasActive?.turnId : null)
      expect(hasUnfinishedWork(session.state)).toBe(isAdmitted)
    }),
    150,
  )
})
