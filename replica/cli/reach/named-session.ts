import type { Result } from '../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { nearest } from '../../view/nearest.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { byIdOrPrefix, sessionIds } from './id-prefix.ts'

/**
 * Runs something on a session that the person named. Where there is no such session, the failure names the nearest three.
 * Source: experience 3.1.
 */
export async function onNamedSession<T>(
  connection: LeaderConnection,
  sessionId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const failure = toFailure(error)
    if (failure.code !== 'not_found') throw error
    const near = await nearestSessions(connection, sessionId).catch(() => [])
    const hint = near.map(({ sessionId: id, title }) => (title === '' ? id : `${id} (${title})`)).join(', ')
    throw new CliFailure('not_found', `There is no session ${sessionId}.${hint === '' ? '' : ` Near it: ${hint}.`}`, {
      detail: { sessionId, nearest: near.map(({ sessionId: id, title }) => ({ sessionId: id, title })) },
    })
  }
}

/** What an id looks like that we make. */
export const WHOLE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The three sessions whose id or title is nearest to what was typed; the most recent ones where none is near, unless it is a whole id. */
async function nearestSessions(connection: LeaderConnection, typed: string): Promise<SessionHeader[]> {
  const { sessions } = await connection.request('session.list', { limit: LIMITS.listPageSessions })
  const names = new Map(
    sessions.flatMap(session => [[session.sessionId, session] as const, [session.title, session] as const]),
  )
  names.delete('')
  const near = nearest(typed, [...names.keys()], 3).map(name => names.get(name)!)
  return [...new Set(near.length > 0 || WHOLE_ID.test(typed) ? near : sessions.slice(0, 3))]
}

/** The header of a session the person named. */
export async function namedSession(
  context: CommandContext,
  connection: LeaderConnection,
  sessionId: string,
): Promise<SessionHeader> {
  return (await namedSessionOnDisk(context, connection, sessionId)).session
}

/** The header of a session the person named, and about how many bytes it takes on the disk. Source: L6. */
export function namedSessionOnDisk(
  context: CommandContext,
  connection: LeaderConnection,
  sessionId: string,
): Promise<Result<'session.get'>> {
  return onNamedSession(connection, sessionId, () =>
    connection.request('session.get', { sessionId }, { signal: context.signal }),
  )
}

/** The id of a session the person named: its own, or as many of its first characters as are unique. */
export function resolveSession(
  { signal }: Pick<CommandContext, 'signal'>,
  connection: LeaderConnection,
  typed: string,
): Promise<string> {
  return onNamedSession(connection, typed, async () => {
    const get = async (sessionId: string): Promise<string> =>
      (await connection.request('session.get', { sessionId }, { signal })).session.sessionId
    return await byIdOrPrefix('session', typed, get, () => sessionIds(connection, signal))
  })
}
