import { expect, test } from 'vitest'
import { decideAck, decideEnd, decideNack, decidePull } from '../../leader/domain/decide/run.ts'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import { LIMITS } from '../../schema/limits.ts'
import { accept, BOB, DomainSession, typesOf } from '../support/domain/domain-session.ts'

/** A session whose turn runs, with follow-ups f1 f2 f3 and steers s1 s2, submitted in turns. */
function busy(): DomainSession {
  const session = new DomainSession().create()
  session.start('t1')
  session.submit('f1', 'next_turn')
  session.submit('s1', 'current_turn', 'steer 1', BOB)
  session.submit('f2', 'next_turn')
  session.submit('s2', 'current_turn')
  session.submit('f3', 'next_turn')
  return session
}

const entry = (session: DomainSession, id: string): QueueEntry =>
  session.state.queue.find(record => record.entry.entryId === id)?.entry as QueueEntry

const named = (entryId: string, expectedEntryRevision = 1) => ({ entryId, expectedEntryRevision })

function run(session: DomainSession): { turnId: string; runId: string } {
  const { turnId, runId } = session.admission
  return { turnId, runId }
}

test('Q2 an idle session starts a turn, a busy one queues by placement', () => {
  const session = new DomainSession().create()
  expect(session.submit('m1', 'current_turn')).toMatchObject({ disposition: 'turn_started' })
  expect(session.admission).toMatchObject({
    userMessageId: 'm1',
    normalizedInput: { text: 'm1' },
    sourceMessages: [{ messageId: 'm1', placement: 'current_turn', disposition: 'turn_started' }],
  })
  expect(session.submit('m2', 'current_turn')).toEqual({ disposition: 'steering', queueRevision: 1 })
  session.startRun()
  expect(session.submit('m3', 'next_turn', 'm3', BOB)).toEqual({ disposition: 'followup', queueRevision: 2 })
  const entries = session.state.queue.map(record => record.entry)
  expect(entries).toEqual([
    {
      entryId: 'm2',
      messageId: 'm2',
      content: { text: 'm2' },
      placement: 'current_turn',
      state: 'queued',
      submittedBy: { surface: 'desktop', clientInstanceId: 'ada-1' },
      revision: 1,
    },
    { ...entry(session, 'm3'), placement: 'next_turn', state: 'queued', submittedBy: BOB, revision: 1 },
  ])
})

test('Q2 Q5 a steer wakes the run, a follow-up does not', () => {
  const session = new DomainSession().create()
  session.start('t1')
  const submit = (placement: 'current_turn' | 'next_turn') =>
    accept(
      session.decide('turn.message.submit', {
        originHostEpoch: 'e',
        messageId: 'm',
        content: { text: 'm' },
        placement,
      }),
    ).effects
  expect(submit('current_turn')).toEqual([{ kind: 'wake_steering' }])
  expect(submit('next_turn')).toEqual([])
})

test('Q4 the queue is full at 64 entries, before anything changes', () => {
  const session = new DomainSession().create()
  session.start('t1')
  for (let i = 0; i < LIMITS.queueEntries; i++) session.submit(`m${i}`, 'next_turn')
  const before = session.state
  expect(() => session.submit('over', 'next_turn')).toThrow('queue_full')
  expect(session.state).toBe(before)
})

test('Q4 the queue is full at 256 KiB together, also by an edit', () => {
  const session = new DomainSession().create()
  session.start('t1')
  const big = 'x'.repeat(LIMITS.messageTextBytes)
  for (let i = 0; i < 5; i++) session.submit(`m${i}`, 'next_turn', big)
  expect(() => session.submit('over', 'next_turn', big)).toThrow('queue_full')
  session.submit('small', 'next_turn', 'x')
  const edit = { ...named('small'), content: { text: big } }
  expect(session.refusal('queue.edit', edit).code).toBe('queue_full')
  const same = { ...named('m0'), content: { text: `${big.slice(1)}y` } }
  expect(session.do('queue.edit', same)).toMatchObject({ entry: { revision: 2 } })
})

test('Q6 an edit replaces the content in canonical form and counts in the entry', () => {
  const session = busy()
  const content = { text: 'new', displayText: 'new', attachments: [], quotes: [] }
  expect(session.do('queue.edit', { ...named('f2'), content })).toEqual({
    queueRevision: 6,
    entry: { ...entry(session, 'f2'), content: { text: 'new' }, revision: 2 },
  })
})

const CHANGES = [
  ['queue.edit', { content: { text: 'x' } }],
  ['queue.remove', {}],
  ['queue.move', { before: 'f1' }],
  ['queue.promote', {}],
] as const

test.each(CHANGES)('Q6 %s: stale, unknown, taken back, in flight, delivered', (operation, rest) => {
  const session = busy()
  const refuse = (id: string, revision = 1) => session.refusal(operation, { ...named(id, revision), ...rest } as never)
  expect(refuse('f2', 2)).toMatchObject({
    code: 'operation_conflict',
    detail: { entry: { entryId: 'f2', revision: 1 } },
  })
  expect(refuse('nobody').code).toBe('not_found')
  session.do('queue.remove', named('f3'))
  expect(refuse('f3').code).toBe('not_found')
  session.take(decidePull(session.state, run(session)))
  expect(refuse('s1', 2).code).toBe('already_delivered')
  session.take(decideAck(session.state, run(session), ['s1'], session.context()))
  expect(refuse('s1', 2).code).toBe('already_delivered')
})

test('Q6 a removed entry is given back as it was', () => {
  const session = busy()
  const removed = entry(session, 's1')
  expect(session.do('queue.remove', named('s1'))).toEqual({ queueRevision: 6, entry: removed })
  expect(session.queued).toEqual(['f1', 'f2', 's2', 'f3'])
})

test.each([
  [{ before: 'f1' }, 'f3', ['f3', 'f1', 'f2']],
  [{ after: 'f1' }, 'f3', ['f1', 'f3', 'f2']],
  [{ after: 'f3' }, 'f1', ['f2', 'f3', 'f1']],
  [{ before: 'f3' }, 'f1', ['f2', 'f1', 'f3']],
  [{ after: 'f1' }, 'f2', ['f1', 'f2', 'f3']],
])('Q6 a move %j of %s gives %j', (place, id, order) => {
  const session = busy()
  const result = session.do('queue.move', { ...named(id), ...place } as never)
  expect(result).toMatchObject({ queueRevision: 6, entry: { entryId: id, revision: 2 } })
  expect(session.queued.filter(entryId => entryId.startsWith('f'))).toEqual(order)
})

test('Q6 an entry moves among the others of its placement only, and not beside itself', () => {
  const session = busy()
  const move = (place: object) => session.refusal('queue.move', { ...named('f1'), ...place } as never)
  expect(move({ before: 's1' }).code).toBe('operation_conflict')
  expect(move({ before: 'f1' }).code).toBe('operation_conflict')
  expect(move({ after: 'nobody' })).toMatchObject({ code: 'not_found', detail: { entryId: 'nobody' } })
})

test('Q6 Q10 any number of moves keeps the order unambiguous', () => {
  const session = busy()
  for (let i = 0; i < 200; i++) {
    const id = ['f1', 'f2', 'f3'][i % 3] as string
    const other = ['f2', 'f3', 'f1'][i % 3] as string
    session.do('queue.move', { ...named(id, entry(session, id).revision), before: other } as never)
  }
  const orders = session.state.queue.map(record => record.order)
  expect(orders).toEqual([...new Set(orders)].sort((a, b) => a - b))
  expect(session.state.queueRevision).toBe(205)
})

test('Q6 a promoted follow-up goes behind the steers; a steer stays what it is', () => {
  const session = busy()
  const decision = session.decide('queue.promote', named('f1'))
  expect(accept(decision).effects).toEqual([{ kind: 'wake_steering' }])
  expect(session.take(decision)).toMatchObject({ entry: { placement: 'current_turn', revision: 2 } })
  expect(session.queued).toEqual(['s1', 'f2', 's2', 'f3', 'f1'])
  expect(typesOf(session.decide('queue.promote', named('s1')))).toEqual([])
})

test('Q5 a pull takes the queued steers under a lease; ack delivers them, nack puts them back at the head', () => {
  const session = busy()
  const pulled = session.take(decidePull(session.state, run(session))) as QueueEntry[]
  expect(pulled.map(e => e.entryId)).toEqual(['s1', 's2'])
  expect(entry(session, 's1')).toMatchObject({ state: 'in_flight', revision: 2 })
  expect(accept(decidePull(session.state, run(session))).events).toEqual([])
  session.submit('s3', 'current_turn')
  session.take(decideNack(session.state, run(session), ['s2', 'nobody', 'f1']))
  expect(session.queued).toEqual(['s2', 'f1', 's1', 'f2', 'f3', 's3'])
  expect(entry(session, 's2').state).toBe('queued')
  const meta = { blockId: 'b1', kind: 'assistant', messageId: 'a', offset: 0, ...run(session), startedAt: 1 } as const
  const context = session.context({ openBlocks: [{ meta, text: 'so far' }] })
  const ack = decideAck(session.state, run(session), ['s1'], context)
  expect(typesOf(ack)).toEqual(['text_sealed', 'steering_delivered'])
  session.take(ack)
  expect(session.state.transcript.slice(-2).map(({ entry: e }) => [e.kind, e.id])).toEqual([
    ['assistant', 'b1'],
    ['user', 's1'],
  ])
  expect(session.state.transcript.at(-1)?.entry).toMatchObject({ isSteering: true, submittedBy: BOB })
  expect(typesOf(decideAck(session.state, run(session), ['s1'], context))).toEqual([])
  expect(typesOf(decideNack(session.state, run(session), ['s1']))).toEqual([])
})

test('Q8 a retract takes all that is not in flight, in order, parked ones too', () => {
  const session = busy()
  session.take(decidePull(session.state, run(session)))
  session.take(decideNack(session.state, run(session), ['s2']))
  session.apply([{ type: 'queue_entries_parked', payload: { entryIds: ['f1'], reason: 'turn_stopped' } }])
  const result = session.do('queue.retract', { retractId: 'r' }) as { retracted: QueueEntry[] }
  expect(result.retracted.map(e => [e.entryId, e.state])).toEqual([
    ['s2', 'queued'],
    ['f1', 'parked'],
    ['f2', 'queued'],
    ['f3', 'queued'],
  ])
  expect(session.queued).toEqual(['s1'])
  const { queueRevision } = session.state
  expect(session.do('queue.retract', { retractId: 'r2' })).toEqual({ queueRevision, retracted: [] })
})

test('Q9 parked entries are passed over and editable; resume frees all in order', () => {
  const session = busy()
  session.do('turn.stop', run(session))
  expect(session.state.queue.every(record => record.entry.state === 'parked')).toBe(true)
  session.submit('late', 'current_turn')
  expect(accept(decidePull(session.state, run(session))).result(session.state)).toMatchObject([{ entryId: 'late' }])
  session.do('queue.edit', { ...named('f1', 2), content: { text: 'edited' } })
  expect(session.state.queue[0]).toMatchObject({ entry: { state: 'parked' }, parked: { reason: 'turn_stopped' } })
  const cancelled = { kind: 'cancelled', abortSource: 'user_stop' } as const
  const context = { ...session.context(), isDraining: false }
  session.take(decideEnd(session.state, run(session), cancelled, context))
  expect(session.handOn()).toBe(false)
  const resume = session.decide('queue.resume', {})
  expect(accept(resume).effects).toEqual([{ kind: 'hand_on' }])
  session.take(resume)
  expect(session.state.queue.map(record => [record.entry.state, record.parked])).toEqual(
    session.queued.map(() => ['queued', undefined]),
  )
  expect(session.handOn()).toBe(true)
  expect(session.admission.sourceMessages.map(m => m.messageId)).toEqual(['s1', 's2', 'late', 'f1', 'f2', 'f3'])
})

test('Q9 a new turn frees nothing; a resume while it runs waits for the next hand-off, but wakes steers', () => {
  const session = busy()
  session.do('turn.stop', run(session))
  const cancelled = { kind: 'cancelled', abortSource: 'user_stop' } as const
  session.take(decideEnd(session.state, run(session), cancelled, { ...session.context(), isDraining: false }))
  session.start('t2')
  expect(session.state.queue.every(record => record.entry.state === 'parked')).toBe(true)
  const resume = session.decide('queue.resume', {})
  expect(accept(resume).effects).toEqual([{ kind: 'wake_steering' }])
  session.take(resume)
  expect(typesOf(session.decide('queue.resume', {}))).toEqual([])
})
