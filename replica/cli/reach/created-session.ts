import type { Input } from '../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { LeaderConnection } from '../../client/types.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { newId } from '../ids.ts'
import { FALLBACK_BACKEND, readConfig } from '../input/config.ts'
import { placesHere } from './here.ts'

/** What executes a new session. `isFallback`: neither the command nor the configuration named it. */
interface ChosenBackend {
  readonly backend: string
  readonly isFallback: boolean
}

/** The backend of a new session: the named one, else the user's own choice, else the built-in one. */
export async function chooseBackend(context: CommandContext, named: string | undefined): Promise<ChosenBackend> {
  const backend = named ?? (await readConfig(context)).defaultBackend
  return { backend: backend ?? FALLBACK_BACKEND, isFallback: backend === undefined }
}

/** A person who has not configured an agent is told so: the built-in backend answers with their own words. */
export function tellFallback({ notices }: CommandContext, { isFallback }: ChosenBackend): void {
  if (isFallback) notices.notice('no agent is configured: the built-in scripted backend echoes (see headwater paths)')
}

/** Makes a session; where its backend is unknown to the leader, the failure says how it gets to know it. */
export async function createdSession(
  context: CommandContext,
  connection: LeaderConnection,
  input: Omit<Input<'session.create'>, 'sessionId'>,
): Promise<SessionHeader> {
  try {
    const { session } = await connection.createSession({ sessionId: newId(), ...input }, { signal: context.signal })
    return session
  } catch (error) {
    const failure = toFailure(error)
    const path = (failure.detail as { path?: unknown } | undefined)?.path
    if (failure.code !== 'invalid_request' || path !== 'backend') throw error
    const next = await stepTowards(context, input.backend)
    throw new CliFailure('invalid_request', failure.message, { detail: failure.detail, next })
  }
}

/** A leader reads the configuration when it starts, so that a name may be written down and still be unknown. */
async function stepTowards(context: CommandContext, backend: string): Promise<string> {
  const { backends = {} } = await readConfig(context)
  const restart = 'headwater stop, then the same again; a leader reads the configuration when it starts'
  if (context.flags.url === undefined && Object.hasOwn(backends, backend)) return restart
  const file = context.flags.url === undefined ? placesHere(context.surroundings.env).configFile : 'its config.jsonc'
  return `name it under "backends" in ${file}, then restart the leader`
}
