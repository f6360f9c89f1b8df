import type { Result } from '../../../schema/commands/index.ts'
import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { isEntityId } from '../../../schema/ids.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'

/** Characters of an id that are enough to look for it. */
const LEAST_PREFIX = 4

/** Ids that begin alike and are listed, at most. */
const CANDIDATES = 10

/**
 * What has this id; else what alone has an id that begins so. Throws what `get` throws where there is neither, and `invalid_request` with the
 * candidates where there are several. Source: experience 3.1.
 */
export async function byIdOrPrefix<T>(
  what: string,
  typed: string,
  get: (id: string) => Promise<T>,
  ids: () => AsyncIterable<string>,
): Promise<T> {
  try {
    return await get(typed)
  } catch (error) {
    if (toFailure(error).code !== 'not_found' || typed.length < LEAST_PREFIX) throw error
    const found = new Set<string>()
    for await (const id of ids()) {
      if (id.startsWith(typed)) found.add(id)
      if (found.size > CANDIDATES) break
    }
    const only = uniqueOf(what, typed, [...found])
    if (only === undefined) throw error
    return await get(only)
  }
}

/** An interaction the person named: by its id, or while it is pending by as many of its first characters as are unique. */
export async function namedInteraction(
  { signal }: Pick<CommandContext, 'signal'>,
  connection: LeaderConnection,
  typed: string,
): Promise<InteractionSnapshot> {
  const get = (interactionId: string): Promise<InteractionSnapshot> =>
    connection.request('interaction.query', { interactionId }, { signal })
  return await byIdOrPrefix('interaction', typed, get, () => interactionIds(connection, signal))
}

/** The id of a session the person named in the same way, where no leader runs. */
export async function resolveStored(
  store: { findSessions(prefix: string, limit: number): Promise<readonly string[]> },
  typed: string,
): Promise<string> {
  const found = isEntityId(typed) ? await store.findSessions(typed, CANDIDATES + 1) : []
  const only = found.includes(typed) ? typed : uniqueOf('session', typed, found)
  if (only !== undefined) return only
  throw new CliFailure('not_found', `There is no session ${typed}.`, { detail: { sessionId: typed } })
}

function uniqueOf(what: string, typed: string, found: readonly string[]): string | undefined {
  if (typed.length < LEAST_PREFIX) return undefined
  if (found.length < 2) return found[0]
  const shown = found.toSorted().slice(0, CANDIDATES)
  const more = found.length > shown.length ? ' and more' : ''
  throw new CliFailure('invalid_request', `Several ${what}s begin with ${typed}: ${shown.join(', ')}${more}.`, {
    detail: { typed, candidates: shown },
  })
}

/** The ids of all sessions, archived ones last, as far as lists of them are read. */
export async function* sessionIds(connection: LeaderConnection, signal: AbortSignal): AsyncGenerator<string> {
  for await (const { sessionId } of allSessions(connection, signal)) yield sessionId
}

/** All sessions, archived ones last, as far as lists of them are read. */
export async function* allSessions(connection: LeaderConnection, signal: AbortSignal): AsyncGenerator<SessionHeader> {
  for (const archived of [false, true]) {
    let cursor: string | null | undefined
    for (let page = 0; page < LIMITS.listedPages && cursor !== null; page++) {
      const input = { limit: LIMITS.listPageSessions, archived, ...(cursor === undefined ? {} : { cursor }) }
      const result: Result<'session.list'> = await connection.request('session.list', input, { signal })
      yield* result.sessions
      cursor = result.nextCursor
    }
  }
}

async function* interactionIds(connection: LeaderConnection, signal: AbortSignal): AsyncGenerator<string> {
  let cursor: string | null | undefined
  for (let page = 0; page < LIMITS.listedPages && cursor !== null; page++) {
    const input = cursor === undefined ? {} : { cursor }
    const result: Result<'interaction.list'> = await connection.request('interaction.list', input, { signal })
    for (const { interactionId } of result.interactions) yield interactionId
    cursor = result.nextCursor
  }
}
