import type { Input, Result } from '../../../schema/commands/index.ts'
import type { LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { CliFailure, toFailure } from '../failure.ts'
import type { PlanItem, SessionSource, SourceArtifact } from './source.ts'

/** A session read at its leader. */
export function leaderSource(connection: LeaderConnection, sessionId: string, signal: AbortSignal): SessionSource {
  const options = { signal }
  const page = (after: number, limit: number): Promise<Result<'ledger.page'>> =>
    connection.request('ledger.page', { sessionId, after, limit }, options)
  return {
    sessionId,
    rootId: connection.rootId,
    by: 'leader',
    head: () => newestRecord(page),
    header: async () => (await connection.request('session.get', { sessionId }, options)).session,
    records: revision => recordsThrough(page, revision),
    transcript: wanted => connection.transcript(sessionId, wanted),
    turn: turnId => orNull(connection.queryTurn({ sessionId, turnId }, options)),
    plans: () => readPlans(connection, sessionId, signal),
    artifact: hash => readArtifact(connection, hash, signal),
  }
}

/** Reads a page of a session's ledger: at most `limit` records after a revision. */
export type Page = (after: number, limit: number) => Promise<Result<'ledger.page'>>

/** The newest record, looked for in ever larger steps and then between the last two of them. */
export async function newestRecord(page: Page): Promise<{ readonly revision: number; readonly hash: string }> {
  const next = async (after: number): Promise<LedgerRecord | undefined> =>
    (await page(after, 1)).records[0] as LedgerRecord | undefined
  let newest = await next(0)
  let step = 1
  let end = Number.POSITIVE_INFINITY
  if (newest === undefined) throw new CliFailure('not_found', 'The session has no records.')
  while (newest.revision + 1 < end) {
    const after: number = Number.isFinite(end)
      ? newest.revision + Math.floor((end - newest.revision) / 2) - 1
      : newest.revision + step - 1
    const found: LedgerRecord | undefined = await next(Math.max(after, newest.revision))
    if (found === undefined) end = Math.max(after, newest.revision) + 1
    else newest = found
    step *= 2
  }
  return { revision: newest.revision, hash: newest.hash }
}

/** The records after one revision through another, in order, page by page. */
export async function* recordsThrough(page: Page, revision: number, from = 0): AsyncGenerator<LedgerRecord> {
  for (let after = from; after < revision; ) {
    const { records } = await page(after, LIMITS.ledgerPageRecords)
    for (const record of records as LedgerRecord[]) if (record.revision <= revision) yield record
    const last = records.at(-1)
    if (last === undefined) return
    after = last.revision
  }
}

async function* readPlans(
  connection: LeaderConnection,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<PlanItem> {
  let input: Input<'plan.query'> = { kind: 'list_start', sessionId }
  for (;;) {
    const page: Result<'plan.query'> = await connection.queryPlan(input, { signal })
    if (page.kind === 'revision_changed') return
    yield* page.items
    if (page.nextCursor === null) return
    input = { kind: 'list_continue', sessionId, storeVersion: page.storeVersion, cursor: page.nextCursor }
  }
}

async function readArtifact(
  connection: LeaderConnection,
  hash: string,
  signal: AbortSignal,
): Promise<SourceArtifact | undefined> {
  const meta = await orNull(connection.request('artifact.get', { hash }, { signal }))
  return meta === null ? undefined : { ...meta, pieces: connection.artifact(hash) }
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (toFailure(error).code === 'not_found') return null
    throw error
  }
}
