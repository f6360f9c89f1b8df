import type { Fault } from '../../schema/commands/host.ts'
import type { Result } from '../../schema/commands/index.ts'
import type { SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptPage } from '../../schema/entities/transcript.ts'
import type { Admission, Run, TurnSnapshot, UserMessage } from '../../schema/entities/turn.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import type { LedgerRecord, RunEvent } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import { SessionReader } from '../../schema/projection/read.ts'
import { type Classification, classify, collectTurnFacts, endedRun, type TurnFacts } from '../domain/facts.ts'
import { readEpoch } from '../epoch.ts'
import type { StoreReader } from '../log/store.ts'
import { readTranscriptBefore } from '../session/history.ts'
import { isDeleted, loadSession, readRecords } from '../session/load.ts'
import { decodeJson, decodeRecord } from '../session/record.ts'
import type { TurnRow } from '../session/rows.ts'
import { verifyRoot } from '../verify/verify-root.ts'

const PAGE_RECORDS = 256
const PAGE_PLANS = 16

/** A proposal or an execution of a plan. */
export type PlanItem = Extract<Result<'plan.query'>, { kind: 'page' }>['items'][number]

/** Reads a page of a transcript. */
export type ReadTranscript = (options: { readonly before?: number; readonly limit: number }) => Promise<TranscriptPage>

/** An artifact as it is stored. */
export interface ArtifactReading {
  readonly bytes: number
  readonly mimeType: string
  readonly pieces: AsyncIterable<Uint8Array>
}

/** Everything the ledger says of a turn. Unknown turn: null, empty lists, kind `none`. */
export interface TurnReading {
  readonly admission: Admission | null
  readonly runs: readonly Run[]
  readonly userMessages: readonly UserMessage[]
  readonly events: readonly RunEvent[]
  readonly terminalEvents: readonly RunEvent[]
  readonly classification: Classification
}

/** Reads a root that has no running leader. Errors: `not_found`, `session_damaged`. Source: interfaces 3. */
export class OfflineReader {
  protected readonly reader: StoreReader

  constructor(reader: StoreReader) {
    this.reader = reader
  }

  /** The session as its document shows it; `hostEpoch` is the last one that served the root. */
  async readSession(sessionId: string): Promise<SessionProjection> {
    const loaded = await loadSession(this.reader, sessionId)
    const { hostEpoch } = await readEpoch(this.reader)
    const view = { hostEpoch, baseRevision: loaded?.state.revision ?? 0, presence: [], presenceCount: 0 }
    const projection = loaded === null ? null : new SessionReader(loaded.document.doc).read(view)
    if (projection === null) throw new HeadwaterError('not_found', 'there is no such session')
    return projection
  }

  /** Oldest first. */
  async readAdmissionChain(sessionId: string): Promise<Admission[]> {
    const facts = await this.#facts(sessionId)
    return facts.flatMap(turn => (turn.admission === null ? [] : [turn.admission]))
  }

  async readTurn(sessionId: string, turnId: string): Promise<TurnReading> {
    const facts = (await this.factsOf(sessionId)).find(turn => turn.turnId === turnId)
    if (facts === undefined) {
      const classification = { kind: 'none' as const }
      return { admission: null, runs: [], userMessages: [], events: [], terminalEvents: [], classification }
    }
    const { admission, userMessages, events, terminalEvents } = facts
    const runs = facts.runs.map(run => endedRun(run, facts))
    return { admission, runs, userMessages, events, terminalEvents, classification: classify(facts) }
  }

  async readRun(sessionId: string, runId: string): Promise<Run> {
    for (const facts of await this.#facts(sessionId)) {
      const run = facts.runs.find(known => known.runId === runId)
      if (run !== undefined) return endedRun(run, facts)
    }
    throw new HeadwaterError('not_found', 'there is no such run')
  }

  /** Records after `after`, at most `limit`, in order. */
  async *readLedger(
    sessionId: string,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): AsyncGenerator<LedgerRecord> {
    await this.#assertThere(sessionId)
    let left = options.limit ?? Number.POSITIVE_INFINITY
    for (let after = options.after ?? 0; left > 0; ) {
      const page = await this.reader.ledger(sessionId, after, Math.min(PAGE_RECORDS, left))
      for (const row of page) yield decodeRecord(row.bytes)
      const last = page.at(-1)
      if (last === undefined) return
      left -= page.length
      after = last.revision
    }
  }

  /** Where the session's ledger stands: its newest revision, and the hash of that record. */
  async readHead(sessionId: string): Promise<{ readonly revision: number; readonly hash: string }> {
    const { revision } = await this.reader.head(sessionId)
    for await (const { hash } of this.readLedger(sessionId, { after: revision - 1, limit: 1 }))
      return { revision, hash }
    throw new HeadwaterError('session_damaged', undefined, { kind: 'ledger_gap', revision })
  }

  /** Reads pages of the session as it is now: the newest `limit` entries before `before`, fewer where there is no room. Source: L3. */
  async transcriptOf(sessionId: string): Promise<ReadTranscript> {
    const loaded = await loadSession(this.reader, sessionId)
    if (loaded === null || loaded.state.isDeleted === true) {
      throw new HeadwaterError('not_found', 'there is no such session')
    }
    return ({ before, limit }) => readTranscriptBefore(this.reader, loaded.state, before, limit)
  }

  /** How the turn stands; null for an unknown one. */
  async readTurnSnapshot(sessionId: string, turnId: string): Promise<TurnSnapshot | null> {
    const row = await this.reader.row('turn', sessionId, turnId)
    return row === undefined ? null : decodeJson<TurnRow>(row).snapshot
  }

  /** All proposals, then all executions of plans, oldest first. Source: P12. */
  async *readPlans(sessionId: string): AsyncGenerator<PlanItem> {
    for (const kind of ['proposal', 'execution'] as const) {
      for (let after: string | undefined; ; ) {
        const rows = await this.reader.rows(kind, sessionId, {
          limit: PAGE_PLANS,
          ...(after === undefined ? {} : { after }),
        })
        for (const { value } of rows) yield { kind, [kind]: decodeJson(value) } as unknown as PlanItem
        after = rows.at(-1)?.id
        if (after === undefined) break
      }
    }
  }

  /** The sessions whose ids begin so, at most `limit`. */
  async findSessions(prefix: string, limit: number): Promise<readonly string[]> {
    const found = await this.reader.sessions(prefix, limit)
    const exact = (await this.reader.head(prefix)).revision > 0 ? [prefix] : []
    return [...exact, ...found.filter(id => id.startsWith(prefix))].slice(0, limit)
  }

  /** An artifact's size and its pieces in order, or undefined. Source: L5. */
  async readArtifact(hash: string): Promise<ArtifactReading | undefined> {
    const found = await this.reader.artifact(hash)
    return found === undefined ? undefined : { ...found, pieces: this.#pieces(hash, found.bytes) }
  }

  async *#pieces(hash: string, bytes: number): AsyncGenerator<Uint8Array> {
    for (let index = 0; index * LIMITS.artifactPieceBytes < bytes; index++) {
      const piece = await this.reader.artifactPiece(hash, index)
      if (piece === undefined) throw new HeadwaterError('storage_fault', 'a piece of an artifact is missing')
      yield piece
    }
  }

  /** Walks the whole root and yields each fault. Source: D2. */
  verify(): AsyncGenerator<Fault, unknown> {
    return verifyRoot(this.reader)
  }

  /** Facts of every turn of a session; none for an unknown session. */
  protected async factsOf(sessionId: string): Promise<TurnFacts[]> {
    return collectTurnFacts(sessionId, await readRecords(this.reader, sessionId, 0))
  }

  /** Of a deleted session nothing is read, whatever its purge has left. Source: S5. */
  async #assertThere(sessionId: string): Promise<void> {
    const { revision } = await this.reader.head(sessionId)
    const isGone = revision === 0 || (await isDeleted(this.reader, sessionId))
    if (isGone) throw new HeadwaterError('not_found', 'there is no such session')
  }

  async #facts(sessionId: string): Promise<TurnFacts[]> {
    await this.#assertThere(sessionId)
    return await this.factsOf(sessionId)
  }
}
