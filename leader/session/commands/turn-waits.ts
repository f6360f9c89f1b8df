import { isTerminal, type TurnSnapshot } from '../../../schema/entities/turn.ts'

interface Wait {
  readonly turnId: string
  readonly until: 'started' | 'ended'
  /** False: it will not come about in this process. */
  readonly call: (isReached: boolean) => void
}

/** Replies that wait for a turn to start or to end. Source: T1, T8. */
export class TurnWaits {
  #waits: Wait[] = []

  get isEmpty(): boolean {
    return this.#waits.length === 0
  }

  add(wait: Wait): void {
    this.#waits.push(wait)
  }

  /**
   * Calls back whoever got what they waited for. `newest` is the durable snapshot of the newest root turn; an older turn has ended.
   * A turn in `queued` waits for a place, which counts as started. Source: E9.
   */
  check(newest: TurnSnapshot | null, queued: string | null): void {
    if (this.#waits.length === 0) return
    const isDone = ({ turnId, until }: Wait): boolean => {
      if (newest === null || newest.turnId !== turnId) return true
      if (isTerminal(newest.status)) return true
      return until === 'started' && (newest.status !== 'admitted' || queued === turnId)
    }
    const done = this.#waits.filter(isDone)
    if (done.length === 0) return
    this.#waits = this.#waits.filter(wait => !done.includes(wait))
    for (const { call } of done) call(true)
  }

  /** Calls back everyone: nothing will come about any more. */
  giveUp(): void {
    for (const { call } of this.#waits.splice(0)) call(false)
  }
}
