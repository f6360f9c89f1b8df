import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fold } from '../../leader/domain/evolve/fold.ts'
import { initialState, type SessionState } from '../../leader/domain/state.ts'
import { InteractionSnapshot } from '../../schema/entities/interaction.ts'
import { QueueEntry } from '../../schema/entities/queue.ts'
import { SessionHeader } from '../../schema/entities/session.ts'
import { Task } from '../../schema/entities/task.ts'
import { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { Admission, isTerminal, Run, TurnSnapshot } from '../../schema/entities/turn.ts'
import type { LedgerRecord } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import { type CommandStep, CommandWalk, commandSteps } from '../support/domain/command-walk.ts'
import { assertProperty } from '../support/property.ts'

/** Folds whole records, as reading a ledger does. */
function foldRecords(records: readonly LedgerRecord[]): { state: SessionState; sealed: TranscriptEntry[] } {
  let state = initialState('session-1')
  const sealed: TranscriptEntry[] = []
  for (const record of records) {
    const folded = fold(state, record.events, record)
    state = folded.state
    sealed.push(...folded.sealed)
  }
  return { state, sealed }
}

/** Asserts a law for every transition of any walk. */
function always(law: (walk: CommandWalk, before: SessionState, step: CommandStep) => void, runs = 120): void {
  assertProperty(
    fc.property(commandSteps, steps => {
      const walk = new CommandWalk()
      for (const step of steps) {
        const before = walk.session.state
        walk.step(step)
        law(walk, before, step)
      }
    }),
    runs,
  )
}

test('A8 folding the ledger from the start gives the state that grew step by step, and the same sealed entries', () => {
  assertProperty(
    fc.property(commandSteps, steps => {
      const walk = new CommandWalk()
      for (const step of steps) walk.step(step)
      const { state, sealed } = walk.session
      const folded = foldRecords(walk.session.records)
      expect(folded.state).toEqual(state)
      expect(folded.sealed).toEqual(sealed)
      expect(foldRecords(walk.session.records)).toEqual(folded)
    }),
    200,
  )
})

test('A3 a refusal and an acceptance without events change nothing at all', () => {
  always((walk, before) => {
    const isSame = walk.session.state.revision === before.revision
    expect(walk.session.state === before).toBe(isSame)
  })
})

test('A8 what is stored always fits its schema, in every state a walk reaches', () => {
  always(walk => {
    const { header, root, queue, interactions, tasks, transcript } = walk.session.state
    SessionHeader.parse(header)
    if (root !== null) {
      Admission.parse(root.admission)
      TurnSnapshot.parse(root.snapshot)
      for (const run of root.runs) Run.parse(run)
    }
    for (const { entry } of queue) QueueEntry.parse(entry)
    for (const task of tasks.items) Task.parse(task)
    for (const { snapshot } of interactions) InteractionSnapshot.parse(snapshot)
    for (const { entry } of transcript) TranscriptEntry.parse(entry)
    expect(walk.session.transitions.length).toBe(walk.session.state.revision)
  }, 60)
})

test('Q10 the queue’s revision grows by one with each change of the queue, and never falls', () => {
  always((walk, before) => {
    const { queue, queueRevision } = walk.session.state
    const isChanged = JSON.stringify(queue) !== JSON.stringify(before.queue)
    const steps = walk.session.state.revision - before.revision
    expect(queueRevision - before.queueRevision).toBe(steps === 0 ? 0 : isChanged ? 1 : 0)
  })
})

test('S7 lastActivityAt never goes back, and moves only with people and with turns', () => {
  always((walk, before) => {
    const { header } = walk.session.state
    const moved = (header?.lastActivityAt ?? 0) - (before.header?.lastActivityAt ?? 0)
    expect(moved).toBeGreaterThanOrEqual(0)
    const last = walk.session.transitions.at(-1)
    const isPerson = typeof last?.meta.actor === 'object'
    const isTurn = last?.events.some(e => e.type === 'turn_admitted' || e.type === 'turn_settled')
    if (moved > 0) expect(isPerson || isTurn).toBe(true)
  })
})

test('S7 lastActivityAt does not follow a clock that goes back', () => {
  const walk = new CommandWalk()
  const { session } = walk
  const before = session.state.header?.lastActivityAt
  session.at -= 5_000
  session.start('t1')
  expect(session.state.header?.lastActivityAt).toBe(before)
})

test('I3 the status of turn, run and header agree, and wait exactly while something is pending', () => {
  always(walk => {
    const { header, root, interactions } = walk.session.state
    const turn = root?.snapshot.status ?? 'completed'
    const isWaiting = interactions.length > 0
    if (isTerminal(turn)) {
      expect(header?.status).toBe('idle')
      expect(isWaiting).toBe(false)
    } else {
      expect(turn === 'waiting_for_user').toBe(isWaiting)
      expect(header?.status).toBe(isWaiting ? 'waiting_for_user' : 'running')
      if (turn !== 'admitted') expect(root?.runs[0]?.status).toBe(turn)
    }
  })
})

test('T11 a turn that ended has exactly one terminal event, named by its snapshot; T9 nothing of it comes later', () => {
  always(walk => {
    for (const turn of walk.session.turns) {
      expect(turn.terminalEvents.length).toBe(turn.settledBy === null ? 0 : 1)
      if (turn.settledBy !== null) {
        expect(turn.terminalEvents[0]?.eventId).toBe(turn.settledBy)
        expect(turn.events.at(-1)?.type).toBe('turn_settled')
      }
      expect(turn.userMessages.length).toBe(turn.runs.length)
    }
  }, 60)
})

test('A6 every accepted message ends where it can be seen: waiting, delivered, handed on or taken back', () => {
  always(walk => {
    const { session } = walk
    const events = session.transitions.flatMap(t => t.events)
    const accepted = events.flatMap(e => (e.type === 'queue_entry_added' ? [e.payload.messageId] : []))
    const gone = events.flatMap(e => {
      if (e.type === 'steering_delivered' || e.type === 'queue_entry_removed') return [e.payload.entryId]
      return e.type === 'queue_retracted' || e.type === 'queue_handed_on' ? [...e.payload.entryIds] : []
    })
    expect([...gone, ...session.queued].sort()).toEqual([...accepted].sort())
    const handedOn = events.flatMap(e => (e.type === 'queue_handed_on' ? [...e.payload.entryIds] : []))
    const sources = session.turns.flatMap(t => t.admission?.sourceMessages.map(m => m.messageId) ?? [])
    expect(sources).toEqual(expect.arrayContaining(handedOn))
  }, 60)
})

test('L2 L3 the transcript has every seq once, sealed or live, within the bounds of the live part', () => {
  always(walk => {
    const { state, sealed } = walk.session
    const seqs = [...sealed, ...state.transcript.map(l => l.entry)].map(entry => entry.seq)
    expect(seqs).toEqual(Array.from({ length: state.nextSeq - 1 }, (_, i) => i + 1))
    expect(state.transcript.length).toBeLessThanOrEqual(LIMITS.liveTranscriptEntries)
    const bytes = state.transcript.reduce((sum, l) => sum + l.bytes, 0)
    expect(bytes <= LIMITS.liveTranscriptBytes || state.transcript.length === 1).toBe(true)
  }, 60)
})

test('Q7 C1 every admission a walk makes could have been sent', () => {
  always(walk => {
    for (const { admission } of walk.session.turns) Admission.parse(admission)
    const chain = walk.session.turns.map(turn => turn.admission)
    expect(chain.map(a => a?.previousRootTurnId)).toEqual([null, ...chain.map(a => a?.turnId)].slice(0, chain.length))
  }, 60)
})

const unknownEvent = fc.record({
  type: fc.string().map(name => `later_${name}`),
  payload: fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<unknown>),
})

test('A8 events of a later build change nothing but position and time', () => {
  assertProperty(
    fc.property(commandSteps, fc.array(unknownEvent, { minLength: 1, maxLength: 3 }), (steps, events) => {
      const walk = new CommandWalk()
      for (const step of steps.slice(0, 20)) walk.step(step)
      const before = walk.session.state
      const meta = { revision: before.revision + 1, at: before.at + 1, actor: 'run', epochNumber: 9 } as const
      const { state, sealed } = fold(before, events, meta)
      expect(state).toEqual({ ...before, revision: meta.revision, at: meta.at })
      expect(sealed).toEqual([])
      for (const key of ['header', 'root', 'queue', 'interactions', 'transcript', 'plan'] as const) {
        expect(state[key]).toBe(before[key])
      }
    }),
    200,
  )
})

test('A8 facts about a turn that is not the newest leave the newest alone', () => {
  const walk = new CommandWalk()
  const { session } = walk
  const old = session.start('t1')
  session.apply([
    { type: 'run_completed', payload: { ...old, eventId: 'e3-0' } },
    { type: 'turn_settled', payload: { ...old, terminalEventId: 'e3-0' } },
  ])
  session.start('t2')
  const { root } = session.state
  session.apply([
    { type: 'run_started', payload: old },
    { type: 'run_failed', payload: { ...old, eventId: 'e9-0', failureClass: 'late' } },
    { type: 'turn_settled', payload: { ...old, terminalEventId: 'e9-0' } },
  ])
  expect(session.state.root).toBe(root)
})
