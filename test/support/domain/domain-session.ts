import { handOn } from '../../../leader/domain/decide/admission.ts'
import { type ClientCommand, decide } from '../../../leader/domain/decide/command.ts'
import { decideRunStart } from '../../../leader/domain/decide/run.ts'
import type { Acceptance, DecideContext, Decision, Refusal } from '../../../leader/domain/decision.ts'
import { type Folded, fold } from '../../../leader/domain/evolve/fold.ts'
import { settledSnapshot } from '../../../leader/domain/evolve/interaction.ts'
import type { TransitionMeta } from '../../../leader/domain/evolve/meta.ts'
import { collectTurnFacts, type TurnFacts } from '../../../leader/domain/facts.ts'
import { initialState, type SessionState } from '../../../leader/domain/state.ts'
import type { CommandName, Input } from '../../../schema/commands/index.ts'
import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { Actor, ClientActor } from '../../../schema/entities/primitives.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { Admission } from '../../../schema/entities/turn.ts'
import type { DomainEvent, LedgerRecord } from '../../../schema/events.ts'

/** Two people at two windows. */
export const ADA: ClientActor = { surface: 'desktop', clientInstanceId: 'ada-1' }
/** The second of them. */
export const BOB: ClientActor = { surface: 'tui', clientInstanceId: 'bob-1' }

/** A command's input without the session, which is always the same here. */
export type InputOf<Op extends CommandName> = Omit<Input<Op>, 'sessionId'>

/** One transition as it was folded. */
export interface Transition {
  readonly meta: TransitionMeta
  readonly events: readonly DomainEvent[]
}

/**
 * A session of the pure domain: decisions are folded at once, nothing is stored and nothing runs. Ids that the leader would draw are
 * `turn-N` and `run-N`. Look-ups (older turns, fates of entries, settled interactions) are answered from what was folded.
 */
export class DomainSession {
  readonly sessionId = 'session-1'
  state: SessionState = initialState('session-1')
  readonly transitions: Transition[] = []
  readonly sealed: TranscriptEntry[] = []
  /** The leader's clock; a transition takes 10 ms. */
  at = 1_000
  readonly #admissions = new Map<string, Admission>()
  readonly #fates = new Map<string, 'delivered' | 'removed'>()
  readonly #settled = new Map<string, InteractionSnapshot>()
  #serial = 0

  context(changes: Partial<DecideContext> = {}): DecideContext {
    this.#serial += 1
    return {
      at: this.at,
      freshTurnId: `turn-${this.#serial}`,
      freshRunId: `run-${this.#serial}`,
      freshItemId: `item-${this.#serial}`,
      actor: ADA,
      openBlocks: [],
      isCleaningUp: false,
      backends: new Set(['scripted']),
      ...changes,
    }
  }

  /** What a command would do now. */
  decide<Op extends CommandName>(operation: Op, input: InputOf<Op>, changes: Partial<DecideContext> = {}): Decision {
    const whole = { sessionId: this.sessionId, ...input } as unknown as Record<string, string>
    const olderTurn = this.#admissions.get(whole.turnId ?? '')
    const entryFate = this.#fates.get(whole.entryId ?? '')
    const settledInteraction = this.#settled.get(whole.interactionId ?? '')
    const context = this.context({
      ...(olderTurn === undefined ? {} : { olderTurn }),
      ...(entryFate === undefined ? {} : { entryFate }),
      ...(settledInteraction === undefined ? {} : { settledInteraction }),
      ...changes,
    })
    return decide(this.state, { operation, input: whole } as unknown as ClientCommand, context)
  }

  /** The refusal of a command; throws if it would be accepted. */
  refusal<Op extends CommandName>(operation: Op, input: InputOf<Op>, changes: Partial<DecideContext> = {}): Refusal {
    const decision = this.decide(operation, input, changes)
    if (decision.kind !== 'refuse') throw new Error(`${operation} was not refused: ${JSON.stringify(decision)}`)
    return decision
  }

  /** Does a command and gives its result. */
  do<Op extends CommandName>(operation: Op, input: InputOf<Op>, changes: Partial<DecideContext> = {}): unknown {
    return this.take(this.decide(operation, input, changes), changes.actor ?? ADA)
  }

  /** Folds an accepted decision and gives its result. */
  take(decision: Decision, actor: Actor = 'run'): unknown {
    const accepted = accept(decision)
    this.apply(accepted.events, actor)
    return accepted.result(this.state)
  }

  /** Folds events as one transition; none: nothing happens. */
  apply(events: readonly DomainEvent[], actor: Actor = 'run'): void {
    if (events.length === 0) return
    const meta = { revision: this.state.revision + 1, at: this.at, actor, epochNumber: 1 }
    this.#note(events)
    const folded: Folded = fold(this.state, events, meta)
    this.state = folded.state
    this.sealed.push(...folded.sealed)
    this.transitions.push({ meta, events })
    this.at += 10
  }

  create(changes: Partial<InputOf<'session.create'>> = {}): this {
    this.do('session.create', { cwd: '/srv/ada', backend: 'scripted', ...changes })
    return this
  }

  /** Admits a turn and starts its run. */
  start(turnId: string, text = 'hello'): { turnId: string; runId: string } {
    this.do('turn.start', { turnId, content: { text } })
    return this.startRun()
  }

  /** Starts the run of the admitted turn. */
  startRun(): { turnId: string; runId: string } {
    const { turnId, runId } = this.admission
    this.take(decideRunStart(this.state, turnId, this.context()), 'leader')
    return { turnId, runId }
  }

  /** Puts a message into the queue (or starts a turn with it, when idle). */
  submit(messageId: string, placement: 'current_turn' | 'next_turn', text = messageId, actor = ADA): unknown {
    return this.do(
      'turn.message.submit',
      { originHostEpoch: 'epoch', messageId, content: { text }, placement },
      { actor },
    )
  }

  /** What the hand-off does now; false if nothing may go. */
  handOn(): boolean {
    const events = handOn(this.state, this.context())
    this.apply(events ?? [], 'leader')
    return events !== null
  }

  get admission(): Admission {
    if (this.state.root === null) throw new Error('there is no turn')
    return this.state.root.admission
  }

  /** Ids of the waiting entries, in order of delivery. */
  get queued(): readonly string[] {
    return this.state.queue.map(record => record.entry.entryId)
  }

  /** The transitions as ledger records; hashes are left out. */
  get records(): readonly LedgerRecord[] {
    return this.transitions.map(({ meta, events }) => {
      const plain = JSON.parse(JSON.stringify(events)) as LedgerRecord['events']
      return { ...meta, events: plain, prevHash: '', hash: '' }
    })
  }

  /** What the ledger says of the turns. */
  get turns(): readonly TurnFacts[] {
    return collectTurnFacts(this.sessionId, this.records)
  }

  #note(events: readonly DomainEvent[]): void {
    for (const { type, payload } of events) {
      if (type === 'turn_admitted') this.#admissions.set(payload.admission.turnId, payload.admission)
      else if (type === 'steering_delivered') this.#fates.set(payload.entryId, 'delivered')
      else if (type === 'queue_entry_removed') this.#fates.set(payload.entryId, 'removed')
      else if (type === 'queue_handed_on') for (const id of payload.entryIds) this.#fates.set(id, 'delivered')
      else if (type === 'queue_retracted') for (const id of payload.entryIds) this.#fates.set(id, 'removed')
      else if (type === 'interaction_answered') this.#settle(payload.interactionId, payload.outcome)
      else if (type === 'interaction_closed') {
        this.#settle(payload.interactionId, { kind: 'closure', reason: payload.reason, at: this.at })
      }
    }
  }

  #settle(interactionId: string, outcome: NonNullable<InteractionSnapshot['outcome']>): void {
    const pending = this.state.interactions.find(r => r.snapshot.interactionId === interactionId)?.snapshot
    if (pending !== undefined) this.#settled.set(interactionId, settledSnapshot(pending, outcome))
  }
}

/** The decision, if it is an acceptance. */
export function accept(decision: Decision): Acceptance {
  if (decision.kind !== 'accept') throw new Error(`not accepted: ${JSON.stringify(decision)}`)
  return decision
}

/** The types of a decision's events, in order. */
export function typesOf(decision: Decision): readonly string[] {
  return accept(decision).events.map(event => event.type)
}
