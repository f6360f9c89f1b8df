import { handOn } from '../../domain/decide/admission.ts'
import { activeTurn } from '../../domain/state.ts'
import type { RunDeskSession } from './desk-session.ts'

/** What handing a queue on leads to. */
export interface HandOnTarget {
  /** The successor turn is admitted. */
  admitted(turnId: string): void
  unforeseen(error: unknown): void
}

/**
 * What waits becomes the successor turn. The entries stay in the queue until then: whatever goes wrong, they are handed on when the storage is
 * well. Source: Q7, T12, E7.
 */
export function handOnQueue(session: RunDeskSession, target: HandOnTarget): void {
  const { core, lane } = session
  const retry = (): void =>
    void core.whenWritable().then(
      () => handOnQueue(session, target),
      () => {},
    )
  const decide = (): void => {
    if (activeTurn(core.state) !== null || core.env.isDraining()) return
    if (core.refusal !== null) {
      retry()
      return
    }
    const context = session.context()
    const events = handOn(core.state, context)
    if (events === null) return
    core.commit({
      events,
      actor: 'leader',
      committed: () => {
        core.env.crash('after_admission')
        target.admitted(context.freshTurnId)
      },
      failed: retry,
    })
  }
  lane.run(decide, error => target.unforeseen(error))
}
