import type { TranscriptEntry } from '../../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../../schema/entities/turn.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import { byteText } from '../../../view/byte-text.ts'
import type { CommandBody } from '../../context.ts'
import { toFailure } from '../../failure.ts'
import { formatEntries } from '../../follow/entry-text.ts'
import { renderFields } from '../../output/fields.ts'
import { namedSessionOnDisk, resolveSession } from '../../reach/named-session.ts'
import { headerFields } from './header-fields.ts'

const DEFAULT_LIMIT = 100
/** Turns asked for at the same time. */
const TURNS_ASKED = 16

/** `headwater session show`: header on stderr, transcript on stdout. */
export const body: CommandBody = async (context, { args: [typed = ''], options }) => {
  const limit = (options.limit as number | undefined) ?? DEFAULT_LIMIT
  if (options.offline === true) {
    const { showOffline } = await import('./show-offline.ts')
    return showOffline(context, typed, limit)
  }
  const connection = await context.connect({ spawn: 'known_root' })
  const sessionId = await resolveSession(context, connection, typed)
  // The header is read once the session was opened, since that is when damage is found. Source: D1.
  const { session, bytes, entries, hasMore } = await whileOpen(connection, sessionId, async () => {
    const { session, bytes = 0 } = await namedSessionOnDisk(context, connection, sessionId)
    return { session, bytes, ...(await newestEntries(connection, sessionId, limit)) }
  })
  const size = bytes === 0 ? [] : [['on disk', byteText(bytes)] as const]
  context.notices.notice(renderFields(context.out, [...headerFields(session), ...size]))
  if (hasMore) context.notices.notice(`the newest ${entries.length} entries; more with --limit`)
  const turns = await readTurns(connection, sessionId, entries)
  return { result: { session, bytes, transcript: { entries, hasMore }, turns }, text: formatEntries(entries, turns) }
}

/** Opens the session meanwhile, so that a copy of it is kept for reading offline. One that cannot be opened can still be read. Source: O1. */
async function whileOpen<T>(connection: LeaderConnection, sessionId: string, work: () => Promise<T>): Promise<T> {
  const opened = await connection.openSessionSubscription({ sessionId }).catch(() => undefined)
  try {
    return await work()
  } finally {
    await opened?.close().catch(() => {})
  }
}

/** The turns of these entries, in order, as they stand. */
async function readTurns(
  connection: LeaderConnection,
  sessionId: string,
  entries: readonly TranscriptEntry[],
): Promise<readonly TurnSnapshot[]> {
  const turns: TurnSnapshot[] = []
  const turnIds = [...new Set(entries.map(({ turnId }) => turnId))]
  for (let i = 0; i < turnIds.length; i += TURNS_ASKED) {
    const asked = turnIds.slice(i, i + TURNS_ASKED)
    const found = await Promise.all(asked.map(turnId => readTurn(connection, sessionId, turnId)))
    turns.push(...found.flatMap(turn => turn ?? []))
  }
  return turns
}

/** Null for a turn that is not this session's: what was planted or copied into it may name others. */
async function readTurn(connection: LeaderConnection, sessionId: string, turnId: string): Promise<TurnSnapshot | null> {
  try {
    return await connection.queryTurn({ sessionId, turnId })
  } catch (error) {
    if (toFailure(error).code === 'not_found') return null
    throw error
  }
}

async function newestEntries(
  connection: LeaderConnection,
  sessionId: string,
  limit: number,
): Promise<{ entries: TranscriptEntry[]; hasMore: boolean }> {
  const pages: TranscriptEntry[][] = []
  let count = 0
  let before: number | undefined
  let hasMore = true
  while (hasMore && count < limit) {
    const page = await connection.transcript(sessionId, {
      limit: Math.min(limit - count, LIMITS.transcriptPageEntries),
      ...(before === undefined ? {} : { before }),
    })
    if (page.entries.length === 0) return { entries: pages.reverse().flat(), hasMore: false }
    pages.push([...page.entries])
    count += page.entries.length
    before = page.firstSeq
    hasMore = page.hasMore
  }
  return { entries: pages.reverse().flat(), hasMore }
}
