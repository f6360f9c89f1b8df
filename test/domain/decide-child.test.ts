import { expect, test } from 'vitest'
import {
  decideChildResume,
  decideChildRetry,
  decideChildStart,
  isChildTurn,
  type NewChild,
} from '../../leader/domain/decide/child/start.ts'
import { decideChildStop } from '../../leader/domain/decide/child/stop.ts'
import { decideEnd, type RunEnding } from '../../leader/domain/decide/run.ts'
import { newHeader } from '../../leader/domain/decide/session.ts'
import { recover } from '../../leader/domain/recover.ts'
import { Admission, type Execution } from '../../schema/entities/turn.ts'
import { accept, DomainSession, typesOf } from '../support/domain/domain-session.ts'

const AGENT = { agentId: 'agent-1', agentName: 'Scout' }
const PARENT = { sessionId: 'parent', turnId: 'p1', ...AGENT }
const FROM = {
  ...newHeader({ sessionId: 'parent', title: 'Parent', cwd: '/srv', backend: 'scripted', model: 'm1' }, 500),
  permissionMode: 'explore' as const,
  collaborationMode: 'plan' as const,
  alwaysAllowed: ['edit'],
}

function newChild(changes: Partial<NewChild> = {}): NewChild {
  return { parent: PARENT, from: FROM, content: { text: 'look around\nand tell' }, ...changes }
}

/** A child session whose first turn runs. */
function startedChild(): DomainSession {
  const session = new DomainSession()
  session.take(decideChildStart(session.state, newChild(), session.context()))
  session.startRun()
  return session
}

function end(session: DomainSession, ending: RunEnding = { kind: 'completed' }): string {
  const { turnId, runId } = session.admission
  session.take(decideEnd(session.state, { turnId, runId }, ending, { ...session.context(), isDraining: false }))
  return runId
}

test('T13 T4 a child begins with one transition: its session and the admission of its first turn', () => {
  const session = new DomainSession()
  const decision = accept(decideChildStart(session.state, newChild(), session.context()))
  expect(typesOf(decision)).toEqual(['session_created', 'turn_admitted'])
  const { turnId, runId } = session.take(decision) as { turnId: string; runId: string }
  expect(decision.effects).toEqual([{ kind: 'start_turn', turnId }])
  expect(session.transitions).toHaveLength(1)
  expect(session.state.header).toEqual({
    sessionId: 'session-1',
    title: 'Scout: look around',
    titleIsManual: false,
    cwd: '/srv',
    backend: 'scripted',
    model: 'm1',
    permissionMode: 'explore',
    collaborationMode: 'plan',
    status: 'running',
    isArchived: false,
    parent: PARENT,
    createdAt: 1_000,
    lastActivityAt: 1_000,
    revision: 1,
  })
  const userMessageId = `input-${runId}`
  const content = { text: 'look around\nand tell' }
  expect(session.admission).toEqual({
    turnId,
    runId,
    userMessageId,
    execution: { kind: 'linked_child_initial', ...AGENT },
    previousRootTurnId: null,
    normalizedInput: content,
    sourceMessages: [
      { messageId: userMessageId, content, placement: 'next_turn', disposition: 'turn_started', submittedBy: null },
    ],
    submittedBy: null,
    admittedAt: 1_000,
  })
  expect(Admission.safeParse(session.admission).success).toBe(true)
  session.startRun()
  expect(session.state.root?.runs).toEqual([
    { runId, turnId, sessionId: 'session-1', status: 'running', startedAt: 1_010, ...AGENT },
  ])
})

test('T13 a backend of its own comes without the model of another one; an unknown one is refused', () => {
  const session = new DomainSession()
  const context = session.context({ backends: new Set(['scripted', 'other']) })
  session.take(decideChildStart(session.state, newChild({ backend: 'other' }), context))
  expect(session.state.header).toMatchObject({ backend: 'other', cwd: '/srv' })
  expect(session.state.header).not.toHaveProperty('model')
  const again = decideChildStart(session.state, newChild(), session.context())
  expect(again).toMatchObject({ kind: 'refuse', code: 'operation_conflict' })
  const empty = new DomainSession()
  const unknown = decideChildStart(empty.state, newChild({ backend: 'other' }), empty.context())
  expect(unknown).toMatchObject({ kind: 'refuse', code: 'invalid_request', detail: { path: 'backend' } })
})

test('T13 T4 a resume goes on from the newest run, with a message and the names the child was admitted with', () => {
  const session = startedChild()
  const sourceRunId = end(session)
  const message = { parentSessionId: 'parent', content: { text: 'go on' } }
  const { turnId, runId } = session.take(decideChildResume(session.state, message, session.context())) as {
    turnId: string
    runId: string
  }
  expect(session.admission).toMatchObject({
    turnId,
    userMessageId: `input-${runId}`,
    execution: { kind: 'linked_child_resume', ...AGENT, sourceRunId },
    normalizedInput: { text: 'go on' },
    submittedBy: null,
  })
  session.startRun()
  expect(session.state.root?.runs).toEqual([
    expect.objectContaining({ runId, ...AGENT, resumedFromRunId: sourceRunId, status: 'running' }),
  ])
  expect(session.state.root?.runs[0]).not.toHaveProperty('retriedFromRunId')
  expect(session.state.header?.title).toBe('Scout: look around')
})

test('T13 T4 a retry has the input of the run it makes again, and no message of anybody; so has its retry', () => {
  const session = startedChild()
  let sourceRunId = end(session, { kind: 'failed', failureClass: 'network' })
  for (let i = 0; i < 2; i++) {
    session.take(decideChildRetry(session.state, { parentSessionId: 'parent' }, session.context()))
    expect(session.admission).toMatchObject({
      userMessageId: null,
      execution: { kind: 'linked_child_provider_retry', ...AGENT, sourceRunId },
      normalizedInput: { text: 'look around\nand tell' },
      sourceMessages: [],
    })
    expect(Admission.safeParse(session.admission).success).toBe(true)
    session.startRun()
    expect(session.transitions.at(-1)?.events.map(event => event.type)).toEqual(['run_started'])
    expect(session.state.root?.runs[0]).toMatchObject({ ...AGENT, retriedFromRunId: sourceRunId })
    expect(session.state.root?.runs[0]).not.toHaveProperty('resumedFromRunId')
    sourceRunId = end(session)
  }
  const users = session.state.transcript.filter(({ entry }) => entry.kind === 'user')
  expect(users).toHaveLength(1)
})

test('T13 only an idle child of the asking session can go on', () => {
  const session = startedChild()
  const content = { text: 'go on' }
  const ask = (parentSessionId: string) => [
    decideChildResume(session.state, { parentSessionId, content }, session.context()),
    decideChildRetry(session.state, { parentSessionId }, session.context()),
  ]
  for (const each of ask('parent')) expect(each).toMatchObject({ kind: 'refuse', code: 'session_busy' })
  for (const each of ask('session-1')) expect(each).toMatchObject({ kind: 'refuse', code: 'not_found' })
  end(session)
  const cleaning = session.context({ isCleaningUp: true })
  expect(decideChildRetry(session.state, { parentSessionId: 'parent' }, cleaning)).toEqual({ kind: 'wait_for_cleanup' })
  session.do('session.archive', {})
  for (const each of ask('parent')) expect(each).toMatchObject({ kind: 'refuse', code: 'session_archived' })
  const plain = new DomainSession().create()
  const alone = decideChildRetry(plain.state, { parentSessionId: 'parent' }, plain.context())
  expect(alone).toMatchObject({ kind: 'refuse', code: 'not_found' })
})

test('T13 a child without a run, or whose newest input is not known, has nothing to go on from', () => {
  const session = new DomainSession()
  const header = { ...newHeader({ sessionId: 'session-1', cwd: '/', backend: 'scripted' }, 1), parent: PARENT }
  session.apply([{ type: 'session_created', payload: { header } }])
  const retry = () => decideChildRetry(session.state, { parentSessionId: 'parent' }, session.context())
  expect(retry()).toMatchObject({ kind: 'refuse', code: 'operation_conflict' })
  const execution: Execution = { kind: 'linked_child_provider_retry', ...AGENT, sourceRunId: 'r0' }
  const admission: Admission = {
    turnId: 't1',
    runId: 'r1',
    userMessageId: null,
    execution,
    previousRootTurnId: null,
    normalizedInput: null,
    sourceMessages: [],
    submittedBy: null,
    admittedAt: 1,
  }
  session.apply([{ type: 'turn_admitted', payload: { admission } }])
  session.startRun()
  end(session)
  expect(retry()).toMatchObject({ kind: 'refuse', code: 'operation_conflict' })
})

test('T13 T8 I5 Q9 stopping a child closes what it asks, parks what waits, and then delivers the stop', () => {
  const session = startedChild()
  const { turnId, runId } = session.admission
  session.submit('m2', 'next_turn')
  const stop = { turnId, runId, abortSource: 'parent_stopped' }
  const decision = accept(decideChildStop(session.state, stop, session.context()))
  expect(typesOf(decision)).toEqual(['queue_entries_parked'])
  expect(decision.effects).toEqual([{ kind: 'stop_run', ...stop }])
  session.take(decision)
  expect(session.state.queue[0]).toMatchObject({ entry: { state: 'parked' }, parked: { reason: 'turn_stopped' } })
  end(session, { kind: 'cancelled', abortSource: 'parent_stopped' })
  const late = accept(decideChildStop(session.state, stop, session.context()))
  expect([late.events, late.effects]).toEqual([[], undefined])
})

test('E9 T13 only turns that a parent waits for are child turns', () => {
  const kinds: readonly [Execution, boolean][] = [
    [{ kind: 'external_message' }, false],
    [{ kind: 'regenerate', sourceTurnId: 't0' }, false],
    [{ kind: 'plan', executionId: 'x1' }, false],
    [{ kind: 'claimed_agent_graph_intent', ...AGENT, claim: {} }, false],
    [{ kind: 'linked_child_initial', ...AGENT }, true],
    [{ kind: 'linked_child_resume', ...AGENT, sourceRunId: 'r0' }, true],
    [{ kind: 'linked_child_provider_retry', ...AGENT, sourceRunId: 'r0' }, true],
  ]
  for (const [execution, isChild] of kinds)
    expect([execution.kind, isChildTurn({ execution })]).toEqual([execution.kind, isChild])
})

/** What the ledger holds when the leader dies between an admission and its run. */
const ADMITTED: readonly [string, (session: DomainSession) => void, readonly string[], object][] = [
  [
    'X6',
    session => session.take(decideChildStart(session.state, newChild(), session.context())),
    ['run_started', 'user_message_appended', 'run_failed', 'turn_settled'],
    {},
  ],
  [
    'X6',
    session => {
      session.take(decideChildStart(session.state, newChild(), session.context()))
      session.startRun()
      end(session)
      const message = { parentSessionId: 'parent', content: { text: 'go on' } }
      session.take(decideChildResume(session.state, message, session.context()))
    },
    ['run_started', 'user_message_appended', 'run_failed', 'turn_settled'],
    { resumedFromRunId: expect.any(String) },
  ],
  [
    'X7',
    session => {
      session.take(decideChildStart(session.state, newChild(), session.context()))
      session.startRun()
      end(session)
      session.take(decideChildRetry(session.state, { parentSessionId: 'parent' }, session.context()))
    },
    ['run_started', 'run_failed', 'turn_settled'],
    { retriedFromRunId: expect.any(String) },
  ],
]

test.each(ADMITTED)(
  'X6 X7 case %s: what a leader itself admitted is closed without executing',
  (name, admit, types, origin) => {
    const session = new DomainSession()
    admit(session)
    const { turnId, runId } = session.admission
    const recovered = () =>
      recover({ state: session.state, turns: session.turns, previousRootTurnId: null, context: session.context() })
    const first = recovered()
    if (first.kind !== 'recovered') throw new Error(first.reason)
    expect([first.cases, first.resume, first.events.map(event => event.type)]).toEqual([[name], null, types])
    session.apply(first.events, 'leader')
    const [run] = session.state.root?.runs ?? []
    expect(run).toEqual({
      runId,
      turnId,
      sessionId: 'session-1',
      status: 'failed',
      failureClass: 'app_restarted',
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      terminalEventId: expect.any(String),
      ...AGENT,
      ...origin,
    })
    expect(recovered()).toMatchObject({ events: [], cases: [], resume: null })
  },
)
