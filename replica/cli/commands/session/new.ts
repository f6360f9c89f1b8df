import { resolve } from 'node:path'
import type { CommandBody } from '../../context.ts'
import { chooseBackend, createdSession, tellFallback } from '../../reach/created-session.ts'

/** `headwater session new`: prints the id. */
export const body: CommandBody = async (context, { options }) => {
  const chosen = await chooseBackend(context, options.backend as string | undefined)
  const connection = await context.connect({ spawn: 'any_root' })
  const session = await createdSession(context, connection, {
    cwd: resolve(context.surroundings.cwd, (options.cwd as string | undefined) ?? '.'),
    backend: chosen.backend,
    ...(options.title === undefined ? {} : { title: options.title as string }),
    ...(options.plan === true ? { collaborationMode: 'plan' as const } : {}),
  })
  tellFallback(context, chosen)
  return { result: { session }, text: session.sessionId }
}
