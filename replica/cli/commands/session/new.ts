import { resolve } from 'node:path'
import type { CommandBody } from '../../context.ts'
import { newId } from '../../ids.ts'
import { FALLBACK_BACKEND, readConfig } from '../../input/config.ts'

/** `headwater session new`: prints the id. */
export const body: CommandBody = async (context, { options }) => {
  const backend =
    (options.backend as string | undefined) ?? (await readConfig(context)).defaultBackend ?? FALLBACK_BACKEND
  const connection = await context.connect({ spawn: 'any_root' })
  const { session } = await connection.createSession(
    {
      sessionId: newId(),
      cwd: resolve(context.surroundings.cwd, (options.cwd as string | undefined) ?? '.'),
      backend,
      ...(options.title === undefined ? {} : { title: options.title as string }),
      ...(options.plan === true ? { collaborationMode: 'plan' as const } : {}),
    },
    { signal: context.signal },
  )
  return { result: { session }, text: session.sessionId }
}
