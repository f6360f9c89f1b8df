import { expect, test } from 'vitest'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import type { LedgerEvent } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import { HandBackend, type HandRun } from '../support/hand-backend.ts'
import { ADA, BOB, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

interface Stage {
  readonly leader: TestLeader
  readonly hand: HandBackend
  readonly run: HandRun
}

/** A session whose turn t1 runs. */
async function busy(): Promise<Stage> {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  await leader.startTurn('s', 't1', 'first')
  return { leader, hand, run: await hand.run('t1') }
}

/** The waiting entries, as a root without a leader shows them; the leader goes on afterwards. */
async function queueOf({ leader, hand }: Stage): Promise<readonly QueueEntry[]> {
  await leader.close()
  const shown = await leader.offline(store => store.readSession('s'))
  await leader.start({ backends: [hand] })
  return [...shown.queue.steering, ...shown.queue.followup]
}

async function events(leader: TestLeader, type: string): Promise<readonly LedgerEvent[]> {
  return (await leader.ledger('s')).flatMap(record => record.events).filter(event => event.type === type)
}

const entry = (entryId: string, expectedEntryRevision = 1) => ({ sessionId: 's', entryId, expectedEntryRevision })

test('Q1 Q9 X14 an accepted message outlives its sender and a restart; a stop of the leader parks it', async () => {
  const stage = await busy()
  await stage.leader.submit('s', 'm1', 'next_turn', 'kept')
  expect(await queueOf(stage)).toEqual([
    {
      entryId: 'm1',
      messageId: 'm1',
      content: { text: 'kept' },
      placement: 'next_turn',
      state: 'parked',
      submittedBy: ADA,
      revision: 2,
    },
  ])
  const [parked] = await events(stage.leader, 'queue_entries_parked')
  expect(parked?.payload).toEqual({ entryIds: ['m1'], reason: 'leader_stopped' })
  const turn = await stage.leader.ok('turn.query', { sessionId: 's', turnId: 't1' })
  expect(turn).toMatchObject({ status: 'cancelled', abortSource: 'leader_shutdown' })
  expect(await stage.leader.ok('queue.resume', { sessionId: 's' })).toEqual({ queueRevision: 3 })
  await waitFor(() => stage.hand.runs.length === 2)
  expect(stage.hand.runs[1]?.context.input).toEqual({ text: 'kept' })
})

test('Q2 a message starts a turn on an idle session, and queues by placement on a busy one', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  const first = await leader.submit('s', 'm1', 'current_turn', 'go')
  expect(first).toEqual({ disposition: 'turn_started', turnId: expect.any(String) })
  const { turnId } = first as { turnId: string }
  expect(await leader.ok('turn.query', { sessionId: 's', turnId })).toMatchObject({ status: 'running' })
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 5 })
  expect(page.entries).toMatchObject([{ kind: 'user', id: 'm1', turnId, content: { text: 'go' }, submittedBy: ADA }])
  expect(await leader.submit('s', 'm2', 'current_turn')).toEqual({ disposition: 'steering', queueRevision: 1 })
  expect(await leader.submit('s', 'm3', 'next_turn')).toEqual({ disposition: 'followup', queueRevision: 2 })
})

test('Q3 a retry is the first result, from anyone, in any epoch; an unknown id of an old epoch is new', async () => {
  const { leader, hand } = await busy()
  const { hostEpoch: originHostEpoch } = leader.leader
  const input = {
    originHostEpoch,
    sessionId: 's',
    messageId: 'm1',
    content: { text: 'x' },
    placement: 'next_turn' as const,
  }
  const first = await leader.ok('turn.message.submit', input)
  await leader.submit('s', 'm2', 'next_turn')
  expect(await leader.ok('turn.message.submit', input, BOB)).toEqual(first)
  await leader.restart({ backends: [hand] })
  expect(leader.leader.hostEpoch).not.toBe(originHostEpoch)
  expect(await leader.ok('turn.message.submit', input)).toEqual(first)
  expect(await leader.ok('turn.message.submit', { ...input, originHostEpoch: 'yet-another' })).toEqual(first)
  for (const other of [{ placement: 'current_turn' as const }, { content: { text: 'y' } }]) {
    expect((await leader.refused('turn.message.submit', { ...input, ...other })).code).toBe('operation_conflict')
  }
  const fresh = await leader.ok('turn.message.submit', { ...input, messageId: 'm3' })
  expect(fresh).toMatchObject({ disposition: 'turn_started' })
  const [added] = await events(leader, 'queue_entry_added')
  const admitted = (await events(leader, 'turn_admitted')).at(-1)
  for (const event of [added, admitted]) expect(event?.payload).toMatchObject({ originHostEpoch })
})

test('Q4 the 65th entry is refused before anything changes', async () => {
  const { leader } = await busy()
  for (let i = 0; i < LIMITS.queueEntries; i++) await leader.submit('s', `m${i}`, 'next_turn', 'x')
  const revision = await leader.revision('s')
  const input = {
    originHostEpoch: 'e',
    sessionId: 's',
    messageId: 'over',
    content: { text: 'x' },
    placement: 'next_turn' as const,
  }
  expect(await leader.call('turn.message.submit', input)).toMatchObject({ status: 409, error: { code: 'queue_full' } })
  expect(await leader.revision('s')).toBe(revision)
  await leader.ok('queue.remove', entry('m0'))
  expect(await leader.ok('turn.message.submit', input)).toMatchObject({ disposition: 'followup' })
})

test('Q5 the run pulls its steers on lease; ack puts them in the ledger, nack back at the head, an end too', async () => {
  const { leader, hand, run } = await busy()
  const waits = run.context.steeringWaits()
  for (const id of ['s1', 's2', 's3']) await leader.submit('s', id, 'current_turn')
  await waits
  await run.context.text('so far')
  const pulled = await run.context.pullSteering()
  expect(pulled).toEqual(['s1', 's2', 's3'].map(id => ({ entryId: id, messageId: id, content: { text: id } })))
  expect(await run.context.pullSteering()).toEqual([])
  expect((await leader.refused('queue.edit', { ...entry('s1', 2), content: { text: 'no' } })).code).toBe(
    'already_delivered',
  )
  await run.context.ack(['s1'])
  await run.context.nack(['s2'])
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 5 })
  expect(page.entries.slice(1)).toMatchObject([
    { kind: 'assistant', text: 'so far' },
    { kind: 'user', id: 's1', content: { text: 's1' }, submittedBy: ADA, isSteering: true },
  ])
  expect((await leader.refused('queue.remove', entry('s1', 2))).code).toBe('already_delivered')
  expect((await run.context.pullSteering()).map(s => s.entryId)).toEqual(['s2'])
  run.complete()
  await waitFor(() => hand.runs.length === 2)
  expect(hand.runs[1]?.context.input).toEqual({ text: 's2\n\ns3' })
})

test('Q6 edit, remove, move and promote of an entry count its revision, and refuse a stale one', async () => {
  const stage = await busy()
  const { leader } = stage
  for (const id of ['f1', 'f2', 'f3']) await leader.submit('s', id, 'next_turn')
  await leader.submit('s', 's1', 'current_turn')
  const edited = await leader.ok('queue.edit', { ...entry('f1'), content: { text: 'edited', displayText: 'edited' } })
  expect(edited).toMatchObject({ queueRevision: 5, entry: { content: { text: 'edited' }, revision: 2 } })
  const stale = await leader.refused('queue.edit', { ...entry('f1'), content: { text: 'late' } })
  expect(stale).toMatchObject({ code: 'operation_conflict', detail: { entry: edited.entry } })
  const moved = await leader.ok('queue.move', { ...entry('f3'), before: 'f1' })
  expect(moved).toMatchObject({ queueRevision: 6, entry: { entryId: 'f3', revision: 2 } })
  const promoted = await leader.ok('queue.promote', entry('f2'))
  expect(promoted).toMatchObject({ queueRevision: 7, entry: { placement: 'current_turn', revision: 2 } })
  const removed = await leader.ok('queue.remove', entry('s1'))
  expect(removed).toMatchObject({ queueRevision: 8, entry: { entryId: 's1' } })
  expect((await leader.refused('queue.remove', entry('s1'))).code).toBe('not_found')
  expect((await leader.refused('queue.move', { ...entry('f2', 2), after: 'f1' })).code).toBe('operation_conflict')
  expect((await queueOf(stage)).map(e => [e.entryId, e.placement, e.content.text])).toEqual([
    ['f2', 'current_turn', 'f2'],
    ['f3', 'next_turn', 'f3'],
    ['f1', 'next_turn', 'edited'],
  ])
})

test('Q6 W2 a move names one place, before or after', async () => {
  const { leader } = await busy()
  const paths = [
    [entry('f1'), 'before'],
    [{ ...entry('f1'), before: 'a', after: 'b' }, 'after'],
    [{ ...entry('f1'), after: 'a b' }, 'after'],
  ] as const
  for (const [input, path] of paths) {
    expect(await leader.call('queue.move', input)).toMatchObject({ status: 400, error: { detail: { path } } })
  }
})

test('Q7 what waits becomes one successor: steers first, each message kept as it was sent', async () => {
  const { leader, hand, run } = await busy()
  const submit = (messageId: string, placement: 'current_turn' | 'next_turn', content: object, actor = ADA) =>
    leader.ok(
      'turn.message.submit',
      { originHostEpoch: 'e', sessionId: 's', messageId, placement, content: { text: messageId, ...content } },
      actor,
    )
  const file = { kind: 'file' as const, name: 'a', mimeType: 'text/plain', bytes: 1, ref: { path: '/a' } }
  await submit('f1', 'next_turn', { attachments: [file] })
  await submit('s1', 'current_turn', { displayText: 'S1' }, BOB)
  await submit('f2', 'next_turn', { quotes: [{ text: 'q' }], attachments: [file] })
  run.complete()
  await waitFor(() => hand.runs.length === 2)
  const input = {
    text: 's1\n\nf1\n\nf2',
    displayText: 'S1\n\nf1\n\nf2',
    attachments: [file, file],
    quotes: [{ text: 'q' }],
  }
  expect(hand.runs[1]?.context.input).toEqual(input)
  const [, handedOn] = await events(leader, 'turn_admitted')
  const { admission } = (handedOn?.payload ?? {}) as { admission: Record<string, unknown> }
  const sent = (messageId: string, placement: string, disposition: string, content: object, submittedBy = ADA) => ({
    messageId,
    content: { text: messageId, ...content },
    placement,
    disposition,
    submittedBy,
  })
  expect(admission).toMatchObject({
    execution: { kind: 'external_message' },
    previousRootTurnId: 't1',
    normalizedInput: input,
    submittedBy: null,
    sourceMessages: [
      sent('s1', 'current_turn', 'steering', { displayText: 'S1' }, BOB),
      sent('f1', 'next_turn', 'followup', { attachments: [file] }),
      sent('f2', 'next_turn', 'followup', { quotes: [{ text: 'q' }], attachments: [file] }),
    ],
  })
})

test('Q7 a failed turn hands on as a completed one does; a message alone keeps its id and its content', async () => {
  const { leader, hand, run } = await busy()
  await leader.submit('s', 'm1', 'next_turn', 'alone')
  run.fail(new Error('broken'))
  await waitFor(() => hand.runs.length === 2)
  expect(hand.runs[1]?.context.input).toEqual({ text: 'alone' })
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 5 })
  expect(page.entries.at(-1)).toMatchObject({ kind: 'user', id: 'm1', submittedBy: ADA })
})

test('Q7 C1 what does not fit one message goes with the next hand-off', async () => {
  const { leader, hand, run } = await busy()
  const big = 'x'.repeat(30 * 1024)
  for (const id of ['m1', 'm2', 'm3']) await leader.submit('s', id, 'next_turn', big)
  run.complete()
  for (let i = 1; i <= 3; i++) {
    await waitFor(() => hand.runs.length === i + 1)
    expect(hand.runs[i]?.context.input.text).toBe(big)
    hand.runs[i]?.complete()
  }
  await waitFor(async () => (await leader.ok('session.get', { sessionId: 's' })).session.status === 'idle')
  expect((await events(leader, 'queue_handed_on')).map(e => e.payload.entryIds)).toEqual([['m1'], ['m2'], ['m3']])
})

test('Q8 retract takes back what is not in flight; interrupt stops and takes back in one transition', async () => {
  const { leader, run } = await busy()
  for (const id of ['s1', 's2']) await leader.submit('s', id, 'current_turn')
  await run.context.pullSteering()
  await leader.submit('s', 'f1', 'next_turn')
  await leader.submit('s', 's3', 'current_turn')
  const retract = { sessionId: 's', retractId: 'r1' }
  const taken = await leader.ok('queue.retract', retract)
  expect(taken).toMatchObject({ queueRevision: 6, retracted: [{ entryId: 'f1' }, { entryId: 's3' }] })
  expect(await leader.ok('queue.retract', retract, BOB)).toEqual(taken)
  await leader.submit('s', 'f2', 'next_turn')
  const { runId } = run.context
  const interrupt = { sessionId: 's', interruptId: 'i1', turnId: 't1', runId }
  const from = (await leader.revision('s')) + 1
  const interrupted = await leader.ok('turn.interrupt', interrupt)
  expect(interrupted).toMatchObject({
    queueRevision: 8,
    retracted: [{ entryId: 'f2' }],
    turn: { turnId: 't1', status: 'cancelled', abortSource: 'user_stop' },
  })
  expect(await leader.transitions('s', from)).toEqual([
    ['queue_retracted'],
    ['queue_entries_returned', 'queue_entries_parked', 'run_cancelled', 'turn_settled'],
  ])
  await leader.submit('s', 'next', 'next_turn')
  expect(await leader.ok('turn.interrupt', interrupt)).toEqual(interrupted)
  const late = await leader.ok('turn.interrupt', { ...interrupt, interruptId: 'i2' })
  expect(late).toEqual({ queueRevision: 9, retracted: [], turn: interrupted.turn })
})

test('Q9 a stop parks in order, new ones queue behind, a new turn frees nothing, resume runs what waits', async () => {
  const stage = await busy()
  const { leader, hand, run } = stage
  await leader.submit('s', 'f1', 'next_turn')
  await leader.submit('s', 's1', 'current_turn')
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId: run.context.runId })
  await leader.ok('queue.edit', { ...entry('f1', 2), content: { text: 'f1 edited' } })
  await leader.startTurn('s', 't2', 'second')
  await leader.submit('s', 'f2', 'next_turn')
  ;(await hand.run('t2')).complete()
  await waitFor(() => hand.runs.length === 3)
  expect(hand.runs[2]?.context.input).toEqual({ text: 'f2' })
  hand.runs[2]?.complete()
  await waitFor(async () => (await leader.ok('session.get', { sessionId: 's' })).session.status === 'idle')
  await leader.ok('queue.resume', { sessionId: 's' })
  await waitFor(() => hand.runs.length === 4)
  expect(hand.runs[3]?.context.input).toEqual({ text: 's1\n\nf1 edited' })
})

test('Q9 a resume while a turn runs wakes its steers and leaves the rest to the hand-off', async () => {
  const { leader, hand, run } = await busy()
  await leader.submit('s', 'f1', 'next_turn')
  await leader.submit('s', 's1', 'current_turn')
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId: run.context.runId })
  await leader.startTurn('s', 't2', 'second')
  const second = await hand.run('t2')
  const waits = second.context.steeringWaits()
  await leader.ok('queue.resume', { sessionId: 's' })
  await waits
  expect((await second.context.pullSteering()).map(s => s.entryId)).toEqual(['s1'])
  await second.context.ack(['s1'])
  second.complete()
  await waitFor(() => hand.runs.length === 3)
  expect(hand.runs[2]?.context.input).toEqual({ text: 'f1' })
})

test('Q10 the queue’s revision counts every change once and survives a restart', async () => {
  const { leader, hand, run } = await busy()
  const revisions: number[] = []
  const note = async (result: Promise<{ queueRevision: number } | object>): Promise<void> => {
    revisions.push((await (result as Promise<{ queueRevision: number }>)).queueRevision)
  }
  await note(leader.submit('s', 'm1', 'next_turn'))
  await note(leader.submit('s', 'm2', 'next_turn'))
  await note(leader.ok('queue.promote', entry('m2')))
  await note(leader.ok('queue.promote', entry('m2', 2)))
  await note(leader.ok('queue.remove', entry('m2', 2)))
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId: run.context.runId })
  await leader.restart({ backends: [hand] })
  await leader.startTurn('s', 't2', 'x')
  await note(leader.submit('s', 'm3', 'next_turn'))
  expect(revisions).toEqual([1, 2, 3, 3, 4, 6])
})
