import type { TranscriptEntry } from '../../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import type { CommandBody } from '../../context.ts'
import { formatEntries } from '../../follow/entry-text.ts'
import { renderFields } from '../../output/fields.ts'
import { namedSession } from '../../reach/named-session.ts'

const DEFAULT_LIMIT = 100

/** `headwater session show`: header on stderr, transcript on stdout. */
export const body: CommandBody = async (context, { args: [sessionId = ''], options }) => {
  const connection = await context.connect({ spawn: 'known_root' })
  const session = await namedSession(context, connection, sessionId)
  const limit = (options.limit as number | undefined) ?? DEFAULT_LIMIT
  const { entries, hasMore } = await newestEntries(connection, sessionId, limit)
  context.notices.notice(
    renderFields(context.out, [
      ['title', session.title],
      ['status', session.isArchived ? `${session.status}, archived` : session.status],
      ['backend', session.backend],
      ['cwd', session.cwd],
    ]),
  )
  if (hasMore) context.notices.notice(`the newest ${entries.length} entries; more with --limit`)
  return { result: { session, transcript: { entries, hasMore } }, text: formatEntries(entries) }
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
