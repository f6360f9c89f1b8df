import type { Content } from '../../schema/entities/content.ts'
import type {
  FormRequest,
  InteractionOutcome,
  PermissionRequest,
  QuestionRequest,
} from '../../schema/entities/interaction.ts'
import type { PlanContent, PlanExecution, PlanProposal, PlanUpdate } from '../../schema/entities/plan.ts'
import type { AgentPlan, PlanProjection, TasksProjection } from '../../schema/entities/projection.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { Task, TaskChange, TaskDraft } from '../../schema/entities/task.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { Execution, TurnSnapshot } from '../../schema/entities/turn.ts'

/** A steer on lease: it counts as delivered only after `ack`. Source: Q5. */
export interface SteeringMessage {
  readonly entryId: string
  readonly messageId: string
  readonly content: Content
}

/** A failure a backend names itself; any other throw ends the run as `backend_error`. Source: T11. */
export class BackendFailure extends Error {
  readonly failureClass: string

  constructor(failureClass: string, message: string) {
    super(message)
    this.name = 'BackendFailure'
    this.failureClass = failureClass
  }
}

/** The task ledger as a run may use it: the tools `task_create`, `task_update`, `task_list` and `task_get`. Source: K3. */
export interface TaskTools {
  /** Rejects with HeadwaterError `operation_conflict` (no such parent) or `too_large` (over a bound of K1). */
  create(draft: TaskDraft): Promise<Task>
  /** Rejects with HeadwaterError `not_found` or `operation_conflict` (a transition that K2 forbids). */
  update(change: TaskChange): Promise<Task>
  list(): TasksProjection
  /** By id or key. */
  get(ref: string): Task | null
}

/** What a linked child session is started with. Source: T13. */
export interface ChildStart {
  /** Name of the agent, as people see it. */
  readonly agentName: string
  readonly content: Content
  /** Default: a random one. */
  readonly agentId?: string
  /** Default: the parent's. */
  readonly backend?: string
}

/** A run of a linked child session, as its parent sees it. Source: T13. */
export interface ChildRun {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly agentId: string
  readonly agentName: string
  /** Resolves when the child's turn has ended. Never rejects. */
  readonly ended: Promise<TurnSnapshot>
  /** The text the child's run has answered so far. */
  answer(): Promise<string>
  /** Delivers a stop (`parent_stopped`); resolves when the child's terminal event is durable. */
  stop(): Promise<void>
}

/** Starting, resuming and retrying linked child sessions; stopping the parent's turn stops them. Source: T4, T13. */
export interface ChildTools {
  start(child: ChildStart): Promise<ChildRun>
  /** Goes on with a child of this session whose newest run has ended, with a new message. */
  resume(child: { readonly sessionId: string; readonly content: Content }): Promise<ChildRun>
  /** Runs the newest run of a child again with the same input and without a new user message. */
  retry(child: { readonly sessionId: string }): Promise<ChildRun>
}

/** Text a tool was given or gave; over 32 KiB it becomes an artifact by itself. Source: L5. */
export type ToolTextInput = string

interface Expiring {
  /** The interaction closes as `expired` after this much running time; absent: never. */
  readonly expiresInMs?: number
}

/**
 * All that a backend may see of a session, and the only ways in which it may affect one. Every method that returns a promise resolves
 * when its effect is durable (back-pressure). After a stop, methods reject with `signal.reason` and have no effect. Source: T9.
 */
export interface RunContext {
  /** As it was when the run began; its modes (`collaborationMode`, `permissionMode`) cannot change while a turn runs (S2). */
  readonly session: SessionHeader
  readonly turnId: string
  readonly runId: string
  /** Normalised content of the turn (C2). */
  readonly input: Content
  readonly maxSteps?: number
  /** What the turn is for: a message, a plan, a child, … Source: T4. */
  readonly execution: Execution
  /** The newest live transcript entries before this turn; older ones through `historyBefore`. */
  readonly history: readonly TranscriptEntry[]
  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]>
  readonly cwd: string
  /** Aborted when the turn is stopped; `signal.reason` is an Error. A backend that ignores it is cut off after 5 s. */
  readonly signal: AbortSignal
  /** Streams a piece of the answer; pieces of one `messageId` form one message (absent: the run's current message). */
  text(delta: string, options?: { readonly messageId?: string }): Promise<void>
  thinking(delta: string, options?: { readonly messageId?: string }): Promise<void>
  notice(text: string): Promise<void>
  toolStart(call: {
    readonly toolCallId: string
    readonly name: string
    readonly title: string
    readonly status?: 'pending' | 'in_progress'
    readonly input?: ToolTextInput
  }): Promise<void>
  /** At most 4 a second per call reach the session; `outputTail` shows the end of a growing output. */
  toolUpdate(call: {
    readonly toolCallId: string
    readonly title?: string
    readonly status?: 'pending' | 'in_progress'
    readonly input?: ToolTextInput
    readonly outputTail?: string
  }): Promise<void>
  toolEnd(call: {
    readonly toolCallId: string
    readonly status: 'completed' | 'failed'
    readonly output?: ToolTextInput
  }): Promise<void>
  /** These three wait for a person and resolve to the outcome; on stop they reject with `signal.reason`. */
  ask(request: Omit<QuestionRequest, 'kind'> & Expiring): Promise<InteractionOutcome>
  requestPermission(request: Omit<PermissionRequest, 'kind'> & Expiring): Promise<InteractionOutcome>
  form(request: Omit<FormRequest, 'kind'> & Expiring): Promise<InteractionOutcome>
  /** Shows the agent's own plan; never executable. */
  reportPlan(entries: AgentPlan['entries']): Promise<void>
  /** The session's plan as it is durable now. */
  readonly plan: PlanProjection
  /**
   * Proposes a plan; resolves to the proposal. Like the next one and `tasks` it rejects with HeadwaterError, which does not end the run by
   * itself: `invalid_request` (it does not fit its shape), `operation_conflict` (a plan is being carried out). Source: P1.
   */
  submitPlan(content: PlanContent): Promise<PlanProposal>
  /** Says how far the active execution is, step by step; resolves to the execution afterwards. Source: P5. */
  updatePlan(update: PlanUpdate): Promise<PlanExecution>
  readonly tasks: TaskTools
  usage(usage: Readonly<Record<string, unknown>>): Promise<void>
  /** Takes what waits as steering, under a lease; empty when nothing waits. */
  pullSteering(): Promise<readonly SteeringMessage[]>
  /** Resolves when at least one steer waits; rejects on stop. */
  steeringWaits(): Promise<void>
  ack(entryIds: readonly string[]): Promise<void>
  nack(entryIds: readonly string[]): Promise<void>
  /** Records the child process that does the work, so that a later leader can end it. Source: X15. */
  processStarted(process: ProcessIdentity): Promise<void>
  /** Linked child sessions of this run. Source: T13. */
  readonly children: ChildTools
  /** The same as `children.start`. */
  spawnChild(child: ChildStart): Promise<ChildRun>
  /** The agent's own session as the newest earlier run of this session remembered it; null if none did. */
  readonly agentSession: string | null
  /** Keeps the agent's own session id (≤ 512 characters) for later runs, also of later leaders. */
  rememberAgentSession(agentSessionId: string): Promise<void>
  /** The bytes of an attachment that is an artifact; null if the leader has none under this hash. */
  readArtifact(hash: string): Promise<Uint8Array | null>
}

/**
 * What identifies a process beyond its id: its group, its start time (ticks since boot) and the boot's id. `mark` is a random value in
 * its environment that its descendants inherit; it proves them after the process itself is gone. Source: X15.
 */
export interface ProcessIdentity {
  readonly pid: number
  readonly processGroup: number
  readonly startTicks: number
  readonly bootId: string
  readonly mark?: string
}

/**
 * What executes runs. `start` resolves when the run is complete; a throw fails it: a BackendFailure under its own class, anything else as
 * `backend_error`, `signal.reason` after a stop as cancelled. `takesSteering: false`: steers are folded into the successor turn (Q5).
 */
export interface Backend {
  readonly kind: string
  readonly takesSteering?: boolean
  start(run: RunContext): Promise<void>
  /** Ends whatever processes are kept for sessions. */
  close?(): Promise<void>
}
