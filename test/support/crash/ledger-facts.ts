import type { Admission } from '../../../schema/entities/turn.ts'
import { isTerminalEvent, type LedgerRecord } from '../../../schema/events.ts'

/** One admitted turn, as its ledger tells it. */
export interface TurnStory {
  readonly admission: Admission
  /** When its run started; more than one is a second execution. */
  readonly startedAt: number[]
  readonly terminals: string[]
  readonly userMessages: string[]
  /** Steers that reached it, in order. */
  readonly steers: string[]
  /** Streamed text, whole blocks only, by message id. */
  readonly texts: Map<string, string>
}

/** What a ledger says, read without any code of the leader. */
export interface LedgerFacts {
  readonly revision: number
  readonly turns: ReadonlyMap<string, TurnStory>
  /** Turn ids in order of admission. */
  readonly admitted: readonly string[]
  /** Message ids that went into an admission or reached a run; twice is a second execution. */
  readonly executed: readonly string[]
  readonly added: readonly string[]
  /** When an entry last became ready to run by itself: it was added, or un-parked. */
  readonly awakeAt: ReadonlyMap<string, number>
  /** Entry ids that left the queue, each with how. */
  readonly left: readonly { readonly entryId: string; readonly how: string }[]
  /** Interaction ids that were settled; twice is a second answer. */
  readonly settled: readonly string[]
}

type Payload = Readonly<Record<string, unknown>>

/** Reads a whole ledger. */
export function readFacts(records: readonly LedgerRecord[]): LedgerFacts {
  const reading = new Reading()
  for (const record of records) for (const { type, payload } of record.events) reading.take(type, payload, record.at)
  return { ...reading.facts, revision: records.at(-1)?.revision ?? 0 }
}

const LEAVES: Readonly<Record<string, string>> = {
  steering_delivered: 'delivered',
  queue_entry_removed: 'removed',
  queue_retracted: 'retracted',
  queue_handed_on: 'handed on',
}

class Reading {
  readonly facts = {
    turns: new Map<string, TurnStory>(),
    admitted: [] as string[],
    executed: [] as string[],
    added: [] as string[],
    awakeAt: new Map<string, number>(),
    left: [] as { entryId: string; how: string }[],
    settled: [] as string[],
  }

  take(type: string, payload: Payload, at: number): void {
    const { facts } = this
    const how = LEAVES[type]
    if (how !== undefined) {
      const ids = (payload.entryIds as string[] | undefined) ?? [payload.entryId as string]
      facts.left.push(...ids.map(entryId => ({ entryId, how })))
    }
    if (type === 'queue_entry_added') facts.added.push(payload.entryId as string)
    if (type === 'queue_entry_added') facts.awakeAt.set(payload.entryId as string, at)
    if (type === 'queue_resumed') for (const id of payload.entryIds as string[]) facts.awakeAt.set(id, at)
    if (type === 'interaction_answered' || type === 'interaction_closed') {
      facts.settled.push(payload.interactionId as string)
    }
    if (type === 'turn_admitted') this.#admit(payload.admission as Admission)
    else this.#takeOfTurn(type, payload, at)
  }

  #admit(admission: Admission): void {
    const { facts } = this
    facts.admitted.push(admission.turnId)
    facts.executed.push(...admission.sourceMessages.map(source => source.messageId))
    facts.turns.set(admission.turnId, {
      admission,
      startedAt: [],
      terminals: [],
      userMessages: [],
      steers: [],
      texts: new Map(),
    })
  }

  #takeOfTurn(type: string, payload: Payload, at: number): void {
    const turn = this.facts.turns.get(payload.turnId as string)
    if (turn === undefined) return
    if (type === 'run_started') turn.startedAt.push(at)
    if (isTerminalEvent(type)) turn.terminals.push(type)
    if (type === 'user_message_appended') turn.userMessages.push(payload.messageId as string)
    if (type === 'steering_delivered') {
      this.facts.executed.push(payload.messageId as string)
      turn.steers.push((payload.content as { text: string }).text)
    }
    if (type === 'text_sealed') {
      const messageId = payload.messageId as string
      const known = turn.texts.get(messageId) ?? ''
      turn.texts.set(messageId, known.slice(0, payload.offset as number) + (payload.text as string))
    }
  }
}

/** Values that occur more than once. */
export function repeated(values: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return values.filter(value => seen.size === seen.add(value).size)
}
