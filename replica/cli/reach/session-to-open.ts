import type { CommandContext } from '../context.ts'
import { toFailure } from '../failure.ts'
import { neverSeen, openCopiesHere } from './copies.ts'
import { byIdOrPrefix } from './id-prefix.ts'
import { resolveSession, WHOLE_ID } from './named-session.ts'

/**
 * The id of a session that a person wants to open on a screen: a whole id as it is, its beginning by asking the leader, or by the copies where
 * there is none. Throws a CliFailure where nothing, or more than one session, begins so.
 */
export async function sessionToOpen(context: CommandContext, typed: string): Promise<string> {
  if (WHOLE_ID.test(typed)) return typed
  try {
    return await resolveSession(context, await context.connect({ spawn: 'any_root', reconnect: false }), typed)
  } catch (error) {
    if (toFailure(error).code !== 'unreachable') throw error
    return sessionSeen(context, typed, error)
  }
}

async function sessionSeen(context: CommandContext, typed: string, failure: unknown): Promise<string> {
  const reader = await openCopiesHere(context).catch(() => undefined)
  if (reader === undefined) throw failure
  const get = async (sessionId: string): Promise<string> => {
    const found = await reader.session(sessionId)
    if (found === null) throw neverSeen(`Session ${sessionId} was never seen here.`, { sessionId })
    return found.session.sessionId
  }
  const listed = async function* () {
    for (const { sessionId } of await reader.catalog()) yield sessionId
  }
  return byIdOrPrefix('session', typed, get, listed)
}
