import { expect, test } from 'vitest'
import type { OfflineStore } from '../../leader/index.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { Admission, Execution } from '../../schema/entities/turn.ts'
import { eventsOf, readLedger } from '../support/live/ledger.ts'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { waitFor } from '../support/wait-for.ts'

const SCRIPTED = { cwd: '/tmp', backend: 'scripted' }
const DEADLINE = { deadlineMs: 20_000 }
const FAILED = { status: 'failed', failureClass: 'app_restarted' }

/** A session that holds the admission of one kind, without its run. */
interface Planted {
  readonly sessionId: string
  readonly execution: Execution
  readonly origin: object
}

const agentOf = (sessionId: string) => ({
  agentId: `agent-of-${sessionId}`,
  agentName: `Agent of ${sessionId} – ünïcode`,
})

const PLANTED: readonly Planted[] = [
  planted('initial', agent => ({ kind: 'linked_child_initial', ...agent })),
  planted('resume', agent => ({ kind: 'linked_child_resume', ...agent, sourceRunId: 'r0' }), {
    resumedFromRunId: 'r0',
  }),
  planted('retry', agent => ({ kind: 'linked_child_provider_retry', ...agent, sourceRunId: 'r0' }), {
    retriedFromRunId: 'r0',
  }),
  planted('claim', agent => ({
    kind: 'claimed_agent_graph_intent',
    ...agent,
    claim: { targetSessionId: 'claim', targetTurnId: 't1', targetRunId: 'r1', any: { thing: [1, null] } },
  })),
]

function planted(
  sessionId: string,
  executionOf: (agent: ReturnType<typeof agentOf>) => Execution,
  origin: object = {},
): Planted {
  const agent = agentOf(sessionId)
  return { sessionId, execution: executionOf(agent), origin: { ...agent, ...origin } }
}

function admission(changes: Partial<Admission>): Admission {
  return {
    turnId: 't1',
    runId: 'r1',
    userMessageId: 'm1',
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: { text: '/hold' },
    sourceMessages: [],
    submittedBy: null,
    admittedAt: 1_700_000_000_000,
    ...changes,
  }
}

/** The child's first turn `t0`, done, and then the admission of its kind; the other kinds begin with theirs. */
async function plantChild(store: OfflineStore, { sessionId, execution }: Planted): Promise<void> {
  const agent = agentOf(sessionId)
  await store.createChildSession({ sessionId, ...SCRIPTED, parent: { sessionId: 'parent', turnId: 'p1', ...agent } })
  const goesOn = 'sourceRunId' in execution
  if (goesOn) {
    const first = { turnId: 't0', runId: 'r0' }
    const initial: Execution = { kind: 'linked_child_initial', ...agent }
    await store.admitTurn({ sessionId, ...admission({ ...first, userMessageId: 'm0', execution: initial }) })
    await store.createRun({ sessionId, ...first, ...agent })
    await store.appendUserMessage({ sessionId, turnId: 't0', messageId: 'm0', content: { text: '/hold' } })
    await store.appendRunEvent({ sessionId, runId: 'r0', type: 'run_completed', payload: {} })
  }
  const isRetry = execution.kind === 'linked_child_provider_retry'
  await store.admitTurn({
    sessionId,
    ...admission({
      execution,
      previousRootTurnId: goesOn ? 't0' : null,
      ...(isRetry ? { userMessageId: null, normalizedInput: null } : {}),
    }),
  })
}

/** Two leaders one after the other, each stopped in good order; gives what each left. */
async function twoCycles<T>(root: TestRoot, look: (store: OfflineStore) => Promise<T>): Promise<readonly [T, T]> {
  const seen: T[] = []
  for (let cycle = 0; cycle < 2; cycle++) {
    const leader = await root.start()
    const connection = await root.connect()
    expect((await connection.request('root.verify', {})).faults).toEqual([])
    expect((await connection.status()).activeTurns).toBe(0)
    await connection.close()
    expect(await leader.stop()).toMatchObject({ code: 0 })
    seen.push(await root.offline(look))
  }
  return seen as [T, T]
}

test('X6 X7 T4 the four child kinds end as their rules say after two starts and stops, ids and names exactly as admitted', {
  timeout: 60_000,
}, async () => {
  const root = testRoot()
  await root.offline(async store => {
    await store.createSession({ sessionId: 'parent', ...SCRIPTED })
    for (const each of PLANTED) await plantChild(store, each)
  })
  const [first, second] = await twoCycles(root, async store => {
    const readings = []
    for (const { sessionId } of PLANTED) {
      const chain = await store.readAdmissionChain(sessionId)
      const { session, rootTurn, revision } = await store.readSession(sessionId)
      readings.push({ session, rootTurn, revision, chain, turn: await store.readTurn(sessionId, 't1') })
    }
    return readings
  })
  expect(second).toEqual(first)
  PLANTED.forEach(({ sessionId, execution, origin }, i) => {
    const { session, rootTurn, chain, turn } = first[i] ?? {}
    expect(session?.parent).toEqual({ sessionId: 'parent', turnId: 'p1', ...agentOf(sessionId) })
    expect(chain?.at(-1)).toMatchObject({ turnId: 't1', runId: 'r1', execution })
    expect(rootTurn).toEqual({ sessionId, turnId: 't1', runId: 'r1', ...FAILED, terminalEventId: expect.any(String) })
    expect(turn?.runs).toEqual([
      {
        runId: 'r1',
        turnId: 't1',
        sessionId,
        ...FAILED,
        startedAt: expect.any(Number),
        endedAt: expect.any(Number),
        terminalEventId: expect.any(String),
        ...origin,
      },
    ])
    const isRetry = execution.kind === 'linked_child_provider_retry'
    expect(turn?.userMessages.map(message => message.messageId)).toEqual(isRetry ? [] : ['m1'])
    expect(turn?.classification).toEqual({
      kind: 'fact',
      fact: { runStatus: 'failed', failureClass: 'app_restarted' },
    })
    expect(turn?.terminalEvents).toHaveLength(1)
  })
})

/** A leader that dies at this point while session `p` runs the prompt. */
async function killedAt(point: string, prompt: string): Promise<TestRoot> {
  const root = testRoot()
  const leader = await root.start({ env: { HEADWATER_CRASH_AT: point } })
  const connection = await root.connect()
  await connection.createSession({ sessionId: 'p', ...SCRIPTED })
  const started = connection.startTurn({ sessionId: 'p', turnId: 't1', content: { text: prompt } })
  started.catch(() => {})
  expect(await leader.exited).toMatchObject({ signal: 'SIGKILL' })
  await connection.close()
  return root
}

function childOf(sessions: readonly SessionHeader[], parentId: string): SessionHeader {
  const child = sessions.find(each => each.parent?.sessionId === parentId)
  if (child === undefined) throw new Error(`${parentId} has no child`)
  return child
}

async function listed(connection: LeaderConnection): Promise<readonly SessionHeader[]> {
  return (await connection.request('session.list', {})).sessions
}

test.each([
  ['after_admission:2', '/child bob hi', 1],
  ['after_admission:3', '/child bob /child kim hi', 2],
  ['after_run_started:2', '/child bob hi', 1],
])(
  'X6 X1 T13 killed at %s: what was admitted has failed under its own ids and names, and does not run again',
  { timeout: 60_000 },
  async (point, prompt, depth) => {
    const root = await killedAt(point, prompt)
    const leader = await root.start()
    const connection = await root.connect()
    const sessions = await listed(connection)
    expect(sessions).toHaveLength(1 + depth)
    const path = [sessions.find(each => each.sessionId === 'p') as SessionHeader]
    for (let i = 0; i < depth; i++) path.push(childOf(sessions, path.at(-1)?.sessionId ?? ''))
    for (const { sessionId, parent } of path) {
      const ledger = await readLedger(connection, sessionId)
      const [admitted] = eventsOf(ledger, 'turn_admitted')
      const { admission: found } = (admitted?.payload ?? {}) as { admission: Admission }
      const { turnId, runId } = found
      expect(await connection.queryTurn({ sessionId, turnId })).toMatchObject({ turnId, runId, ...FAILED })
      const agent = parent === undefined ? {} : { agentId: parent.agentId, agentName: parent.agentName }
      expect(found.execution).toEqual({
        kind: parent === undefined ? 'external_message' : 'linked_child_initial',
        ...agent,
      })
      expect(eventsOf(ledger, 'run_started').map(each => each.payload)).toEqual([{ turnId, runId, ...agent }])
      expect(eventsOf(ledger, 'user_message_appended')).toHaveLength(1)
      expect(eventsOf(ledger, 'run_failed')).toHaveLength(1)
      expect(eventsOf(ledger, 'text_sealed')).toEqual([])
    }
    const revisions = async () =>
      await Promise.all(path.map(async each => (await readLedger(connection, each.sessionId)).length))
    const before = await revisions()
    await leader.kill()
    await root.start()
    connection.retryNow()
    await waitFor(() => connection.freshness.state === 'live', DEADLINE)
    expect(await revisions()).toEqual(before)
    expect((await connection.request('root.verify', {})).faults).toEqual([])
  },
)

test('T13 X1 X13 kill -9 while parent and child run: both have failed, and nothing runs again', {
  timeout: 60_000,
}, async () => {
  const root = testRoot()
  let leader = await root.start()
  const ada = await root.connect('desktop')
  const bob = await root.connect('tui')
  await ada.createSession({ sessionId: 'p', ...SCRIPTED })
  const parent = await ada.openSessionSubscription({ sessionId: 'p' })
  await ada.startTurn({ sessionId: 'p', turnId: 't1', content: { text: '/child bob /hold' } })
  const { sessionId } = await waitFor(async () => (await listed(bob)).find(each => each.parent !== undefined), DEADLINE)
  const child = await bob.openSessionSubscription({ sessionId })
  await waitFor(() => child.current.rootTurn?.status === 'running', DEADLINE)
  const steer = { sessionId, messageId: 'm1', originHostEpoch: bob.hostEpoch, content: { text: 'go' } }
  await bob.submitMessage({ ...steer, placement: 'current_turn' })
  await waitFor(
    () => child.current.transcript.entries.some(e => e.kind === 'assistant' && e.text.endsWith('go')),
    DEADLINE,
  )
  for (let i = 0; i < 2; i++) {
    await leader.kill()
    leader = await root.start()
    for (const connection of [ada, bob]) connection.retryNow()
    await waitFor(() => [parent, child].every(each => each.current.rootTurn?.status === 'failed'), DEADLINE)
    await waitFor(() => [parent, child].every(each => each.freshness.state === 'live'), DEADLINE)
    for (const { current } of [parent, child]) expect(current.rootTurn).toMatchObject(FAILED)
    expect((await ada.status()).activeTurns).toBe(0)
  }
  for (const id of ['p', sessionId]) {
    const ledger = await readLedger(ada, id)
    expect([eventsOf(ledger, 'run_started').length, eventsOf(ledger, 'run_failed').length]).toEqual([1, 1])
  }
  expect((await ada.request('root.verify', {})).faults).toEqual([])
})
