import type { InteractionOutcome, InteractionRequest } from '../../../schema/entities/interaction.ts'
import type { PlanContent, PlanExecution, PlanProposal, PlanUpdate } from '../../../schema/entities/plan.ts'
import type { PlanProjection } from '../../../schema/entities/projection.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { Admission } from '../../../schema/entities/turn.ts'
import { type ErrorCode, isHeadwaterError } from '../../../schema/errors.ts'
import { decideExpire, decideOpen } from '../../domain/decide/interaction.ts'
import { decideSubmitPlan, decideUpdatePlan } from '../../domain/decide/plan/progress.ts'
import { decideAck, decideEnd, decideNack, decidePull } from '../../domain/decide/run.ts'
import type { DecideContext, Decision } from '../../domain/decision.ts'
import type { SessionState } from '../../domain/state.ts'
import type { ProcessIdentity, TaskTools } from '../../execution/backend.ts'
import type { ParentRun, RunChildren } from '../children/child-sessions.ts'
import type { CrashPoint } from '../crash-points.ts'
import type { RunCommand, RunEnd, RunHandle, RunPort } from '../run-port.ts'
import { factsOf } from './run-facts.ts'
import { RunTasks } from './run-tasks.ts'

/** Everything a run does after its terminal event is refused with this. Source: T9. */
export class RunOver extends Error {
  constructor() {
    super('the run is over')
    this.name = 'RunOver'
  }
}

/** True for the refusal of a step that the storage could not take: it may be tried again. Source: E7, E8. */
export function isStorageTrouble(error: unknown): boolean {
  return isHeadwaterError(error) && STORAGE_CODES.has(error.code)
}

const STORAGE_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'persistence_failed',
  'storage_full',
  'storage_fault',
  'outcome_unknown',
  'rate_limited',
])

/** The session as its run sees it. */
export interface RunSession {
  readonly sessionId: string
  readonly state: SessionState
  /** The newest state that is on disk. */
  readonly durable: SessionState
  readonly history: readonly TranscriptEntry[]
  readonly formerProcess: ProcessIdentity | null
  /** As in the environment of the session. */
  readonly rootMark: string | undefined
  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]>
  /** Decides in the lane as the run; resolves to the decision's result when it is durable. Rejects when refused or lost. */
  decideAsRun(decide: (state: SessionState, context: DecideContext) => Decision): Promise<unknown>
  appendText(
    target: { turnId: string; runId: string; kind: 'assistant' | 'thinking'; messageId: string },
    text: string,
  ): Promise<void>
  whenSettled(interactionId: string): Promise<InteractionOutcome>
  /** The children of a run; null where there can be none. Source: T13. */
  childrenOf(run: ParentRun): RunChildren | null
  /** Nobody waits for this interaction: it was never opened. */
  forgetSettled(interactionId: string): void
  whenSteeringWaits(): Promise<void>
  /** Resolves when the store takes writes again; rejects when it never will in this process. */
  whenWritable(): Promise<void>
  readonly isDraining: boolean
  readonly newId: () => string
  readonly crash: (point: CrashPoint) => void
}

/** One run of a session: what its driver may do, and whether it may still do it. */
export class SessionRun implements RunPort {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly admission: Admission
  readonly header: SessionHeader
  readonly history: readonly TranscriptEntry[]
  readonly agentSession: string | null
  readonly formerProcess: ProcessIdentity | null
  readonly children: RunChildren | null
  readonly tasks: TaskTools
  readonly #session: RunSession
  handle: RunHandle | null = null
  #end: Promise<void> | null = null
  #hasEnded = false
  #isLost = false

  constructor(session: RunSession, admission: Admission) {
    const { state } = session
    this.#session = session
    this.sessionId = session.sessionId
    this.turnId = admission.turnId
    this.runId = admission.runId
    this.admission = admission
    this.header = state.header as SessionHeader
    this.history = session.history.filter(entry => entry.turnId !== admission.turnId)
    const agent = state.agentSession
    this.agentSession = agent !== null && agent.backend === this.header.backend ? agent.agentSessionId : null
    this.formerProcess = session.formerProcess
    this.children = session.childrenOf(this)
    this.tasks = new RunTasks({
      keys: this.#keys,
      durable: () => session.durable,
      decide: decide => this.#decide(decide),
    })
  }

  /** Delivers a stop, to its children too; resolves when its terminal event is durable. Source: T8, T13. */
  async stop(abortSource: string, cutoffMs: number): Promise<void> {
    void this.children?.stop(abortSource)
    await this.handle?.stop(abortSource, cutoffMs)
  }

  /** True once its end was asked for: what is called from now on is refused. What was called before is still decided. */
  get isOver(): boolean {
    return this.#end !== null
  }

  /** True once its end is decided: from now on nothing of it may change anything. Source: T9. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Events of this run were lost with a failed batch: it can only end as `failed`, class `storage`. Source: E7. */
  lose(): void {
    this.#isLost = true
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get plan(): PlanProjection {
    return this.#session.durable.plan
  }

  async submitPlan(content: PlanContent): Promise<PlanProposal> {
    const decide = (state: SessionState, context: DecideContext) =>
      decideSubmitPlan(state, this.#keys, content, context)
    return (await this.#decide(decide)) as PlanProposal
  }

  async updatePlan(update: PlanUpdate): Promise<PlanExecution> {
    const decide = (state: SessionState, context: DecideContext) => decideUpdatePlan(state, this.#keys, update, context)
    return (await this.#decide(decide)) as PlanExecution
  }

  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]> {
    return this.#session.historyBefore(seq, limit)
  }

  async apply(command: RunCommand): Promise<void> {
    await this.#decide((state, context) => this.#decideCommand(state, command, context))
  }

  async appendText(kind: 'assistant' | 'thinking', messageId: string, text: string): Promise<void> {
    if (this.isOver) throw new RunOver()
    await this.#session.appendText({ turnId: this.turnId, runId: this.runId, kind, messageId }, text)
  }

  async openInteraction(
    request: InteractionRequest,
    expiresInMs?: number,
  ): Promise<{ readonly interactionId: string; readonly outcome: Promise<InteractionOutcome> }> {
    const interactionId = this.#session.newId()
    const settled = this.#session.whenSettled(interactionId)
    const pending = { interactionId, request, ...(expiresInMs === undefined ? {} : { expiresInMs }) }
    try {
      await this.#decide((state, context) => decideOpen(state, this.#keys, pending, context))
    } catch (error) {
      this.#session.forgetSettled(interactionId)
      throw error
    }
    return { interactionId, outcome: settled }
  }

  async expireInteraction(interactionId: string): Promise<void> {
    await this.#decide((state, context) => decideExpire(state, interactionId, context))
  }

  async pullSteering(): Promise<readonly QueueEntry[]> {
    return (await this.#decide(state => decidePull(state, this.#keys))) as QueueEntry[]
  }

  steeringWaits(): Promise<void> {
    return this.#session.whenSteeringWaits()
  }

  /**
   * A run has exactly one terminal event, but it must have one: tried again while the storage recovers. Unless it completes, its children
   * end first. Source: T11, T13.
   */
  end(end: RunEnd): Promise<void> {
    this.#end ??= this.#endOnce(end)
    return this.#end
  }

  async #endOnce(end: RunEnd): Promise<void> {
    this.#session.crash('before_terminal')
    for (;;) {
      if (this.#isLost || end.kind !== 'completed') {
        await this.children?.stop(end.kind === 'cancelled' ? end.abortSource : 'parent_stopped')
      }
      const ending = this.#isLost ? { kind: 'failed' as const, failureClass: 'storage' } : end
      try {
        await this.#session.decideAsRun((state, context) => {
          this.#hasEnded = true
          return decideEnd(state, this.#keys, ending, { ...context, isDraining: this.#session.isDraining })
        })
        return
      } catch (error) {
        if (!isStorageTrouble(error)) throw error
        this.#isLost = true
        await this.#session.whenWritable()
      }
    }
  }

  get #keys(): { turnId: string; runId: string } {
    return { turnId: this.turnId, runId: this.runId }
  }

  async #decide(decide: (state: SessionState, context: DecideContext) => Decision): Promise<unknown> {
    if (this.isOver) throw new RunOver()
    return await this.#session.decideAsRun((state, context) => {
      if (this.#hasEnded) throw new RunOver()
      return decide(state, context)
    })
  }

  #decideCommand(state: SessionState, command: RunCommand, context: DecideContext): Decision {
    if (command.kind === 'ack') return decideAck(state, this.#keys, command.entryIds, context)
    if (command.kind === 'nack') return decideNack(state, this.#keys, command.entryIds)
    const run = { ...this.#keys, backend: this.header.backend, rootMark: this.#session.rootMark }
    const events = factsOf(run, state, command, context)
    return { kind: 'accept', events, result: () => null }
  }
}
