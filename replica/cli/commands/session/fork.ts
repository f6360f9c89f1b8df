import { isTerminal } from '../../../../schema/entities/turn.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { followSession, LOST_AFTER_MS } from '../../follow/followed-session.ts'
import { newId } from '../../ids.ts'
import { resolveSession } from '../../reach/named-session.ts'

/** `headwater session fork`: prints the id of the new session. Source: S6. */
export const body: CommandBody = async (context, { args: [typed = ''], options }) => {
  const connection = await context.connect({ spawn: 'known_root' })
  const sessionId = await resolveSession(context, connection, typed)
  const newest = await newestEndedTurn(context, connection, sessionId)
  const fromTurnId = (options.at as string | undefined) ?? newest
  if (fromTurnId === null) throw new CliFailure('not_found', `No turn of session ${sessionId} has ended yet.`)
  const input = { sessionId, fromTurnId, newSessionId: newId() }
  const result = await connection.request('session.fork', input, { signal: context.signal })
  return { result, text: result.session.sessionId }
}

/** The newest root turn, or the one before it while that runs. */
async function newestEndedTurn(
  context: CommandContext,
  connection: LeaderConnection,
  sessionId: string,
): Promise<string | null> {
  const followed = await followSession(context, connection, sessionId, { lostAfterMs: LOST_AFTER_MS })
  const { rootTurn } = followed.current
  await followed.close()
  if (rootTurn === null || isTerminal(rootTurn.status)) return rootTurn?.turnId ?? null
  const page = { sessionId, limit: LIMITS.transcriptPageEntries }
  const { entries } = await connection.request('transcript.page', page, { signal: context.signal })
  return entries.findLast(({ turnId }) => turnId !== rootTurn.turnId)?.turnId ?? null
}
