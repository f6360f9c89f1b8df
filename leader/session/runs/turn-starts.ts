import { isChildTurn } from '../../domain/decide/child/start.ts'
import { decideRunStart } from '../../domain/decide/run.ts'
import { activeTurn } from '../../domain/state.ts'
import type { RunDeskSession } from './desk-session.ts'
import { PARENTS_PLACE, type RunPlace } from './run-slots.ts'

/** What starting a turn leads to. */
export interface TurnStartsTarget {
  /** A start that could not be stored may be tried again. */
  startAgain(turnId: string): void
  /** The run is recorded, and has this place. */
  launch(turnId: string, place: RunPlace): void
  /** The leader stops: the turn ends without having begun. Source: E6, X14. */
  endAsShutDown(turnId: string): void
  unforeseen(error: unknown): void
}

/** Brings an admitted turn to its run: it waits for a place, then for its record to be durable. Source: T1, E9, T13. */
export class TurnStarts {
  readonly #session: RunDeskSession
  readonly #target: TurnStartsTarget
  /** The admitted turn that waits: for a place, or (without one) until its start can be stored. */
  #queued: { readonly turnId: string; readonly place: RunPlace | null } | null = null

  constructor(session: RunDeskSession, target: TurnStartsTarget) {
    this.#session = session
    this.#target = target
  }

  /** The admitted turn that waits for a place, or for the storage. Source: E9. */
  get queuedTurnId(): string | null {
    return this.#queued?.turnId ?? null
  }

  /** A child has its parent's place. */
  start(turnId: string): void {
    const { core } = this.#session
    const turn = activeTurn(core.state)
    if (turn?.admission.turnId === turnId && isChildTurn(turn.admission)) {
      this.#begin(turnId, PARENTS_PLACE)
      return
    }
    const place = core.env.slots.take(taken => this.#begin(turnId, taken))
    if (!place.isWaiting) return
    this.#queued = { turnId, place }
    this.#session.turnMoved()
  }

  /** The turn has ended: it waits no more. */
  forget(turnId: string): void {
    if (this.#queued?.turnId !== turnId) return
    this.#queued.place?.leave()
    this.#queued = null
  }

  #begin(turnId: string, place: RunPlace): void {
    if (this.#queued?.turnId === turnId) this.#queued = null
    const { lane, core } = this.#session
    const decide = (): void => {
      if (core.refusal !== null) {
        place.leave()
        this.#startWhenWritable(turnId)
        return
      }
      const decision = decideRunStart(core.state, turnId, this.#session.context())
      const isDraining = core.env.isDraining()
      if (isDraining || decision.kind !== 'accept') {
        place.leave()
        if (decision.kind === 'accept') this.#target.endAsShutDown(turnId)
        return
      }
      core.commit({
        events: decision.events,
        actor: 'leader',
        committed: () => this.#target.launch(turnId, place),
        failed: () => {
          place.leave()
          this.#startWhenWritable(turnId)
        },
      })
    }
    lane.run(decide, error => {
      place.leave()
      this.#target.unforeseen(error)
    })
  }

  /** A start that could not be stored is tried again when the storage is well; until then the turn is seen to wait. */
  #startWhenWritable(turnId: string): void {
    this.#queued ??= { turnId, place: null }
    this.#session.turnMoved()
    this.#session.core.whenWritable().then(
      () => {
        if (this.#queued?.turnId === turnId) this.#queued = null
        this.#target.startAgain(turnId)
      },
      () => {},
    )
  }
}
