import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure } from '../failure.ts'
import { chooseBackend, createdSession, tellFallback } from '../reach/created-session.ts'
import type { RunOptions } from './options.ts'

/** The session a run happens in: the named one, the one active last, or a new one in this directory. */
export async function openRunSession(
  context: CommandContext,
  connection: LeaderConnection,
  options: RunOptions,
): Promise<string> {
  const { session } = options
  if (session.kind === 'named') return session.sessionId
  if (session.kind === 'last') {
    const limit = LIMITS.listPageSessions
    const { sessions } = await connection.request('session.list', { limit }, { signal: context.signal })
    // A child is its parent's conversation; a person goes on with their own.
    const last = sessions.find(each => each.parent === undefined) ?? sessions[0]
    if (last === undefined) {
      throw new CliFailure('not_found', 'There is no session to continue.', { next: 'headwater run TEXT' })
    }
    return last.sessionId
  }
  const chosen = await chooseBackend(context, options.backend)
  const { backend } = chosen
  const { sessionId } = await createdSession(context, connection, { cwd: context.surroundings.cwd, backend })
  context.notices.notice(`session ${sessionId}`)
  tellFallback(context, chosen)
  return sessionId
}
