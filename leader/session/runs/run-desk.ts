import type { InteractionOutcome } from '../../../schema/entities/interaction.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { handOn } from '../../domain/decide/admission.ts'
import { decideEnd, decideRunStart } from '../../domain/decide/run.ts'
import { closeInteractions, parkAll } from '../../domain/decide/turn.ts'
import type { DecideContext, Decision, Effect } from '../../domain/decision.ts'
import { activeTurn, type SessionState } from '../../domain/state.ts'
import type { ProcessIdentity } from '../../execution/backend.ts'
import { whenStoreSettled } from '../core/reload.ts'
import type { SessionCore } from '../core/session-core.ts'
import type { CrashPoint } from '../crash-points.ts'
import type { Lane } from '../lane.ts'
import { type RunSession, SessionRun } from './session-run.ts'
import type { StreamTarget } from './text-stream.ts'

/** What the desk needs of its session. */
export interface RunDeskSession {
  readonly core: SessionCore
  readonly lane: Lane
  context(): DecideContext
  /** The turn's standing changed in a way that replies may wait for. */
  turnMoved(): void
  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]>
}

/**
 * The runs of one session, one after the other: started when a place is free and the last one has cleaned up, stopped, ended, handed on.
 * Source: T1, T7–T9, T12, Q5, Q7, E6, E9.
 */
export class RunDesk implements RunSession {
  readonly #session: RunDeskSession
  #run: SessionRun | null = null
  /** The admitted turn that waits for a place. */
  queuedTurnId: string | null = null
  #startAfterCleanup: string | null = null
  readonly #cleanupCalls: (() => void)[] = []
  readonly #settled = new Map<string, (outcome: InteractionOutcome) => void>()
  #steeringWaiters: (() => void)[] = []

  constructor(session: RunDeskSession) {
    this.#session = session
  }

  get sessionId(): string {
    return this.#session.core.sessionId
  }

  get state(): SessionState {
    return this.#session.core.state
  }

  get history(): readonly TranscriptEntry[] {
    return this.state.transcript.map(live => live.entry)
  }

  get isDraining(): boolean {
    return this.#session.core.env.isDraining()
  }

  get newId(): () => string {
    return this.#session.core.env.newId
  }

  get crash(): (point: CrashPoint) => void {
    return this.#session.core.env.crash
  }

  /** The process of an earlier epoch's run, if one was recorded. Source: X15. */
  get formerProcess(): ProcessIdentity | null {
    const agent = this.state.agentSession
    const isFormer = agent !== null && agent.process !== null && agent.processEpoch < this.#session.core.env.epochNumber
    return isFormer ? (agent.process as unknown as ProcessIdentity) : null
  }

  /** True while a run exists: it runs, or it is over and its backend still cleans up. */
  get hasRun(): boolean {
    return this.#run !== null
  }

  get isCleaningUp(): boolean {
    return this.#run !== null && activeTurn(this.state) === null
  }

  afterCleanup(call: () => void): void {
    if (this.isCleaningUp) this.#cleanupCalls.push(call)
    else call()
  }

  /** Events of the run were lost with a failed batch: it is stopped and ends `failed`, class `storage`. Source: E7. */
  lose(): void {
    const run = this.#run
    if (run === null || run.isOver || run.isLost) return
    run.lose()
    void run.handle?.stop('storage', LIMITS.stopCutoffMs)
  }

  runEffects(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'start_turn':
          this.startTurn(effect.turnId)
          break
        case 'stop_run':
          this.#stopRun(effect, LIMITS.stopCutoffMs)
          break
        case 'settle':
          this.#settled.get(effect.interactionId)?.(effect.outcome)
          this.#settled.delete(effect.interactionId)
          break
        case 'hand_on':
          this.#handOn()
          break
        case 'wake_steering':
          this.#wakeSteering()
          break
      }
    }
  }

  /** The admitted turn may run. It waits for the last run's clean-up, then for a place. Source: T7, E9. */
  startTurn(turnId: string): void {
    if (this.#run !== null) {
      this.#startAfterCleanup = turnId
      return
    }
    const { slots } = this.#session.core.env
    const isStarted = slots.take(() => this.#begin(turnId))
    if (isStarted) return
    this.queuedTurnId = turnId
    this.#session.turnMoved()
  }

  #begin(turnId: string): void {
    const { lane, core } = this.#session
    this.queuedTurnId = null
    lane.run(() => {
      const decision = this.isDraining ? null : decideRunStart(core.state, turnId, this.#session.context())
      if (decision?.kind !== 'accept' || core.refusal !== null) {
        core.env.slots.release()
        if (decision?.kind === 'accept') this.#retryStart(turnId)
        return
      }
      core.commit({
        events: decision.events,
        actor: 'leader',
        committed: () => this.#launch(turnId),
        failed: () => {
          core.env.slots.release()
          this.#retryStart(turnId)
        },
      })
    })
  }

  /** A start that could not be stored is tried again when the storage is well. */
  #retryStart(turnId: string): void {
    this.whenWritable().then(
      () => this.startTurn(turnId),
      () => {},
    )
  }

  #launch(turnId: string): void {
    const { core } = this.#session
    core.env.crash('after_run_started')
    const turn = activeTurn(core.state)
    if (turn === null || turn.admission.turnId !== turnId) {
      core.env.slots.release()
      return
    }
    core.text.reset()
    const run = new SessionRun(this, turn.admission)
    this.#run = run
    run.handle = core.env.startRun(run)
    void run.handle.done.then(() => this.#cleanedUp(run))
  }

  #cleanedUp(run: SessionRun): void {
    if (this.#run !== run) return
    this.#run = null
    this.#session.core.env.slots.release()
    const next = this.#startAfterCleanup
    this.#startAfterCleanup = null
    if (next !== null) this.startTurn(next)
    for (const call of this.#cleanupCalls.splice(0)) call()
  }

  /** Source: T8, T9. */
  #stopRun(stop: { turnId: string; runId: string; abortSource: string }, cutoffMs: number): void {
    const { turnId, abortSource } = stop
    if (this.#run?.turnId === turnId) {
      void this.#run.handle?.stop(abortSource, cutoffMs)
      return
    }
    // The run never began: its turn ends here.
    void this.decideAsRun((state, context) =>
      decideEnd(state, stop, { kind: 'cancelled', abortSource }, { ...context, isDraining: this.isDraining }),
    ).catch(() => {})
  }

  /** What waits becomes the successor turn. Source: Q7, T12. */
  #handOn(): void {
    const { core, lane } = this.#session
    lane.run(() => {
      if (activeTurn(core.state) !== null || this.isDraining || core.refusal !== null) return
      const context = this.#session.context()
      const events = handOn(core.state, context)
      if (events === null) return
      core.commit({
        events,
        actor: 'leader',
        committed: () => {
          core.env.crash('after_admission')
          this.startTurn(context.freshTurnId)
        },
        // The entries are still in the queue; the next hand-off takes them.
        failed: () =>
          void this.whenWritable().then(
            () => this.#handOn(),
            () => {},
          ),
      })
    })
  }

  /** Ends what runs, for a leader that stops; resolves when its terminal facts are durable and its backend is gone. Source: E6. */
  async drain(cutoffMs: number): Promise<void> {
    const { core } = this.#session
    const stopped = await new Promise<{ turnId: string; runId: string } | null>(resolve => {
      this.#session.lane.run(() => {
        const turn = activeTurn(core.state)
        const closing = closeInteractions(core.state, 'turn_stopped', this.#session.context())
        const events = [...parkAll(core.state, 'leader_stopped'), ...closing.events]
        const { turnId, runId } = turn?.admission ?? { turnId: '', runId: '' }
        core.commit({
          events,
          actor: 'leader',
          committed: () => {
            this.runEffects(closing.effects)
            resolve(turn === null ? null : { turnId, runId })
          },
          failed: () => resolve(turn === null ? null : { turnId, runId }),
        })
      })
    })
    if (stopped === null) {
      await this.#run?.handle?.done
      return
    }
    const run = this.#run
    if (run?.turnId === stopped.turnId && run.handle !== null) {
      await run.handle.stop('leader_shutdown', cutoffMs)
      await run.handle.done
      return
    }
    const end = { kind: 'cancelled' as const, abortSource: 'leader_shutdown' }
    await this.decideAsRun((state, context) => decideEnd(state, stopped, end, { ...context, isDraining: true }))
  }

  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]> {
    return this.#session.historyBefore(seq, limit)
  }

  appendText(target: StreamTarget, text: string): Promise<void> {
    return this.#session.core.appendText(target, text)
  }

  decideAsRun(decide: (state: SessionState, context: DecideContext) => Decision): Promise<unknown> {
    const { core, lane } = this.#session
    return new Promise((resolve, reject) => {
      lane.run(() => {
        let decision: Decision
        try {
          if (core.refusal !== null) throw new HeadwaterError(core.refusal)
          decision = decide(core.state, this.#session.context())
        } catch (error) {
          reject(error)
          return
        }
        if (decision.kind !== 'accept') {
          const code = decision.kind === 'refuse' ? decision.code : 'session_busy'
          reject(new HeadwaterError(code, decision.kind === 'refuse' ? decision.message : undefined))
          return
        }
        const { events, effects = [] } = decision
        // Without events `committed` may be called before `commit` returns.
        let result: unknown = events.length === 0 ? decision.result(core.state) : undefined
        const next = core.commit({
          events,
          actor: 'run',
          committed: () => {
            if (events.some(e => e.type === 'turn_settled')) this.#ended()
            this.runEffects(effects)
            resolve(result)
          },
          failed: code => {
            this.lose()
            reject(new HeadwaterError(code))
          },
        })
        if (events.length > 0) result = decision.result(next)
      })
    })
  }

  #ended(): void {
    const { core } = this.#session
    core.env.crash('after_terminal')
    core.env.metrics.turnEnded(core.durable.root?.snapshot.status ?? 'unknown')
    this.#session.turnMoved()
  }

  whenSettled(interactionId: string): Promise<InteractionOutcome> {
    return new Promise(resolve => this.#settled.set(interactionId, resolve))
  }

  forgetSettled(interactionId: string): void {
    this.#settled.delete(interactionId)
  }

  whenSteeringWaits(): Promise<void> {
    const waits = this.state.queue.some(r => r.entry.placement === 'current_turn' && r.entry.state === 'queued')
    if (waits) return Promise.resolve()
    return new Promise(resolve => this.#steeringWaiters.push(resolve))
  }

  #wakeSteering(): void {
    const waiters = this.#steeringWaiters
    this.#steeringWaiters = []
    for (const wake of waiters) wake()
  }

  async whenWritable(): Promise<void> {
    const { core } = this.#session
    if (core.fault !== null) throw new HeadwaterError(core.fault)
    await whenStoreSettled(core.env.store, { writable: true })
    // A failed batch is worked off in the lane before anything else is decided.
    await new Promise<void>(resolve => this.#session.lane.run(resolve))
    if (core.fault !== null) throw new HeadwaterError(core.fault)
  }
}
