import type { InteractionOutcome, InteractionSnapshot } from '../../schema/entities/interaction.ts'
import type { PlanExecution } from '../../schema/entities/plan.ts'
import type { ClientActor } from '../../schema/entities/primitives.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { Admission } from '../../schema/entities/turn.ts'
import type { WireErrorCode } from '../../schema/errors.ts'
import type { DomainEvent } from '../../schema/events.ts'
import type { OpenBlock, SessionState } from './state.ts'

/** All that a decision may know beside the state; made by the session loop, never by the domain. */
export interface DecideContext {
  /** The leader's clock. Unit: ms. */
  readonly at: number
  /** Random ids nobody has used, for entities the leader names. */
  readonly freshTurnId: string
  readonly freshRunId: string
  /** A random id for a proposal, an execution or a task. */
  readonly freshItemId: string
  readonly actor: ClientActor | null
  /** Open text blocks with the text they hold; whatever is appended to the transcript closes them first. */
  readonly openBlocks: readonly { readonly meta: OpenBlock; readonly text: string }[]
  /** What became of the queue entry the command names, if it left the queue. Source: Q6. */
  readonly entryFate?: 'delivered' | 'removed'
  /** The settled interaction the command names. Source: I4. */
  readonly settledInteraction?: InteractionSnapshot
  /** The plan execution the command names, where it is not the newest one. Source: P7, P8. */
  readonly namedExecution?: PlanExecution
  /** A linked child of the session, or a child of one, whose turn runs. Source: S5. */
  readonly busyChild?: string
  /** What the source of a fork holds. Source: S6. */
  readonly forkSource?: ForkSource
  /** The admission of the turn the command names, where that is not the newest root turn: it has ended long ago. */
  readonly olderTurn?: Admission
  /** The admission of the turn that is to be done again, where that is not the newest root turn. Source: T10. */
  readonly sourceTurn?: Admission
  /** What making the ledger shorter came to, once it was done for this command. Source: L6. */
  readonly compacted?: CompactedBytes
  /** True while the last root turn is terminal but its backend still cleans up. Source: T7. */
  readonly isCleaningUp: boolean
  /** Backends that can be chosen. */
  readonly backends: ReadonlySet<string>
}

/** The session a fork is made from, as it is durable; `isTerminal` is about the named turn. Source: S6. */
export interface ForkSource {
  readonly header: SessionHeader
  readonly turn: {
    readonly isTerminal: boolean
    readonly throughSeq: number
    readonly tail: readonly TranscriptEntry[]
  } | null
}

/** What has to happen once a transition is durable. */
export type Effect =
  /** The admitted turn may start its run, as soon as a place is free. Source: T1, E9. */
  | { readonly kind: 'start_turn'; readonly turnId: string }
  /** Deliver a stop to the run. Source: T8. */
  | { readonly kind: 'stop_run'; readonly turnId: string; readonly runId: string; readonly abortSource: string }
  /** Wake whoever waits for this interaction. Source: I2. */
  | { readonly kind: 'settle'; readonly interactionId: string; readonly outcome: InteractionOutcome }
  /** Queued entries may become the successor turn. Source: Q7. */
  | { readonly kind: 'hand_on' }
  /** The time of a hold begins anew. Source: Q6. */
  | { readonly kind: 'renew_hold'; readonly entryId: string }
  /** A steer waits for the run. Source: Q5. */
  | { readonly kind: 'wake_steering' }

/**
 * When a reply may be made. `children_deleted`: the linked children of a deleted session have gone too. `turn_started`: the run is durable, or
 * the turn waits for a place; `turn_ended`: its terminal event is durable.
 */
export type ReplyWhen =
  | 'durable'
  | 'children_deleted'
  | { readonly turnStarted: string }
  | { readonly turnEnded: string }

/** Why a command is not done; nothing of it is stored. `detail` is what the client needs to go on. Source: A3, W5. */
export interface Refusal {
  readonly kind: 'refuse'
  readonly code: WireErrorCode
  readonly message?: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/**
 * Events of one transition (none: nothing changes, only the receipt is stored).
 * `result` is made from the state after them; a TurnSnapshot in it is not stored but read when the reply is made: `turn` names it
 * and where it goes (`turn`: the result's key `turn`, `self`: the result itself). Source: A5.
 */
export interface Acceptance {
  readonly kind: 'accept'
  readonly events: readonly DomainEvent[]
  readonly result: (next: SessionState) => unknown
  readonly turn?: { readonly turnId: string; readonly as: 'turn' | 'self' }
  readonly when?: ReplyWhen
  readonly effects?: readonly Effect[]
}

/**
 * `wait_for_cleanup`: decide again when the ended run has cleaned up. `wait_for_compaction`: decide again when the ledger before a revision
 * (null: before the newest settled turn) is compacted. Source: T7, L6.
 */
export type Decision =
  | Refusal
  | Acceptance
  | { readonly kind: 'wait_for_cleanup' }
  | { readonly kind: 'wait_for_compaction'; readonly before: number | null }

/** The bytes of a session's ledger before and after it was made shorter. */
export interface CompactedBytes {
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** A refusal; without a message the one of the error table. */
export function refuse(code: WireErrorCode, message?: string, detail?: Readonly<Record<string, unknown>>): Refusal {
  return {
    kind: 'refuse',
    code,
    ...(message === undefined ? {} : { message }),
    ...(detail === undefined ? {} : { detail }),
  }
}

/** An event, typed by its name. */
export function event<T extends DomainEvent['type']>(
  type: T,
  payload: Extract<DomainEvent, { type: T }>['payload'],
): DomainEvent {
  return { type, payload } as DomainEvent
}

/** The events that close the open text blocks: first in every transition that adds to the transcript. Source: L4. */
export function sealBlocks(context: Pick<DecideContext, 'openBlocks'>): DomainEvent[] {
  return context.openBlocks.map(({ meta, text }) => {
    const { blockId, kind, messageId, offset, turnId, runId, startedAt } = meta
    return event('text_sealed', { turnId, runId, blockId, kind, messageId, offset, text, startedAt })
  })
}
