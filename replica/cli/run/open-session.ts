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
    const page = await connection.request('session.list', { limit: 1 }, { signal: context.signal })
    const last = page.sessions[0]
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
