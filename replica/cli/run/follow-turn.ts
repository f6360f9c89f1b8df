import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal, type TurnSnapshot } from '../../../schema/entities/turn.ts'
import type { LeaderConnection } from '../../client/types.ts'
import type { CommandContext, EndingSignal } from '../context.ts'
import { toFailure } from '../failure.ts'
import type { FollowedSession } from '../follow/followed-session.ts'
import { isPassing } from '../follow/ledger-tail.ts'
import { createOpenInteractions } from './open-interactions.ts'
import type { RunOptions } from './options.ts'
import type { RunReport } from './report.ts'

/** A turn that this run has started. */
export interface StartedTurn {
  readonly context: CommandContext
  readonly connection: LeaderConnection
  readonly followed: FollowedSession
  readonly options: RunOptions
  readonly report: RunReport
  readonly turn: TurnSnapshot
  /** The first signal that came, if one did. */
  readonly signalled: () => EndingSignal | undefined
}

/**
 * Follows the turn to its end and gives its terminal snapshot; after a signal it is stopped first. Throws `input_needed`, `timeout` or
 * `unreachable`; the turn goes on then.
 */
export async function followTurn(started: StartedTurn): Promise<TurnSnapshot> {
  const { context, connection, followed, options, report } = started
  const interactions = createOpenInteractions({ context, connection, options, onSettled: followed.poke })
  let isStopping = false
  try {
    for (;;) {
      const projection = followed.current
      await report.changed(projection)
      const turn = await newestSnapshot(started, projection)
      if (turn !== undefined && isTerminal(turn.status)) {
        await report.changed(followed.current)
        return turn
      }
      if (started.signalled() !== undefined && !isStopping) {
        isStopping = true
        interactions.close()
        void stop(started, () => {
          isStopping = false
        })
      }
      if (!isStopping)
        interactions.look(projection.interactions.pending.filter(each => each.turnId === started.turn.turnId))
      await followed.changed()
    }
  } finally {
    interactions.close()
  }
}

/** The turn as the view shows it; asked for where the view shows another turn. Undefined: not known right now. */
async function newestSnapshot(started: StartedTurn, projection: SessionProjection): Promise<TurnSnapshot | undefined> {
  const { sessionId, turnId } = started.turn
  if (projection.rootTurn?.turnId === turnId) return projection.rootTurn
  try {
    return await started.connection.queryTurn({ sessionId, turnId }, { signal: started.context.signal })
  } catch (error) {
    if (started.context.signal.aborted) throw started.context.signal.reason
    if (isPassing(error)) return undefined
    throw error
  }
}

/** Asks for the turn's stop; the view then shows its end. Without a connection it is tried again at the next change. */
async function stop(started: StartedTurn, again: () => void): Promise<void> {
  const { sessionId, turnId, runId } = started.turn
  started.context.notices.notice('stopping the turn; once more leaves it to itself')
  try {
    await started.connection.stopTurn({ sessionId, turnId, runId })
  } catch (error) {
    if (isPassing(error)) again()
    else started.context.notices.notice(`the turn could not be stopped: ${toFailure(error).message}`)
  }
  started.followed.poke()
}
