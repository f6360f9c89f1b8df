import type { InteractionOutcome, InteractionRequest } from '../../schema/entities/interaction.ts'
import type { PlanContent, PlanExecution, PlanProposal, PlanUpdate } from '../../schema/entities/plan.ts'
import type { AgentPlan, PlanProjection } from '../../schema/entities/projection.ts'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { ToolStatus, ToolText, TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { Admission } from '../../schema/entities/turn.ts'
import type { ChildTools, ProcessIdentity, TaskTools } from '../execution/backend.ts'

/** How a run ended, as its driver saw it. Source: T11. */
export type RunEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly failureClass: string; readonly failureMessage?: string }
  | { readonly kind: 'cancelled'; readonly abortSource: string }

/** What a run does to its session, decided in the session's lane like a client's command. Sizes are bounded by the driver. */
export type RunCommand =
  | { readonly kind: 'notice'; readonly text: string }
  | {
      readonly kind: 'tool_start'
      readonly toolCallId: string
      readonly name: string
      readonly title: string
      readonly status: ToolStatus
      readonly input: ToolText | null
    }
  | {
      readonly kind: 'tool_update'
      readonly toolCallId: string
      readonly title?: string
      readonly status?: ToolStatus
      readonly input?: ToolText
      readonly outputTail?: string
    }
  | {
      readonly kind: 'tool_end'
      readonly toolCallId: string
      readonly status: 'completed' | 'failed'
      readonly output: ToolText | null
    }
  | { readonly kind: 'usage'; readonly usage: Readonly<Record<string, unknown>> }
  | { readonly kind: 'agent_plan'; readonly entries: AgentPlan['entries'] }
  | { readonly kind: 'ack'; readonly entryIds: readonly string[] }
  | { readonly kind: 'nack'; readonly entryIds: readonly string[] }
  | { readonly kind: 'process'; readonly process: ProcessIdentity }
  | { readonly kind: 'agent_session'; readonly agentSessionId: string }

/**
 * What a run's driver may do to its session. Every promise resolves when the effect is durable. After the run's terminal event
 * every call rejects with the RunOver error and has no effect (T9).
 */
export interface RunPort {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly admission: Admission
  readonly header: SessionHeader
  readonly history: readonly TranscriptEntry[]
  /** The newest `agent_session` that a run of this session recorded, in any epoch; null or absent if none did. */
  readonly agentSession?: string | null
  /**
   * The newest `process` that a run of this session recorded under an earlier epoch; absent if there is none. The driver ends it and
   * awaits its end before the backend starts, so that X15 holds also for an agent that was idle when its leader died.
   */
  readonly formerProcess?: ProcessIdentity | null
  /** The session's plan as it is durable now. */
  readonly plan: PlanProjection
  /** The session's tasks; what is given must fit its shape. Source: K3. */
  readonly tasks: TaskTools
  /** Rejects with HeadwaterError `operation_conflict` while a plan is carried out. Source: P1. */
  submitPlan(content: PlanContent): Promise<PlanProposal>
  /** Resolves to the execution afterwards. Rejects with HeadwaterError `operation_conflict`. Source: P5. */
  updatePlan(update: PlanUpdate): Promise<PlanExecution>
  /** The run's linked child sessions; absent or null: it can have none. Source: T13. */
  readonly children?: ChildTools | null
  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]>
  apply(command: RunCommand): Promise<void>
  /** Adds to the open block of this kind and message, opening or sealing blocks as needed; resolves when flushed and durable. */
  appendText(kind: 'assistant' | 'thinking', messageId: string, text: string): Promise<void>
  /**
   * Establishes an interaction; resolves to its id and to the outcome, which may be there at once (permission modes, I7).
   * `outcome` never rejects: a stop closes it (`turn_stopped`).
   */
  openInteraction(
    request: InteractionRequest,
    expiresInMs?: number,
  ): Promise<{ readonly interactionId: string; readonly outcome: Promise<InteractionOutcome> }>
  /** Closes a pending interaction whose time is up. */
  expireInteraction(interactionId: string): Promise<void>
  /** Takes queued steering under a lease; empty when nothing waits. */
  pullSteering(): Promise<readonly QueueEntry[]>
  /** Resolves when at least one steer waits. Never rejects; stays pending after the run's end. */
  steeringWaits(): Promise<void>
  /** The terminal transition; only the first call has an effect. Resolves when durable. */
  end(end: RunEnd): Promise<void>
}

/** What the session asks of a running driver. */
export interface RunHandle {
  /** Delivers a stop. Resolves when the run's terminal event is durable: by itself, or cut off after `cutoffMs`. */
  stop(abortSource: string, cutoffMs: number): Promise<void>
  /** Resolves when the run has ended and its backend has cleaned up (or was cut off). Never rejects. */
  readonly done: Promise<void>
}

/** Starts a run on a backend. Source: section 2 of ARCHITECTURE.md. */
export type StartRun = (port: RunPort) => RunHandle
