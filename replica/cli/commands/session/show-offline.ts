import type { OfflineReader } from '../../../cache/offline-reader.ts'
import type { CommandContext, Outcome } from '../../context.ts'
import { formatEntries } from '../../follow/entry-text.ts'
import { formatInstant, renderFields } from '../../output/fields.ts'
import { neverSeen, openCopiesHere } from '../../reach/copies.ts'
import { byIdOrPrefix } from '../../reach/id-prefix.ts'
import { headerFields } from './header-fields.ts'

/** `headwater session show --offline`: the session as it was last seen here, without any leader. Source: O2. */
export async function showOffline(context: CommandContext, typed: string, limit: number): Promise<Outcome> {
  const reader = await openCopiesHere(context)
  const get = (sessionId: string) => readSession(reader, sessionId)
  const { session, freshness, rootTurn } = await byIdOrPrefix('session', typed, get, () => listedIds(reader))
  const { entries, hasMore } = await reader.transcript(session.sessionId, { limit: Math.max(1, limit) })
  const seen = freshness.asOf === null ? 'offline' : `offline, as of ${formatInstant(freshness.asOf)}`
  context.notices.notice(renderFields(context.out, [...headerFields(session), ['seen', seen]]))
  if (hasMore) context.notices.notice(`the newest ${entries.length} entries of what was read here`)
  const turns = rootTurn === null ? [] : [rootTurn]
  return {
    result: { session, freshness, transcript: { entries, hasMore }, turns },
    text: formatEntries(entries, turns),
  }
}

async function readSession(reader: OfflineReader, sessionId: string) {
  const found = await reader.session(sessionId)
  if (found === null) throw neverSeen(`Session ${sessionId} was never seen here.`, { sessionId })
  return found
}

/** The sessions of the list, if that was seen too. */
async function* listedIds(reader: OfflineReader): AsyncGenerator<string> {
  for (const { sessionId } of await reader.catalog()) yield sessionId
}
