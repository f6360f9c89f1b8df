import { isTerminal } from '../../../../schema/entities/turn.ts'
import type { CommandBody } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { followSession, LOST_AFTER_MS } from '../../follow/followed-session.ts'
import { turnLine } from '../../follow/turn-end.ts'
import { newId } from '../../ids.ts'

/** `headwater interrupt`: stops the running turn and prints the messages that were taken back. */
export const body: CommandBody = async (context, { args: [sessionId = ''] }) => {
  const connection = await context.connect({ spawn: 'never' })
  const followed = await followSession(context, connection, sessionId, { lostAfterMs: LOST_AFTER_MS })
  const turn = followed.current.rootTurn
  await followed.close()
  if (turn === null) throw new CliFailure('not_found', `Session ${sessionId} has had no turn yet.`)
  const wasOver = isTerminal(turn.status)
  const { turnId, runId } = turn
  const result = await connection.request(
    'turn.interrupt',
    { sessionId, turnId, runId, interruptId: newId() },
    { signal: context.signal },
  )
  context.notices.notice(wasOver ? `nothing is running: ${turnLine(result.turn)}` : turnLine(result.turn))
  if (result.retracted.length > 0) context.notices.notice(`taken back: ${result.retracted.length}`)
  return { result, text: result.retracted.map(({ content }) => content.text).join('\n\n') }
}
