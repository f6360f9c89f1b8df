import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { SubscriptionFrame } from '../../replica/client/types.ts'
import type { Admission } from '../../schema/entities/turn.ts'
import { logFrames } from '../support/live/frames.ts'
import { eventsOf, readLedger } from '../support/live/ledger.ts'
import { testRoot } from '../support/live/test-root.ts'
import { waitFor } from '../support/wait-for.ts'

const SCRIPTED = { cwd: '/tmp', backend: 'scripted' }
const CLEAN = { sessions: expect.any(Number), records: expect.any(Number), documents: expect.any(Number), faults: [] }
const TERMINAL = ['run_completed', 'run_failed', 'run_cancelled']

/** An external message's admission, the first of its session. */
function admissionOf(turnId: string, content: Admission['normalizedInput']): Admission {
  return {
    turnId,
    runId: `run-${turnId}`,
    userMessageId: `msg-${turnId}`,
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: content,
    sourceMessages: [],
    submittedBy: { surface: 'tui', clientInstanceId: 'planter' },
    admittedAt: 1_700_000_000_000,
  }
}

/** What of a frame must be the same at every replica. */
function shared(frame: SubscriptionFrame): unknown {
  if (!('snapshot' in frame)) return frame
  const { presence: _presence, presenceCount: _count, ...snapshot } = frame.snapshot
  return { ...frame, snapshot }
}

test('T12 Q1 Q7 V3 two replicas share one queue and see the terminal cut before the successor', async () => {
  const root = testRoot()
  await root.start()
  const [a, b] = [await root.connect('tui'), await root.connect('run')]
  await a.createSession({ sessionId: 's', ...SCRIPTED })
  const [seenByA, seenByB] = [
    await a.openSessionSubscription({ sessionId: 's' }),
    await b.openSessionSubscription({ sessionId: 's' }),
  ]
  const [logA, logB] = [logFrames(seenByA), logFrames(seenByB)]
  await a.startTurn({ sessionId: 's', turnId: 't1', content: { text: 'the first turn, long enough to queue behind' } })
  const submit = (of: typeof a, messageId: string) =>
    of.submitMessage({
      sessionId: 's',
      originHostEpoch: of.hostEpoch,
      messageId,
      content: { text: `text of ${messageId}` },
      placement: 'next_turn',
    })
  expect(await submit(a, 'm1')).toEqual({ disposition: 'followup', queueRevision: 1 })
  expect(await submit(b, 'm2')).toEqual({ disposition: 'followup', queueRevision: 2 })
  await waitFor(() => seenByA.current.rootTurn?.turnId !== 't1' && seenByA.current.rootTurn?.status === 'completed')
  await waitFor(() => seenByB.current.revision === seenByA.current.revision)

  const snapshots = logA.frames.flatMap(frame => ('snapshot' in frame ? [frame.snapshot] : []))
  const cut = snapshots.findIndex(({ rootTurn }) => rootTurn?.turnId === 't1' && rootTurn.status === 'completed')
  const [terminal, successor] = [snapshots[cut], snapshots[cut + 1]]
  expect(terminal?.queue.followup.map(entry => entry.messageId)).toEqual(['m1', 'm2'])
  expect(successor?.revision).toBe((terminal?.revision ?? 0) + 1)
  expect(successor?.queue.followup).toEqual([])
  expect(successor?.rootTurn).toMatchObject({ status: 'admitted' })
  const users = seenByB.current.transcript.entries.filter(entry => entry.kind === 'user')
  expect(users.map(entry => entry.content.text)).toEqual([
    'the first turn, long enough to queue behind',
    'text of m1\n\ntext of m2',
  ])
  await waitFor(() => logB.frames.at(-1)?.revision === logA.frames.at(-1)?.revision)
  const first = logB.frames[0]?.revision ?? 0
  expect(logB.frames.map(shared)).toEqual(logA.frames.filter(frame => frame.revision >= first).map(shared))
})

test('T5 of concurrent starts on one session exactly one wins; the losers leave nothing durable', async () => {
  const root = testRoot()
  await root.start()
  const replicas = await Promise.all([root.connect(), root.connect(), root.connect(), root.connect()])
  const [a] = replicas
  for (let round = 0; round < 10; round++) {
    const sessionId = `s${round}`
    await a.createSession({ sessionId, ...SCRIPTED })
    const starts = replicas.flatMap((replica, i) =>
      [0, 1].map(j => ({ replica, turnId: `t${i}-${j}`, content: { text: '/hold' } })),
    )
    const outcomes = await Promise.allSettled(
      starts.map(({ replica, turnId, content }) => replica.startTurn({ sessionId, turnId, content })),
    )
    const winners = starts.filter((_, i) => outcomes[i]?.status === 'fulfilled')
    expect(winners.length).toBe(1)
    const [{ turnId = '' } = {}] = winners
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') continue
      expect(outcome.reason).toMatchObject({ code: 'session_busy', detail: { turnId } })
      const lost = { sessionId, turnId: starts[i]?.turnId ?? '' }
      const receipt = { sessionId, operation: 'turn.start', id: lost.turnId }
      expect(await a.request('receipt.query', receipt)).toEqual({ stored: false })
      await expect(a.queryTurn(lost)).rejects.toMatchObject({ code: 'not_found' })
    }
    const admitted = eventsOf(await readLedger(a, sessionId), 'turn_admitted')
    expect(admitted.map(event => (event.payload.admission as Admission).turnId)).toEqual([turnId])
  }
})

test('S4 an archived session leaves no trace of a refused turn', async () => {
  const root = testRoot()
  const leader = await root.start()
  const a = await root.connect()
  await a.createSession({ sessionId: 's', ...SCRIPTED })
  const known = { sessionId: 's', turnId: 'before', content: { text: 'hi' } }
  const started = await a.startTurn(known)
  const ended = await waitFor(async () => {
    const turn = await a.queryTurn({ sessionId: 's', turnId: 'before' })
    return turn.status === 'completed' ? turn : undefined
  })
  await a.request('session.archive', { sessionId: 's', operationId: 'archive' })
  const before = await readLedger(a, 's')
  const refused = { sessionId: 's', turnId: 'refused', content: { text: 'no trace of this' } }
  const message = { sessionId: 's', messageId: 'm', content: refused.content, placement: 'next_turn' as const }
  const submitted = { ...message, originHostEpoch: a.hostEpoch }
  await expect(a.startTurn(refused)).rejects.toMatchObject({ code: 'session_archived' })
  await expect(a.submitMessage(submitted)).rejects.toMatchObject({ code: 'session_archived' })
  expect(await readLedger(a, 's')).toEqual(before)
  expect(started.turn).toMatchObject({ runId: ended.runId })
  expect(await a.startTurn(known)).toEqual({ kind: 'started', turn: ended })
  await leader.kill()

  const left = await root.offline(async store => ({
    chain: (await store.readAdmissionChain('s')).map(admission => admission.turnId),
    turn: await store.readTurn('s', 'refused'),
  }))
  expect(left.chain).toEqual(['before'])
  expect(left.turn.admission).toBeNull()
  expect(left.turn.classification).toEqual({ kind: 'none' })
  await root.start()
  const b = await root.connect()
  expect(await readLedger(b, 's')).toEqual(before)
  const receipt = { sessionId: 's', operation: 'turn.start', id: 'refused' }
  expect(await b.request('receipt.query', receipt)).toEqual({ stored: false })
  expect(await b.request('root.verify', {})).toEqual(CLEAN)
})

test('X1 X13 A5 a killed leader is recovered exactly once, and stays the same after a third start', async () => {
  const root = testRoot()
  const first = await root.start()
  const a = await root.connect()
  await a.createSession({ sessionId: 's', ...SCRIPTED })
  const seen = await a.openSessionSubscription({ sessionId: 's' })
  const { turn } = await a.startTurn({ sessionId: 's', turnId: 't', content: { text: '/hold' } })
  expect(turn.status).toBe('running')
  await first.kill()

  const second = await root.start()
  const failed = { sessionId: 's', turnId: 't', runId: turn.runId, status: 'failed', failureClass: 'app_restarted' }
  await waitFor(() => seen.freshness.state === 'live' && seen.current.rootTurn?.status === 'failed')
  const recovered = seen.current.rootTurn
  expect(recovered).toEqual({ ...failed, terminalEventId: expect.any(String) })
  expect(await a.queryTurn({ sessionId: 's', turnId: 't' })).toEqual(recovered)
  expect(seen.current.session.status).toBe('idle')
  const ledger = await readLedger(a, 's')
  expect(eventsOf(ledger, ...TERMINAL).map(event => event.type)).toEqual(['run_failed'])
  await second.kill()

  await root.start()
  await waitFor(() => seen.freshness.state === 'live' && a.freshness.state === 'live')
  expect(seen.current.rootTurn).toEqual(recovered)
  expect(await a.queryTurn({ sessionId: 's', turnId: 't' })).toEqual(recovered)
  expect(await readLedger(a, 's')).toEqual(ledger)
  expect((await a.startTurn({ sessionId: 's', turnId: 't', content: { text: '/hold' } })).turn).toEqual(recovered)
  expect(await a.request('root.verify', {})).toEqual(CLEAN)
})

test('E6 X14 Q9 I5 a graceful stop cancels, parks, exits 0 and leaves nothing to recover', async () => {
  const root = testRoot()
  const leader = await root.start()
  const registration = join(dirname(leader.line.socketPath), 'leader.json')
  expect(existsSync(registration)).toBe(true)
  const a = await root.connect()
  for (const [sessionId, text] of [
    ['holds', '/hold'],
    ['asks', '/ask'],
  ] as const) {
    await a.createSession({ sessionId, ...SCRIPTED })
    await a.startTurn({ sessionId, turnId: 't', content: { text } })
  }
  const message = { sessionId: 'holds', messageId: 'm', content: { text: 'later' }, placement: 'next_turn' as const }
  await a.submitMessage({ ...message, originHostEpoch: a.hostEpoch })
  const asked = await waitFor(async () => (await a.request('interaction.list', {})).interactions[0])
  expect(await leader.stop()).toEqual({ code: 0, signal: null })
  expect(leader.extraLines()).toEqual([])
  expect(existsSync(registration)).toBe(false)
  expect(existsSync(leader.line.socketPath)).toBe(false)

  const next = await root.start()
  expect(next.stderr()).toMatch(/"recovered":0,"quarantined":0/)
  const b = await root.connect()
  const cancelled = { status: 'cancelled', abortSource: 'leader_shutdown' }
  for (const sessionId of ['holds', 'asks']) {
    expect(await b.queryTurn({ sessionId, turnId: 't' })).toMatchObject(cancelled)
    expect(eventsOf(await readLedger(b, sessionId), ...TERMINAL).length).toBe(1)
  }
  const { queue } = (await b.openSessionSubscription({ sessionId: 'holds' })).current
  expect(queue.followup.map(({ messageId, state }) => ({ messageId, state }))).toEqual([
    { messageId: 'm', state: 'parked' },
  ])
  expect(queue.parked?.reason).toBe('leader_stopped')
  const { interactionId } = asked
  expect(await b.request('interaction.query', { interactionId })).toMatchObject({
    status: 'closed',
    outcome: { kind: 'closure', reason: 'turn_stopped' },
  })
})

test('X3 an admission without a run resumes before ready, with the same runId, and the session is busy meanwhile', async () => {
  const root = testRoot()
  const admission = admissionOf('t', { text: '/hold' })
  await root.offline(async store => {
    await store.createSession({ sessionId: 's', ...SCRIPTED })
    await store.admitTurn({ sessionId: 's', ...admission })
  })
  await root.start()
  const a = await root.connect()
  const running = { sessionId: 's', turnId: 't', runId: admission.runId, status: 'running' }
  expect(await a.queryTurn({ sessionId: 's', turnId: 't' })).toEqual(running)
  await expect(a.startTurn({ sessionId: 's', turnId: 'u', content: { text: 'x' } })).rejects.toMatchObject({
    code: 'session_busy',
    detail: { turnId: 't' },
  })
  const { entries } = (await a.openSessionSubscription({ sessionId: 's' })).current.transcript
  expect(entries.map(({ kind, id }) => ({ kind, id }))).toEqual([{ kind: 'user', id: 'msg-t' }])
  const ledger = await readLedger(a, 's')
  expect(eventsOf(ledger, 'run_started', 'run_created').map(event => event.payload.runId)).toEqual([admission.runId])
  expect(await a.stopTurn({ sessionId: 's', turnId: 't', runId: admission.runId })).toMatchObject({
    status: 'cancelled',
  })
  expect(await a.request('root.verify', {})).toEqual(CLEAN)
})

test('X4 a missing message is restored from the admission, then the run ends', async () => {
  const root = testRoot()
  const content = { text: 'restore me', quotes: [{ text: 'quoted' }] }
  const admission = admissionOf('t', content)
  await root.offline(async store => {
    await store.createSession({ sessionId: 's', ...SCRIPTED })
    await store.admitTurn({ sessionId: 's', ...admission })
    await store.createRun({ sessionId: 's', turnId: 't', runId: admission.runId })
  })
  const leader = await root.start()
  const a = await root.connect()
  expect(await a.queryTurn({ sessionId: 's', turnId: 't' })).toMatchObject({
    runId: admission.runId,
    status: 'failed',
    failureClass: 'app_restarted',
  })
  const { entries } = (await a.openSessionSubscription({ sessionId: 's' })).current.transcript
  expect(entries).toEqual([
    {
      seq: 1,
      id: 'msg-t',
      kind: 'user',
      turnId: 't',
      runId: admission.runId,
      at: admission.admittedAt,
      content,
      submittedBy: admission.submittedBy,
    },
  ])
  await leader.stop()
  const turn = await root.offline(store => store.readTurn('s', 't'))
  expect(turn.userMessages.map(({ messageId, content, at }) => ({ messageId, content, at }))).toEqual([
    { messageId: 'msg-t', content, at: admission.admittedAt },
  ])
  expect(turn.terminalEvents.map(event => event.type)).toEqual(['run_failed'])
  expect(turn.classification).toEqual({
    kind: 'fact',
    fact: { runStatus: 'failed', failureClass: 'app_restarted' },
  })
})

test('X5 A9 a message that is there is compared canonically: equal is kept once, different quarantines that session alone', async () => {
  const root = testRoot()
  const content = { text: 'the same', quotes: [{ text: 'q', label: 'l' }] }
  const present = {
    equal: { quotes: [{ label: 'l', text: 'q' }], attachments: [], displayText: 'the same', text: 'the same' },
    different: { text: 'the same', quotes: [{ text: 'q' }] },
  }
  const admission = admissionOf('t', content)
  await root.offline(async store => {
    for (const [sessionId, content] of Object.entries(present)) {
      await store.createSession({ sessionId, ...SCRIPTED })
      await store.admitTurn({ sessionId, ...admission })
      await store.createRun({ sessionId, turnId: 't', runId: admission.runId })
      await store.appendUserMessage({ sessionId, turnId: 't', messageId: 'msg-t', content, at: 5 })
    }
  })
  const first = await root.start()
  const a = await root.connect()
  const expectEndState = async (): Promise<void> => {
    const equal = (await a.openSessionSubscription({ sessionId: 'equal' })).current
    expect(equal.rootTurn).toMatchObject({ status: 'failed', failureClass: 'app_restarted' })
    expect(equal.transcript.entries.map(({ id, at }) => ({ id, at }))).toEqual([{ id: 'msg-t', at: 5 }])
    const { faults } = await a.status()
    expect(faults).toMatchObject([{ code: 'session_damaged', sessionId: 'different' }])
    expect((await a.request('session.get', { sessionId: 'different' })).session.status).toBe('damaged')
    const start = { sessionId: 'different', turnId: 'u', content: { text: 'x' } }
    await expect(a.startTurn(start)).rejects.toMatchObject({ code: 'session_damaged' })
    const damaged = (await a.openSessionSubscription({ sessionId: 'different' })).current
    expect(damaged.session.status).toBe('damaged')
    expect(damaged.transcript.entries.length).toBe(1)
  }
  await expectEndState()
  const ledger = await readLedger(a, 'different')
  await first.kill()
  await root.start()
  await waitFor(() => a.freshness.state === 'live')
  await expectEndState()
  expect(await readLedger(a, 'different')).toEqual(ledger)
})
