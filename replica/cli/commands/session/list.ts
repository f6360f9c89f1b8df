import type { SessionHeader } from '../../../../schema/entities/session.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { branchMark, inTree } from '../../../view/session-tree.ts'
import { sessionWords } from '../../../view/words.ts'
import type { CommandBody } from '../../context.ts'
import { formatInstant } from '../../output/fields.ts'
import { renderTable } from '../../output/table.ts'

const DEFAULT_LIMIT = 30

/**
 * `headwater session list`: `--json` gives one page of the leader's shape, with the cursor for the next. Children stand below their parent,
 * in a terminal with a mark before them; elsewhere a field is an id and nothing else. Source: T13.
 */
export const body: CommandBody = async (context, { options }) => {
  const connection = await context.connect({ spawn: 'known_root' })
  const limit = Math.max(1, (options.limit as number | undefined) ?? DEFAULT_LIMIT)
  const sessions: SessionHeader[] = []
  let cursor = (options.cursor as string | undefined) ?? null
  do {
    const page = await connection.request(
      'session.list',
      {
        limit: Math.min(limit - sessions.length, LIMITS.listPageSessions),
        ...(cursor === null ? {} : { cursor }),
        ...(options.archived === true ? { archived: true } : {}),
      },
      { signal: context.signal },
    )
    sessions.push(...page.sessions)
    cursor = page.nextCursor
  } while (cursor !== null && sessions.length < limit)
  if (sessions.length === 0) context.notices.notice('no sessions')
  else if (cursor !== null) context.notices.notice(`the newest ${sessions.length}; more with --limit`)
  const isTerminal = context.out.columns !== undefined
  const text = renderTable(
    [
      { heading: 'SESSION', canShrink: false },
      { heading: 'STATUS' },
      { heading: 'ACTIVE' },
      { heading: 'BACKEND' },
      { heading: 'TITLE', canShrink: true },
    ],
    inTree(sessions).map(({ session, depth }) => [
      `${isTerminal ? branchMark(depth) : ''}${session.sessionId}`,
      sessionWords(session.status),
      formatInstant(session.lastActivityAt),
      session.backend,
      session.title,
    ]),
    context.out.columns,
  )
  return { result: { kind: 'page', sessions, nextCursor: cursor }, text: sessions.length === 0 ? '' : text }
}
