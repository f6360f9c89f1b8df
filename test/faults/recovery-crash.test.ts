import { expect, test } from 'vitest'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { Admission } from '../../schema/entities/turn.ts'
import { endState } from '../support/live/end-state.ts'
import { eventsOf, readLedger } from '../support/live/ledger.ts'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { waitFor } from '../support/wait-for.ts'

const SCRIPTED = { cwd: '/tmp', backend: 'scripted' }
/** Sessions that a killed leader leaves, and such that are planted. */
const LIVE = ['asks', 'holds', 'waits'] as const
const PLANTED = ['x1', 'x2', 'x4', 'x5', 'x11'] as const
const ALL = [...LIVE, ...PLANTED]
const CLEAN = { sessions: ALL.length + 1, records: expect.any(Number), documents: ALL.length + 1, faults: [] }
/** Each session passes the point before and after its recovery is stored. */
const STEPWISE = [
  // Before anything is stored: no progress, and no harm.
  ...Array.from({ length: 3 }, () => 'mid_recovery:1'),
  // After the next session is stored; the resumed one stores nothing, so the last of these make no progress.
  ...Array.from({ length: ALL.length }, () => 'mid_recovery:2'),
  // Behind the resumed one, before and after the session that follows it.
  'mid_recovery:3',
  'mid_recovery:4',
]

function admission(sessionId: string, text: string): Admission {
  return {
    turnId: 't',
    runId: `run-${sessionId}`,
    userMessageId: 'message',
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: { text },
    sourceMessages: [],
    submittedBy: { surface: 'tui', clientInstanceId: 'planter' },
    admittedAt: 1_700_000_000_000,
  }
}

/** A root with every case of recovery that there is so far: X1 to X5, X8, X10, X11, and open text. */
async function unfinishedRoot(): Promise<TestRoot> {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of LIVE) await connection.createSession({ sessionId, ...SCRIPTED })
  await connection.startTurn({ sessionId: 'asks', turnId: 't', content: { text: '/ask' } })
  await connection.startTurn({ sessionId: 'holds', turnId: 't', content: { text: '/hold' } })
  await connection.startTurn({ sessionId: 'waits', turnId: 't', content: { text: '/ask' } })
  await submit(connection, 'holds', 'steer', 'current_turn')
  const held = await connection.openSessionSubscription({ sessionId: 'holds' })
  await waitFor(() => held.current.transcript.entries.some(e => e.kind === 'assistant' && e.text.endsWith('steer')))
  for (const messageId of ['a', 'b']) await submit(connection, 'waits', messageId, 'next_turn')
  await waitFor(async () => (await connection.request('interaction.list', {})).interactions.length === 2)
  await connection.close()
  await leader.kill()
  await plant(root)
  return root
}

function submit(of: LeaderConnection, sessionId: string, messageId: string, placement: 'current_turn' | 'next_turn') {
  const content = { text: messageId }
  return of.submitMessage({ sessionId, messageId, originHostEpoch: of.hostEpoch, content, placement })
}

function plant(root: TestRoot): Promise<void> {
  return root.offline(async store => {
    for (const sessionId of [...PLANTED, 'x3']) {
      await store.createSession({ sessionId, ...SCRIPTED })
      const admitted = admission(sessionId, sessionId === 'x3' ? '/hold' : 'hello')
      await store.admitTurn({ sessionId, ...admitted })
      if (sessionId === 'x3') continue
      const { runId } = admitted
      await store.createRun({ sessionId, turnId: 't', runId })
      if (sessionId === 'x4') continue
      const content = { text: sessionId === 'x5' ? 'something else' : 'hello' }
      await store.appendUserMessage({ sessionId, turnId: 't', messageId: 'message', content, at: 5 })
      const call = { toolCallId: 'call', name: 'edit' }
      if (sessionId === 'x11') await store.appendRunEvent({ sessionId, runId, type: 'tool_started', payload: call })
      if (sessionId === 'x2') await store.appendRunEvent({ sessionId, runId, type: 'run_completed', payload: {} })
    }
  })
}

/** What became of every session, and of the resumed one as far as it does not depend on when the leader died. */
async function expectRecovered(root: TestRoot): Promise<unknown> {
  const connection = await root.connect()
  const states: Record<string, unknown> = {}
  for (const sessionId of ALL) states[sessionId] = await endState(connection, sessionId)
  const resumed = await readLedger(connection, 'x3')
  expect(eventsOf(resumed, 'run_started').map(event => event.payload.runId)).toEqual(['run-x3'])
  expect(eventsOf(resumed, 'user_message_appended').length).toBe(1)
  const { faults } = await connection.status()
  expect(faults).toMatchObject([{ code: 'session_damaged', sessionId: 'x5' }])
  expect(await connection.request('root.verify', {})).toEqual(CLEAN)
  return states
}

/** Starts leaders that die at these points, one after the other; how many died before they were ready. */
async function die(root: TestRoot, points: readonly string[]): Promise<number> {
  let deaths = 0
  for (const point of points) {
    const leader = root.spawn({ env: { HEADWATER_CRASH_AT: point } })
    const isReady = await leader.ready.then(
      () => true,
      () => false,
    )
    if (isReady) {
      await leader.kill()
      return deaths
    }
    expect(await leader.exited).toEqual({ code: null, signal: 'SIGKILL' })
    deaths += 1
  }
  return deaths
}

test('X13 X1 X2 X4 X5 X8 X10 X11 however often a leader is killed while it recovers, the end state is the same', {
  timeout: 90_000,
}, async () => {
  const undisturbed = await unfinishedRoot()
  await undisturbed.start()
  const expected = await expectRecovered(undisturbed)
  expect(expected).toMatchObject({
    asks: { projection: { rootTurn: { status: 'failed', failureClass: 'app_restarted' } } },
    waits: { projection: { queue: { parked: { reason: 'leader_restarted' } }, interactions: { pending: [] } } },
    x2: { projection: { rootTurn: { status: 'completed' } } },
    x11: { projection: { transcript: { entries: [{ kind: 'user' }, { kind: 'tool', status: 'unknown' }] } } },
  })

  const stepwise = await unfinishedRoot()
  expect(await die(stepwise, STEPWISE)).toBe(STEPWISE.length)
  await stepwise.start()
  expect(await expectRecovered(stepwise)).toEqual(expected)
})

test('X13 A2 leaders killed around any batch of their recovery leave what an undisturbed one leaves', {
  timeout: 90_000,
}, async () => {
  const seed = testSeed()
  console.info(`recovery crash: HEADWATER_SEED=${seed}`)
  const random = seededRandom(seed)
  const undisturbed = await unfinishedRoot()
  await undisturbed.start()
  const expected = await expectRecovered(undisturbed)

  const disturbed = await unfinishedRoot()
  const points = Array.from({ length: 12 }, () => {
    const point = random.pick(['mid_recovery', 'before_batch', 'after_batch_before_publish'])
    return `${point}:${random.between(1, 3)}`
  })
  expect(await die(disturbed, points)).toBeGreaterThan(2)
  await disturbed.start()
  expect(await expectRecovered(disturbed)).toEqual(expected)
})
