import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { decideChildStop } from '../../domain/decide/child/stop.ts'
import type { ChildRun } from '../../execution/backend.ts'
import type { SessionRegistry } from '../registry.ts'
import type { SessionLoop } from '../session-loop.ts'
import { readAnswer } from './answer.ts'
import { decideInLane } from './in-lane.ts'

/** Which turn of which child session, and whose it is. */
export interface ChildTurn {
  readonly turnId: string
  readonly runId: string
  readonly agentId: string
  readonly agentName: string
}

/** A child's turn that was admitted for a run of its parent. Source: T13. */
export class LinkedChildRun implements ChildRun {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly agentId: string
  readonly agentName: string
  readonly ended: Promise<TurnSnapshot>
  readonly #sessions: SessionRegistry

  constructor(sessions: SessionRegistry, loop: SessionLoop, turn: ChildTurn) {
    this.#sessions = sessions
    this.sessionId = loop.sessionId
    this.turnId = turn.turnId
    this.runId = turn.runId
    this.agentId = turn.agentId
    this.agentName = turn.agentName
    this.ended = this.#whenEnded(loop)
  }

  answer(): Promise<string> {
    return this.#sessions.using(this.sessionId, loop => readAnswer(loop, this.turnId))
  }

  async stop(): Promise<void> {
    await this.stopAs('parent_stopped')
  }

  /** Delivers the stop; resolves when the turn has ended. Never rejects. */
  async stopAs(abortSource: string): Promise<void> {
    const { turnId, runId } = this
    await this.#sessions
      .using(this.sessionId, async loop => {
        try {
          await decideInLane(loop, (state, context) => decideChildStop(state, { turnId, runId, abortSource }, context))
        } catch {
          // What cannot be stored now is stored with the run's end, which is tried again.
          loop.runEffects([{ kind: 'stop_run', turnId, runId, abortSource }])
        }
      })
      .catch(() => {})
    await this.ended
  }

  /** Where the end cannot be stored in this process any more, the snapshot is the last one that was. */
  async #whenEnded(loop: SessionLoop): Promise<TurnSnapshot> {
    const { sessionId, turnId, runId } = this
    await waitFor(loop, turnId, 'ended')
    const found = await Promise.resolve(loop.snapshotOf(turnId)).catch(() => null)
    return found ?? { sessionId, turnId, runId, status: 'admitted' }
  }
}

/** Resolves when the turn has started or ended, or never will in this process. */
export function waitFor(loop: SessionLoop, turnId: string, until: 'started' | 'ended'): Promise<void> {
  return new Promise(resolve => {
    loop.waits.add({ turnId, until, call: () => resolve() })
    loop.turnMoved()
    if (loop.core.refusal === 'storage_fault') loop.waits.giveUp()
  })
}
