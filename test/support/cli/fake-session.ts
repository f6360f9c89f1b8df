import type { SubscriptionFrame } from '../../../replica/client/types.ts'
import type {
  InteractionOutcome,
  InteractionRequest,
  InteractionSnapshot,
} from '../../../schema/entities/interaction.ts'
import { EMPTY_TASKS_REVISION, type SessionProjection } from '../../../schema/entities/projection.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import type { DomainEvent, LedgerRecord } from '../../../schema/events.ts'
import { GENESIS_HASH } from '../../../schema/ids.ts'

/** Entries the live transcript of a fake session keeps; small, so that tests meet the pages. */
const LIVE_ENTRIES = 4

/** What changes with a step: the events of its record and the new parts of the projection. */
interface Step {
  readonly events: readonly DomainEvent[]
  readonly change?: Partial<SessionProjection>
  readonly entries?: readonly TranscriptEntry[]
}

type Running = Extract<TurnSnapshot, { status: 'running' | 'admitted' | 'waiting_for_user' }>

/** A session as a leader would keep it, driven by hand: one step, one record, one frame. */
export class FakeSession {
  readonly records: LedgerRecord[] = []
  readonly entries: TranscriptEntry[] = []
  readonly turns = new Map<string, TurnSnapshot>()
  readonly frameListeners = new Set<(frame: SubscriptionFrame) => void>()
  projection: SessionProjection

  constructor(session: SessionHeader) {
    this.projection = {
      session,
      hostEpoch: 'epoch-1',
      generation: 'generation-1',
      revision: 0,
      projectionRevision: 1,
      rootTurn: null,
      queue: { hostEpoch: 'epoch-1', queueRevision: 0, steering: [], followup: [], parked: null },
      interactions: { pending: [] },
      plan: { storeVersion: 0, latestProposal: null, activeExecution: null, lastExecution: null, agentPlan: null },
      tasks: { revision: EMPTY_TASKS_REVISION, items: [] },
      transcript: { entries: [], firstSeq: 0, lastSeq: 0, hasMore: false },
      presence: [],
      presenceCount: 0,
    }
    this.step({ events: [{ type: 'session_created', payload: { header: session } }] })
  }

  get id(): string {
    return this.projection.session.sessionId
  }

  get turn(): TurnSnapshot {
    const { rootTurn } = this.projection
    if (rootTurn === null) throw new Error('the fake session has no turn')
    return rootTurn
  }

  /** One transition. */
  step({ events, change = {}, entries = [] }: Step): void {
    const revision = this.projection.revision + 1
    this.records.push({
      revision,
      epochNumber: 1,
      at: 1_700_000_000_000 + revision,
      actor: 'run',
      events: events as LedgerRecord['events'],
      prevHash: GENESIS_HASH,
      hash: GENESIS_HASH,
    })
    if (entries.length > 0) this.#seal()
    this.entries.push(...entries)
    this.#show({ ...change, revision })
  }

  start(turnId: string, text: string): Running {
    const turn: Running = { sessionId: this.id, turnId, runId: `run-${turnId}`, status: 'running' }
    const of = { turnId, runId: turn.runId }
    const message = { messageId: `m-${turnId}`, content: { text }, submittedBy: null }
    this.step({
      events: [
        { type: 'run_started', payload: of },
        { type: 'user_message_appended', payload: { ...of, ...message, at: 1 } },
      ],
      change: { rootTurn: turn },
      entries: [{ ...this.entryHead(), ...of, kind: 'user', content: { text }, submittedBy: null }],
    })
    return turn
  }

  /** A whole text block of the running turn. */
  say(text: string, messageId = 'message-1', kind: 'assistant' | 'thinking' = 'assistant'): void {
    const { turnId, runId } = this.turn
    const head = this.entryHead()
    const offset = this.entries
      .filter(entry => 'messageId' in entry && entry.messageId === messageId)
      .reduce((sum, entry) => sum + ('text' in entry ? entry.text.length : 0), 0)
    const payload = { turnId, runId, blockId: head.id, kind, messageId, offset, text, startedAt: 1 }
    this.step({
      events: [{ type: 'text_sealed', payload }],
      entries: [{ ...head, turnId, runId, kind, messageId, offset, text }],
    })
  }

  /** A piece of streamed text: the open block grows, one delta frame. */
  stream(text: string, messageId = 'message-1'): void {
    const { turnId, runId } = this.turn
    const last = this.entries.at(-1)
    const open = last?.kind === 'assistant' && last.isStreaming && last.messageId === messageId ? last : undefined
    const startOffset = open === undefined ? 0 : open.offset + open.text.length
    const grown = open ?? {
      ...this.entryHead(),
      turnId,
      runId,
      kind: 'assistant' as const,
      messageId,
      offset: 0,
      text: '',
    }
    if (open !== undefined) this.entries.pop()
    this.entries.push({ ...grown, text: grown.text + text, isStreaming: true })
    this.#show({}, false)
    this.#emit({
      kind: 'subscription.session_delta',
      delta: { kind: 'text', turnId, runId, messageId, startOffset, text },
      ...this.#frameHead(),
    })
  }

  ask(interactionId: string, request: InteractionRequest): void {
    const { turnId, runId } = this.turn
    const snapshot: InteractionSnapshot = {
      interactionId,
      sessionId: this.id,
      turnId,
      runId,
      revision: 1,
      request,
      status: 'pending',
      outcome: null,
    }
    this.step({
      events: [{ type: 'interaction_opened', payload: { turnId, runId, interactionId, request } }],
      change: {
        interactions: { pending: [...this.projection.interactions.pending, snapshot] },
        rootTurn: { sessionId: this.id, turnId, runId, status: 'waiting_for_user' },
      },
    })
  }

  answer(interactionId: string, outcome: Extract<InteractionOutcome, { kind: 'answer' }>): InteractionSnapshot {
    const open = this.projection.interactions.pending.find(each => each.interactionId === interactionId)
    if (open === undefined) throw new Error('the fake interaction is not pending')
    const { turnId, runId, request } = open
    this.step({
      events: [{ type: 'interaction_answered', payload: { turnId, runId, interactionId, outcome } }],
      change: {
        interactions: { pending: this.projection.interactions.pending.filter(each => each !== open) },
        rootTurn: { sessionId: this.id, turnId, runId, status: 'running' },
      },
      entries: [{ ...this.entryHead(), turnId, runId, kind: 'interaction', interactionId, request, outcome }],
    })
    return { ...open, status: 'answered', revision: 2, outcome }
  }

  complete(): void {
    const { turnId, runId } = this.turn
    const ended = { sessionId: this.id, turnId, runId, status: 'completed' as const, terminalEventId: 'e1' }
    this.#end({ type: 'run_completed', payload: { turnId, runId, eventId: 'e1' } }, ended)
  }

  fail(failureClass: string, failureMessage: string): void {
    const { turnId, runId } = this.turn
    const why = { failureClass, failureMessage }
    this.#end(
      { type: 'run_failed', payload: { turnId, runId, eventId: 'e1', ...why } },
      { sessionId: this.id, turnId, runId, status: 'failed', ...why, terminalEventId: 'e1' },
    )
  }

  cancel(abortSource: string): TurnSnapshot {
    const { turnId, runId } = this.turn
    this.#end(
      { type: 'run_cancelled', payload: { turnId, runId, eventId: 'e1', abortSource } },
      { sessionId: this.id, turnId, runId, status: 'cancelled', abortSource, terminalEventId: 'e1' },
    )
    return this.turn
  }

  setQueue(entries: readonly QueueEntry[]): void {
    const { queue } = this.projection
    this.step({
      events: [{ type: 'queue_resumed', payload: { entryIds: [] } }],
      change: {
        queue: {
          ...queue,
          queueRevision: queue.queueRevision + 1,
          steering: entries.filter(({ placement }) => placement === 'current_turn'),
          followup: entries.filter(({ placement }) => placement === 'next_turn'),
        },
      },
    })
  }

  remove(): void {
    this.#emit({ kind: 'subscription.closed', reason: 'session_removed', ...this.#frameHead() })
  }

  entryHead(): { seq: number; id: string; at: number } {
    const seq = this.entries.length + 1
    return { seq, id: `entry-${seq}`, at: 1_700_000_000_000 + seq }
  }

  #end(event: DomainEvent, turn: TurnSnapshot): void {
    this.#seal()
    this.step({ events: [event], change: { rootTurn: turn, interactions: { pending: [] } } })
  }

  /** Streamed text is whole. */
  #seal(): void {
    const last = this.entries.at(-1)
    if (last === undefined || !('isStreaming' in last)) return
    const { isStreaming: _, ...sealed } = last
    this.entries[this.entries.length - 1] = sealed
  }

  #show(change: Partial<SessionProjection>, isTransition = true): void {
    if (change.rootTurn != null) this.turns.set(change.rootTurn.turnId, change.rootTurn)
    const live = this.entries.slice(-LIVE_ENTRIES)
    this.projection = {
      ...this.projection,
      ...change,
      transcript: {
        entries: live,
        firstSeq: live[0]?.seq ?? 0,
        lastSeq: live.at(-1)?.seq ?? 0,
        hasMore: this.entries.length > live.length,
      },
    }
    if (isTransition) {
      this.#emit({ kind: 'subscription.session_projection', snapshot: this.projection, ...this.#frameHead() })
    }
  }

  #frameHead() {
    return { sessionId: this.id, hostEpoch: 'epoch-1', revision: this.projection.revision }
  }

  #emit(frame: SubscriptionFrame): void {
    for (const listener of this.frameListeners) listener(frame)
  }
}
