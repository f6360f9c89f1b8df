import { expect, test } from 'vitest'
import { decideHoldEnd, releaseAll } from '../../leader/domain/decide/hold.ts'
import { decideEnd, decidePull } from '../../leader/domain/decide/run.ts'
import { recover } from '../../leader/domain/recover.ts'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import { ADA, accept, BOB, DomainSession, typesOf } from '../support/domain/domain-session.ts'

/** A session whose turn runs, with the steers s1 s2 and the follow-ups f1 f2. */
function busy(): DomainSession {
  const session = new DomainSession().create()
  session.start('t1')
  for (const id of ['s1', 's2']) session.submit(id, 'current_turn')
  for (const id of ['f1', 'f2']) session.submit(id, 'next_turn')
  return session
}

const entry = (session: DomainSession, id: string): QueueEntry =>
  session.state.queue.find(record => record.entry.entryId === id)?.entry as QueueEntry

const named = (entryId: string, expectedEntryRevision = 1) => ({ entryId, expectedEntryRevision })

function end(session: DomainSession): void {
  const { turnId, runId } = session.admission
  const context = { ...session.context(), isDraining: false }
  session.take(decideEnd(session.state, { turnId, runId }, { kind: 'completed' }, context))
}

test('Q6 a held entry shows its holder and keeps its revision; pulls and hand-offs pass over it alone', () => {
  const session = busy()
  const before = session.state.queueRevision
  expect(session.do('queue.hold', named('s1'))).toEqual({
    queueRevision: before + 1,
    entry: { ...entry(session, 's1'), heldBy: ADA, revision: 1 },
  })
  session.do('queue.hold', named('f1'), { actor: BOB })
  const pulled = accept(decidePull(session.state, session.admission))
  expect((pulled.result(session.state) as QueueEntry[]).map(e => e.entryId)).toEqual(['s2'])
  end(session)
  expect(session.handOn()).toBe(true)
  expect(session.queued).toEqual(['s1', 'f1'])
  expect(session.admission.sourceMessages.map(m => m.messageId)).toEqual(['s2', 'f2'])
})

test('Q6 holding again is a renewal: no transition', () => {
  const session = busy()
  session.do('queue.hold', named('f1'))
  expect(accept(session.decide('queue.hold', named('f1')))).toMatchObject({
    events: [],
    effects: [{ kind: 'renew_hold', entryId: 'f1' }],
  })
})

test('Q6 others cannot hold, edit, move or promote what is held, and learn who holds it; they can take it out', () => {
  const session = busy()
  session.do('queue.hold', named('f1'))
  const refusals = [
    session.refusal('queue.hold', named('f1'), { actor: BOB }),
    session.refusal('queue.hold', { ...named('f1'), release: true }, { actor: BOB }),
    session.refusal('queue.edit', { ...named('f1'), content: { text: 'x' } }, { actor: BOB }),
    session.refusal('queue.move', { ...named('f1'), after: 'f2' } as never, { actor: BOB }),
    session.refusal('queue.promote', named('f1'), { actor: BOB }),
  ]
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({ code: 'operation_conflict', detail: { heldBy: ADA, entry: { entryId: 'f1' } } })
  }
  session.do('queue.move', { ...named('f1'), after: 'f2' } as never)
  expect(entry(session, 'f1')).toMatchObject({ heldBy: ADA, revision: 2 })
  session.do('queue.remove', named('f1', 2), { actor: BOB })
  session.do('queue.hold', named('f2'))
  expect(session.do('queue.retract', { retractId: 'r' }, { actor: BOB })).toMatchObject({
    retracted: [{ entryId: 's1' }, { entryId: 's2' }, { entryId: 'f2', heldBy: ADA }],
  })
})

test('Q6 an edit or a release by the holder ends the hold', () => {
  const session = busy()
  session.do('queue.hold', named('f1'))
  const edit = accept(session.decide('queue.edit', { ...named('f1'), content: { text: 'new' } }))
  expect(typesOf(edit)).toEqual(['queue_entry_edited', 'queue_entry_released'])
  session.take(edit, ADA)
  const { heldBy, ...edited } = entry(session, 'f1')
  expect([heldBy, edited]).toMatchObject([undefined, { content: { text: 'new' }, revision: 2 }])
  session.do('queue.hold', named('f2'))
  session.do('queue.hold', { ...named('f2'), release: true })
  expect(entry(session, 'f2')).not.toHaveProperty('heldBy')
  expect(accept(session.decide('queue.hold', { ...named('f2'), release: true })).events).toEqual([])
})

test('Q6 a hold names an entry that waits, of the revision its client saw', () => {
  const session = busy()
  expect(session.refusal('queue.hold', named('nobody')).code).toBe('not_found')
  expect(session.refusal('queue.hold', named('f1', 7)).code).toBe('operation_conflict')
  session.take(decidePull(session.state, session.admission))
  expect(session.refusal('queue.hold', named('s1')).code).toBe('already_delivered')
})

test('Q6 Q7 a hold that ends lets go on what waited for it: the run takes the steer, an idle session hands on', () => {
  const session = busy()
  session.do('queue.hold', named('s1'))
  session.do('queue.hold', named('f1'))
  const release = (id: string) => accept(session.decide('queue.hold', { ...named(id), release: true })).effects
  expect(release('s1')).toEqual([{ kind: 'wake_steering' }])
  expect(release('f1')).toEqual([])
  end(session)
  session.handOn()
  session.startRun()
  end(session)
  expect(release('f1')).toEqual([{ kind: 'hand_on' }])
  const edit = { ...named('f1'), content: { text: 'x' } }
  expect(accept(session.decide('queue.edit', edit)).effects).toEqual([{ kind: 'hand_on' }])
  expect(accept(decideHoldEnd(session.state, 'f1', ADA.clientInstanceId))).toMatchObject({
    events: [{ type: 'queue_entry_released' }],
    effects: [{ kind: 'hand_on' }],
  })
  expect(accept(decideHoldEnd(session.state, 'f1', BOB.clientInstanceId)).events).toEqual([])
})

test('Q6 X10 X14 a restart and a drain end all holds, parked ones too', () => {
  const session = busy()
  session.do('queue.hold', named('f1'))
  session.do('turn.stop', session.admission)
  session.do('queue.hold', named('f2', 2))
  end(session)
  expect(releaseAll(session.state).map(e => e.payload)).toEqual([{ entryId: 'f1' }, { entryId: 'f2' }])
  const input = { state: session.state, turns: [], previousRootTurnId: 't1', context: session.context() }
  const recovered = recover(input)
  if (recovered.kind !== 'recovered') throw new Error('quarantined')
  expect(recovered).toMatchObject({ cases: ['X10'], resume: null })
  session.apply(recovered.events, 'leader')
  expect(session.state.queue.every(({ entry }) => entry.state === 'parked' && entry.heldBy === undefined)).toBe(true)
  expect(recover({ ...input, state: session.state })).toMatchObject({ kind: 'recovered', events: [] })
})
