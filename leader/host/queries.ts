import type { Input, Result } from '../../schema/commands/index.ts'
import type { InteractionSnapshot } from '../../schema/entities/interaction.ts'
import type { PlanProjection } from '../../schema/entities/projection.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import type { LedgerRecord } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import { utf8Bytes } from '../../schema/text.ts'
import type { SessionState } from '../domain/state.ts'
import type { Store } from '../log/store.ts'
import type { SessionCore } from '../session/core/session-core.ts'
import { readTranscriptBefore } from '../session/history.ts'
import { walkLedger } from '../session/ledger/ledger-walk.ts'
import { isDeleted } from '../session/load.ts'
import { countFitting, PageRoom } from '../session/page-room.ts'
import type { StoredReceipt } from '../session/receipts.ts'
import { checkpointOf, decodeJson, decodeRecord } from '../session/record.ts'
import type { SessionRegistry } from '../session/registry.ts'
import { activityKey, type SessionRow, type TurnRow } from '../session/rows.ts'
import { type PlanSource, planPage } from './plan-pages.ts'
import { taskPage } from './task-pages.ts'

/** A query's answer, and the session's revision at which it was computed. */
export interface Answer<T> {
  readonly result: T
  readonly revision?: number
}

/** Commands whose receipts outlive their session. Source: S5. */
const KEPT_OPERATIONS: ReadonlySet<string> = new Set(['session.create', 'session.fork', 'session.delete'])

/** Questions that change nothing. They read what is durable, outside the lanes. Errors are thrown as HeadwaterError. Source: A2, S8. */
export class Queries {
  readonly #store: Store
  readonly #sessions: SessionRegistry
  #newestProved: SessionState | null = null

  constructor(store: Store, sessions: SessionRegistry) {
    this.#store = store
    this.#sessions = sessions
  }

  /** Refuses what is asked of a deleted session, whatever its purge has left. Source: S5. */
  async assertNotDeleted(sessionId: string): Promise<void> {
    if (await isDeleted(this.#store, sessionId)) throw new HeadwaterError('not_found', 'there is no such session')
  }

  async sessionGet({ sessionId }: Input<'session.get'>): Promise<Answer<Result<'session.get'>>> {
    const header = await this.#header(sessionId)
    if (header === null) throw new HeadwaterError('not_found', 'there is no such session')
    return { result: { session: header, bytes: await this.#store.sizeOf(sessionId) } }
  }

  /** Source: S7. */
  async sessionList(input: Input<'session.list'>): Promise<Answer<Result<'session.list'>>> {
    const { limit = LIMITS.listPageSessions, cursor, archived = false } = input
    const prefix = archived ? 'a.' : 'u.'
    if (cursor !== undefined && !cursor.startsWith(prefix)) {
      throw new HeadwaterError('invalid_request', 'cursor: is not one of this list', { path: 'cursor' })
    }
    const found = await this.#store.rows('activity', '', { after: cursor ?? prefix, limit: limit + 1 })
    const rows = found.filter(row => row.id.startsWith(prefix))
    const sessions: SessionHeader[] = []
    const room = new PageRoom()
    let read = 0
    for (const row of rows.slice(0, limit)) {
      const header = await this.#header(decodeJson<string>(row.value))
      const isShown = header !== null && (await this.#isPlaceOf(row.id, header))
      if (isShown && !room.take(utf8Bytes(JSON.stringify(header)))) break
      if (isShown) sessions.push(header)
      read += 1
    }
    const nextCursor = rows.length > read ? (rows[read - 1]?.id ?? null) : null
    return { result: { kind: 'page', sessions, nextCursor } }
  }

  /** False for a place that its session has left and that was not cleared. One that moved since the page was read is shown here still. */
  async #isPlaceOf(place: string, header: SessionHeader): Promise<boolean> {
    return activityKey(header) === place || (await this.#store.row('activity', '', place)) === undefined
  }

  async turnQuery({ sessionId, turnId }: Input<'turn.query'>): Promise<Answer<Result<'turn.query'>>> {
    const row = await this.#store.row('turn', sessionId, turnId)
    if (row === undefined) throw new HeadwaterError('not_found', 'there is no such turn')
    return { result: decodeJson<TurnRow>(row).snapshot }
  }

  async interactionQuery(input: Input<'interaction.query'>): Promise<Answer<Result<'interaction.query'>>> {
    const snapshot = await this.findInteraction(input.interactionId)
    if (snapshot === null || (input.sessionId !== undefined && input.sessionId !== snapshot.sessionId)) {
      throw new HeadwaterError('not_found', 'there is no such interaction')
    }
    return { result: snapshot }
  }

  /** The interaction under this id, settled or not; ids are unique per root. */
  async findInteraction(interactionId: string): Promise<InteractionSnapshot | null> {
    const row = await this.#store.row('interaction', '', interactionId)
    const snapshot = row === undefined ? null : decodeJson<InteractionSnapshot>(row)
    return snapshot === null || (await isDeleted(this.#store, snapshot.sessionId)) ? null : snapshot
  }

  async interactionList({ cursor }: Input<'interaction.list'>): Promise<Answer<Result<'interaction.list'>>> {
    const limit = LIMITS.interactionListPage
    const options = { limit: limit + 1, ...(cursor === undefined ? {} : { after: cursor }) }
    const rows = await this.#store.rows('pending', '', options)
    const page = rows.slice(
      0,
      Math.min(
        limit,
        countFitting(rows, row => row.value.length),
      ),
    )
    // One that cannot be read does not keep the others from being answered.
    const interactions = page.flatMap(row => readRow<InteractionSnapshot>(row.value) ?? [])
    return { result: { interactions, nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null } }
  }

  async transcriptPage(input: Input<'transcript.page'>): Promise<Answer<Result<'transcript.page'>>> {
    const state = await this.#readable(input.sessionId)
    const result = await readTranscriptBefore(this.#store, state, input.before, input.limit)
    return { result, revision: state.revision }
  }

  /** Source: P12. */
  async planQuery(input: Input<'plan.query'>): Promise<Answer<Result<'plan.query'>>> {
    const { sessionId } = input
    const { plan } = await this.#readable(sessionId)
    try {
      // It stays loaded: otherwise it could change between two looks at it.
      const page = this.#sessions.using(sessionId, ({ core }) => planPage(this.#store, this.#livePlan(core), input))
      return { result: await page }
    } catch (error) {
      if (!isDamage(error)) throw error
      return { result: await planPage(this.#store, { sessionId, plan: () => plan, settled: async () => plan }, input) }
    }
  }

  #livePlan(core: SessionCore): PlanSource {
    const settled = async (): Promise<PlanProjection> => {
      if (core.isInLimbo) await this.#assertNotAhead(core)
      else await core.whenDurable()
      return core.durable.plan
    }
    return { sessionId: core.sessionId, plan: () => core.durable.plan, settled }
  }

  /** While nobody knows what is stored, reading goes on; but rows of what nobody was told yet are not shown. Source: A2, E7. */
  async #assertNotAhead({ sessionId, durable }: SessionCore): Promise<void> {
    const { revision } = await this.#store.head(sessionId)
    if (revision !== durable.revision) throw new HeadwaterError('outcome_unknown')
  }

  /** The session as it is durable; a damaged one as far as its ledger proves it. Source: D1. */
  async #readable(sessionId: string): Promise<SessionState> {
    try {
      const loop = await this.#sessions.find(sessionId)
      if (loop === undefined) throw new HeadwaterError('not_found', 'there is no such session')
      return loop.core.durable
    } catch (error) {
      if (!isDamage(error)) throw error
      const state = await this.#proved(sessionId)
      if (state.revision === 0) throw error
      return state
    }
  }

  /** Kept for whoever pages through a damaged session, which does not change any more. */
  async #proved(sessionId: string): Promise<SessionState> {
    if (this.#newestProved?.sessionId !== sessionId) {
      this.#newestProved = (
        await walkLedger(this.#store, sessionId, {
          through: (await this.#store.head(sessionId)).revision,
          note: () => {},
        })
      ).state
    }
    return this.#newestProved
  }

  /** Source: K3. */
  async taskQuery(input: Input<'task.ledger.query'>): Promise<Answer<Result<'task.ledger.query'>>> {
    const { tasks, revision } = await this.#readable(input.sessionId)
    return { result: taskPage(input.sessionId, tasks, input), revision }
  }

  async ledgerPage({ sessionId, after = 0, limit }: Input<'ledger.page'>): Promise<Answer<Result<'ledger.page'>>> {
    const head = await this.#store.head(sessionId)
    if (head.revision === 0) throw new HeadwaterError('not_found', 'there is no such session')
    const rows = after < head.revision ? await this.#store.ledger(sessionId, after, limit + 1) : []
    const sound = soundRows(rows, after)
    if (sound.length === 0 && after < head.revision) {
      throw new HeadwaterError('session_damaged', undefined, { kind: 'ledger_gap', revision: after + 1 })
    }
    const fitting = countFitting(sound, row => row.bytes.length)
    const page = sound.slice(0, Math.min(limit, fitting))
    const records: LedgerRecord[] = page.map(row => decodeRecord(row.bytes))
    const nextAfter = rows.length > page.length ? (records.at(-1)?.revision ?? null) : null
    return { result: { records: records as Result<'ledger.page'>['records'], nextAfter } }
  }

  async artifactGet({ hash }: Input<'artifact.get'>): Promise<Answer<Result<'artifact.get'>>> {
    const found = await this.#store.artifact(hash)
    if (found === undefined) throw new HeadwaterError('not_found', 'there is no such artifact')
    return { result: { bytes: found.bytes, mimeType: found.mimeType, url: `/v1/artifacts/${hash}` } }
  }

  /** Tells whether an identity was stored, with its result as it would be answered now. Source: A5. */
  async receiptQuery(
    { sessionId: named, operation, id }: Input<'receipt.query'>,
    scope: string,
  ): Promise<Answer<Result<'receipt.query'>>> {
    // A fork is decided where the new session is. Source: S6.
    const sessionId = operation === 'session.fork' ? id : named
    const isKept = KEPT_OPERATIONS.has(operation) || !(await isDeleted(this.#store, sessionId))
    if (!isKept) return { result: { stored: false } }
    const bytes = await this.#store.receipt(sessionId, scope, id)
    const receipt = bytes === undefined ? undefined : decodeJson<StoredReceipt>(bytes)
    if (receipt === undefined || receipt.operation !== operation) return { result: { stored: false } }
    if (receipt.turn === undefined) return { result: { stored: true, result: receipt.result } }
    const row = await this.#store.row('turn', sessionId, receipt.turn.turnId)
    const turn = row === undefined ? null : decodeJson<TurnRow>(row).snapshot
    const result = receipt.turn.as === 'self' ? turn : { ...(receipt.result as object), turn }
    return { result: { stored: true, result } }
  }

  /** The durable header, `damaged` where the session is. Source: A9. */
  async #header(sessionId: string): Promise<SessionHeader | null> {
    const loaded = this.#sessions.peek(sessionId)?.core.durable.header
    const header = loaded ?? (await this.#storedHeader(sessionId))
    return header !== null && this.#sessions.isDamaged(sessionId) ? { ...header, status: 'damaged' } : header
  }

  /** From its row; where that cannot be read, from the session itself. */
  async #storedHeader(sessionId: string): Promise<SessionHeader | null> {
    const row = await this.#store.row('session', '', sessionId)
    if (row === undefined) return null
    const read = readRow<SessionRow>(row)
    if (read !== undefined) return read.header
    try {
      return (await this.#readable(sessionId)).header
    } catch {
      return null
    }
  }
}

/** The records from `after` on that follow on from each other; a checkpoint may stand in the place of all before it. Source: L1, L6. */
function soundRows<T extends { readonly revision: number; readonly bytes: Uint8Array }>(
  rows: readonly T[],
  after: number,
): readonly T[] {
  const sound: T[] = []
  for (const row of rows) {
    const isNext = row.revision === (sound.at(-1)?.revision ?? after) + 1
    if (!isNext && checkpointOf(decodeRecord(row.bytes)) === null) break
    sound.push(row)
  }
  return sound
}

/** True for the error of a session that cannot be loaded. Source: A9. */
function isDamage(error: unknown): boolean {
  return isHeadwaterError(error) && error.code === 'session_damaged'
}

/** A derived row, or undefined where it cannot be read. */
function readRow<T>(bytes: Uint8Array): T | undefined {
  try {
    return decodeJson<T>(bytes)
  } catch {
    return undefined
  }
}
