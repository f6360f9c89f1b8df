import type { LeaderConnection } from '../../client/types.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure } from '../failure.ts'
import { newId } from '../ids.ts'
import { FALLBACK_BACKEND, readConfig } from '../input/config.ts'
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
  const backend = options.backend ?? (await readConfig(context)).defaultBackend ?? FALLBACK_BACKEND
  const created = await connection.createSession(
    { sessionId: newId(), cwd: context.surroundings.cwd, backend },
    { signal: context.signal },
  )
  context.notices.notice(`session ${created.session.sessionId}`)
  return created.session.sessionId
}
