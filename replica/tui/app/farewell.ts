import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { commandText, type Place } from '../../view/command-text.ts'
import { titleOf } from '../../view/session-list.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { turnWords } from '../../view/words.ts'

/**
 * What is printed after leaving: the session, what goes on without this window, and the command that comes back.
 * Source: experience 1.1, 7.3.
 */
export function farewellOf(projection: SessionProjection | null, place: Place): readonly string[] {
  if (projection === null) return [commandText('To come back: headwater tui', place)]
  const { session, rootTurn, queue } = projection
  const waiting = queue.steering.length + queue.followup.length
  const state =
    rootTurn === null
      ? 'nothing ran yet'
      : isTerminal(rootTurn.status)
        ? `the last turn ${turnWords(rootTurn.status)}`
        : `the turn keeps running${rootTurn.status === 'waiting_for_user' ? ' and waits for an answer' : ''}`
  const queued = waiting === 0 ? '' : `, ${waiting} ${waiting === 1 ? 'message waits' : 'messages wait'}`
  return [
    `${terminalLine(titleOf(session))}: ${state}${queued}`,
    commandText(`To come back: headwater tui -s ${session.sessionId}`, place),
  ]
}
