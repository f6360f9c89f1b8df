import type { Content } from './entities/content.ts'
import type { ClosureReason, InteractionOutcome, InteractionRequest } from './entities/interaction.ts'
import type { InterruptionReason, PlanExecution, PlanProposal, PlanUpdate } from './entities/plan.ts'
import type { Actor, ClientActor } from './entities/primitives.ts'
import type { AgentPlan } from './entities/projection.ts'
import type { ParkReason } from './entities/queue.ts'
import type { SessionHeader } from './entities/session.ts'
import type { Task } from './entities/task.ts'
import type { ToolStatus, ToolText, TranscriptEntry } from './entities/transcript.ts'
import type { Admission, Placement } from './entities/turn.ts'

interface OfRun {
  readonly turnId: string
  readonly runId: string
}

interface OfEntry {
  readonly entryId: string
}

/** Payloads of every durable fact, by type; past tense. What a run did carries its `runId`. Source: L1. */
export interface EventPayloads {
  session_created: { header: SessionHeader }
  session_updated: { patch: Partial<SessionHeader> }
  session_archived: Record<string, never>
  session_unarchived: Record<string, never>
  /** The session began as a copy of another one's transcript; entries before `tail` stay in the source's segments. Source: S6. */
  session_forked: {
    sourceSessionId: string
    sourceTurnId: string
    throughSeq: number
    tail: readonly TranscriptEntry[]
  }
  /** The last fact of a session: what it held is purged. Source: S5. */
  session_deleted: Record<string, never>
  /** `originHostEpoch` is the epoch a message was written under, where one started the turn. Source: Q3. */
  turn_admitted: { admission: Admission; originHostEpoch?: string }
  /** A run that exists but was not started by this product's leader: planted by an importer or a test. */
  run_created: OfRun & RunOrigin
  run_started: OfRun & RunOrigin
  user_message_appended: OfRun & { messageId: string; content: Content; submittedBy: ClientActor | null; at: number }
  /** A waiting steer reached its run; its content is kept here, the entry leaves the queue. */
  steering_delivered: OfRun & OfEntry & { messageId: string; content: Content; submittedBy: ClientActor | null }
  /** A block of streamed text is whole. `offset` is where it starts in the message `messageId`, in UTF-16 units. */
  text_sealed: OfRun & {
    blockId: string
    kind: 'assistant' | 'thinking'
    messageId: string
    offset: number
    text: string
    startedAt: number
  }
  notice_appended: OfRun & { entryId: string; text: string }
  tool_started: OfRun & { toolCallId: string; name: string; title: string; status: ToolStatus; input: ToolText | null }
  tool_updated: OfRun & {
    toolCallId: string
    title?: string
    status?: ToolStatus
    input?: ToolText
    outputTail?: string
  }
  tool_ended: OfRun & { toolCallId: string; status: ToolStatus; output: ToolText | null }
  agent_plan_reported: OfRun & { entries: AgentPlan['entries'] }
  /** A child process does the run's work; a later leader ends it. Source: X15. */
  process_started: OfRun & { process: Readonly<Record<string, unknown>> }
  /** The agent's own name for the conversation, by which it can go on after a restart. */
  agent_session_remembered: OfRun & { backend: string; agentSessionId: string }
  usage_reported: OfRun & { usage: Readonly<Record<string, unknown>> }
  run_completed: OfRun & { eventId: string }
  run_failed: OfRun & { eventId: string; failureClass: string; failureMessage?: string }
  run_cancelled: OfRun & { eventId: string; abortSource: string }
  /** The turn's snapshot adopts its run's terminal event. */
  turn_settled: OfRun & { terminalEventId: string }

  interaction_opened: OfRun & { interactionId: string; request: InteractionRequest; expiresInMs?: number }
  interaction_answered: OfRun & { interactionId: string; outcome: Extract<InteractionOutcome, { kind: 'answer' }> }
  interaction_closed: OfRun & { interactionId: string; reason: ClosureReason }

  queue_entry_added: OfEntry & {
    messageId: string
    content: Content
    placement: Placement
    submittedBy: ClientActor
    /** The epoch the message was written under. Source: Q3. */
    originHostEpoch?: string
  }
  queue_entry_edited: OfEntry & { content: Content }
  queue_entry_removed: OfEntry
  queue_entry_moved: OfEntry & ({ before: string } | { after: string })
  queue_entry_promoted: OfEntry
  /** Someone edits the entry: it is passed over until released. Source: Q6. */
  queue_entry_held: OfEntry & { by: ClientActor }
  queue_entry_released: OfEntry
  queue_entries_pulled: OfRun & { entryIds: readonly string[] }
  queue_entries_returned: OfRun & { entryIds: readonly string[] }
  queue_entries_parked: { entryIds: readonly string[]; reason: ParkReason }
  queue_resumed: { entryIds: readonly string[] }
  queue_retracted: { entryIds: readonly string[] }
  /** Waiting entries became the admission of the same transition. */
  queue_handed_on: { entryIds: readonly string[]; turnId: string }

  plan_submitted: OfRun & { proposal: PlanProposal }
  plan_revision_requested: { proposalId: string; feedback: string }
  plan_abandoned: { proposalId: string }
  plan_approved: { proposalId: string; execution: PlanExecution }
  plan_progress_updated: OfRun & PlanUpdate
  plan_execution_completed: OfRun & PlanUpdate
  /** The whole execution as it is afterwards: it may be an older one than the state holds. */
  plan_execution_cancelled: { execution: PlanExecution }
  plan_execution_interrupted: { executionId: string; reason: InterruptionReason }
  /** The whole execution as it is afterwards: it may be an older one than the state holds. */
  plan_execution_resumed: { execution: PlanExecution }

  /** The whole task as it is afterwards. */
  task_created: OfRun & { task: Task }
  task_updated: OfRun & { task: Task }
  /**
   * The state at this revision: the records it was folded from are gone. It stands alone in its record, which keeps the hashes of the
   * one it replaced; `digest` covers what stands here instead. Source: L6.
   */
  ledger_compacted: {
    state: Readonly<Record<string, unknown>>
    active: Readonly<Record<string, unknown>> | null
    digest: string
  }
}

/** Where a run comes from; what does not apply is absent. Source: T3. */
export interface RunOrigin {
  readonly agentId?: string
  readonly agentName?: string
  readonly resumedFromRunId?: string
  readonly retriedFromRunId?: string
  readonly regeneratedFromTurnId?: string
}

/** The type of a durable fact. */
export type EventType = keyof EventPayloads

/** A durable fact with its typed payload. */
export type DomainEvent = { [T in EventType]: { readonly type: T; readonly payload: EventPayloads[T] } }[EventType]

/** The three types of which a run has exactly one in the end. Source: T11. */
export const TERMINAL_EVENT_TYPES = ['run_completed', 'run_failed', 'run_cancelled'] as const

/** True for a type that ends a run. */
export function isTerminalEvent(type: string): type is (typeof TERMINAL_EVENT_TYPES)[number] {
  return (TERMINAL_EVENT_TYPES as readonly string[]).includes(type)
}

/** An event as it stands in a ledger record; types a later build or an importer wrote are kept as they are. */
export interface LedgerEvent {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/**
 * All facts of one transition. `revision` is contiguous from 1 per session, `at` is the leader's clock in ms,
 * `hash` is the digest of the canonical form of the record without `hash`, `prevHash` the hash of the record before (or GENESIS_HASH).
 * Source: A8, L1.
 */
export interface LedgerRecord {
  readonly revision: number
  readonly epochNumber: number
  readonly at: number
  readonly actor: Actor
  readonly events: readonly LedgerEvent[]
  readonly prevHash: string
  readonly hash: string
}

/** One event of a run, in ledger order. `eventId` is unique in the session. */
export interface RunEvent {
  readonly eventId: string
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly revision: number
  readonly at: number
}

/** The id of the event at `index` of the record `revision`: derived, so that it needs no generator. */
export function eventIdAt(revision: number, index: number): string {
  return `e${revision}-${index}`
}
