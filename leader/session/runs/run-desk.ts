import type { InteractionOutcome } from '../../../schema/entities/interaction.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { releaseAll } from '../../domain/decide/hold.ts'
import { interruptPlan } from '../../domain/decide/plan/interrupt.ts'
import { decideEnd, type RunEnding } from '../../domain/decide/run.ts'
import { closeInteractions, parkAll } from '../../domain/decide/turn.ts'
import type { DecideContext, Decision, Effect } from '../../domain/decision.ts'
import { activeTurn, type SessionState } from '../../domain/state.ts'
import type { ProcessIdentity } from '../../execution/backend.ts'
import type { ParentRun, RunChildren } from '../children/child-sessions.ts'
import type { CrashPoint } from '../crash-points.ts'
import type { RunDeskSession } from './desk-session.ts'
import { formerProcess } from './former-process.ts'
import { handOnQueue } from './hand-on.ts'
import type { RunPlace } from './run-slots.ts'
import { isStorageTrouble, RunOver, type RunSession, SessionRun } from './session-run.ts'
import { SettledInteractions, SteeringBell } from './signals.ts'
import { type StreamTarget, TextLost } from './text-stream.ts'
import { TurnStarts } from './turn-starts.ts'

interface RunKeys {
  readonly turnId: string
  readonly runId: string
}

/**
 * The runs of one session, one after the other: started when a place is free and the last one has cleaned up, stopped, ended, handed on.
 * Source: T1, T7–T9, T12, Q5, Q7, E6, E9.
 */
export class RunDesk implements RunSession {
  readonly #session: RunDeskSession
  #run: SessionRun | null = null
  readonly #starts: TurnStarts
  #startAfterCleanup: string | null = null
  readonly #cleanupCalls: (() => void)[] = []
  readonly #settled = new SettledInteractions()
  readonly #steering = new SteeringBell()

  constructor(session: RunDeskSession) {
    this.#session = session
    this.#starts = new TurnStarts(session, {
      startAgain: turnId => this.startTurn(turnId),
      launch: (turnId, place) => this.#launch(turnId, place),
      endAsShutDown: turnId => this.#endAsShutDown(turnId),
      unforeseen: error => this.#unforeseen(error),
    })
  }

  get sessionId(): string {
    return this.#session.core.sessionId
  }

  get state(): SessionState {
    return this.#session.core.state
  }

  get durable(): SessionState {
    return this.#session.core.durable
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
    return formerProcess(this.state.agentSession, this.#session.core.env)
  }

  get rootMark(): string | undefined {
    return this.#session.core.env.rootMark
  }

  /** True while a run exists: it runs, or it is over and its backend still cleans up. */
  get hasRun(): boolean {
    return this.#run !== null
  }

  get isCleaningUp(): boolean {
    return this.#run !== null && activeTurn(this.state) === null
  }

  /** The admitted turn that waits for a place, or for the storage. Source: E9. */
  get queuedTurnId(): string | null {
    return this.#starts.queuedTurnId
  }

  /** Commands that wait for the clean-up. */
  get waitingForCleanup(): number {
    return this.#cleanupCalls.length
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
    stop(run, 'storage', LIMITS.stopCutoffMs)
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
          this.#settled.settle(effect.interactionId, effect.outcome)
          break
        case 'hand_on':
          handOnQueue(this.#session, {
            admitted: turnId => this.startTurn(turnId),
            unforeseen: error => this.#unforeseen(error),
          })
          break
        case 'wake_steering':
          this.#steering.ring()
          break
        case 'renew_hold':
          // Holds belong to the queue, not to a run.
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
    this.#starts.start(turnId)
  }

  #launch(turnId: string, place: RunPlace): void {
    const { core } = this.#session
    core.env.crash('after_run_started')
    const turn = activeTurn(core.state)
    if (turn === null || turn.admission.turnId !== turnId) {
      place.leave()
      return
    }
    core.text.reset()
    const run = new SessionRun(this, turn.admission)
    this.#run = run
    try {
      run.handle = core.env.startRun(run)
      void run.handle.done.then(() => this.#cleanedUp(run, place))
    } catch (error) {
      this.#unforeseen(error)
      const end = { kind: 'failed' as const, failureClass: 'backend_error' }
      const cleanUp = (): void => this.#cleanedUp(run, place)
      void run.end(end).then(cleanUp, cleanUp)
    }
  }

  #cleanedUp(run: SessionRun, place: RunPlace): void {
    place.leave()
    if (this.#run !== run) return
    this.#run = null
    this.#settled.clear()
    this.#steering.clear()
    const next = this.#startAfterCleanup
    this.#startAfterCleanup = null
    if (next !== null) this.startTurn(next)
    for (const call of this.#cleanupCalls.splice(0)) call()
  }

  /** Source: T8, T9. */
  #stopRun(keys: RunKeys & { abortSource: string }, cutoffMs: number): void {
    const { abortSource } = keys
    if (this.#run?.turnId === keys.turnId) stop(this.#run, abortSource, cutoffMs)
    // The run never began: its turn ends here.
    else this.#endUnstarted(keys, { kind: 'cancelled', abortSource }).catch(error => this.#unforeseen(error))
  }

  /** A turn that was admitted while the leader stops does not begin. Source: E6, X14. */
  #endAsShutDown(turnId: string): void {
    const turn = activeTurn(this.state)
    if (turn?.admission.turnId === turnId) this.#stopRun({ ...turn.admission, abortSource: 'leader_shutdown' }, 0)
  }

  /** Ends a turn that has no run here; tried again while the storage recovers. Rejects when it never can be stored. */
  async #endUnstarted(keys: RunKeys, end: RunEnding): Promise<void> {
    for (;;) {
      try {
        await this.decideAsRun((state, context) =>
          decideEnd(state, keys, end, { ...context, isDraining: this.isDraining }),
        )
        return
      } catch (error) {
        if (!isStorageTrouble(error)) throw error
        await this.whenWritable()
      }
    }
  }

  /** Ends what runs, for a leader that stops; resolves when its terminal facts are durable and its backend is gone. Source: E6. */
  async drain(cutoffMs: number): Promise<void> {
    const turn = await this.#park()
    const run = this.#run
    if (run !== null) {
      await run.stop('leader_shutdown', cutoffMs)
      await run.handle?.done
    }
    if (turn !== null && turn.turnId !== run?.turnId) {
      await this.#endUnstarted(turn, { kind: 'cancelled', abortSource: 'leader_shutdown' })
    }
  }

  /** The run that is being stopped is not waited for any longer. */
  cutShort(): void {
    if (this.#run !== null) stop(this.#run, 'leader_shutdown', 0)
  }

  /** Parks the queue, closes what waits for a person and interrupts a plan that no turn carries on; gives the turn that is active then. */
  #park(): Promise<RunKeys | null> {
    const { core, lane } = this.#session
    return new Promise((resolve, reject) => {
      const decide = (): void => {
        const turn = activeTurn(core.state)?.admission ?? null
        const closing = closeInteractions(core.state, 'turn_stopped', this.#session.context())
        core.commit({
          events: [
            ...releaseAll(core.state),
            ...parkAll(core.state, 'leader_stopped'),
            ...closing.events,
            // The end of a turn interrupts the plan.
            ...(turn === null ? interruptPlan(core.state, 'leader_stopped') : []),
          ],
          actor: 'leader',
          committed: () => {
            this.runEffects(closing.effects)
            resolve(turn)
          },
          // The end of the turn parks and closes too; without a turn there is nothing that could be tried again in time.
          failed: code => (turn === null ? reject(new HeadwaterError(code)) : resolve(turn)),
        })
      }
      lane.run(decide, reject)
    })
  }

  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]> {
    return this.#session.historyBefore(seq, limit)
  }

  /** In the lane like everything a run does, so that text and tool calls stay in the order in which they came. Source: T9, L4. */
  appendText(target: StreamTarget, text: string): Promise<void> {
    const { core, lane } = this.#session
    return new Promise((resolve, reject) => {
      const append = (): void => {
        if (core.refusal !== null) {
          this.lose()
          throw new TextLost()
        }
        if (this.#run === null || this.#run.runId !== target.runId || this.#run.hasEnded) throw new RunOver()
        core.appendText(target, text).then(resolve, reject)
      }
      lane.run(append, reject)
    })
  }

  decideAsRun(decide: (state: SessionState, context: DecideContext) => Decision): Promise<unknown> {
    const { core, lane } = this.#session
    return new Promise((resolve, reject) => {
      const decideNow = (): void => {
        if (core.refusal !== null) {
          this.lose()
          throw new HeadwaterError(core.refusal)
        }
        const decision = decide(core.state, this.#session.context())
        if (decision.kind !== 'accept') {
          if (decision.kind !== 'refuse') throw new HeadwaterError('session_busy')
          throw new HeadwaterError(decision.code, decision.message, decision.detail)
        }
        const { events, effects = [] } = decision
        // Without events `committed` may be called before `commit` returns.
        let result: unknown = events.length === 0 ? decision.result(core.state) : undefined
        const next = core.commit({
          events,
          actor: 'run',
          committed: () => {
            const settled = events.find(e => e.type === 'turn_settled')
            if (settled !== undefined) this.#ended(settled.payload.turnId)
            this.runEffects(effects)
            resolve(result)
          },
          failed: code => {
            this.lose()
            reject(new HeadwaterError(code))
          },
        })
        if (events.length > 0) result = decision.result(next)
      }
      lane.run(decideNow, reject)
    })
  }

  #ended(turnId: string): void {
    const { core } = this.#session
    core.env.crash('after_terminal')
    core.env.metrics.turnEnded(core.durable.root?.snapshot.status ?? 'unknown')
    this.#starts.forget(turnId)
    this.#session.turnMoved()
  }

  childrenOf(run: ParentRun): RunChildren | null {
    return this.#session.core.env.children?.of(run) ?? null
  }

  whenSettled(interactionId: string): Promise<InteractionOutcome> {
    return this.#settled.expect(interactionId)
  }

  forgetSettled(interactionId: string): void {
    this.#settled.forget(interactionId)
  }

  whenSteeringWaits(): Promise<void> {
    const waits = this.state.queue.some(
      ({ entry }) => entry.placement === 'current_turn' && entry.state === 'queued' && entry.heldBy === undefined,
    )
    return waits ? Promise.resolve() : this.#steering.rings
  }

  whenWritable(): Promise<void> {
    return this.#session.core.whenWritable()
  }

  #unforeseen(error: unknown): void {
    const { env, sessionId } = this.#session.core
    env.log.error({ session_id: sessionId, err: error }, 'a run failed in an unforeseen way')
  }
}

/** Delivers a stop without waiting for what it brings about: the run's own end says how it went. */
function stop(run: SessionRun, abortSource: string, cutoffMs: number): void {
  run.stop(abortSource, cutoffMs).catch(() => {})
}
