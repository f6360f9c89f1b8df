import type { Fault } from '../../schema/commands/host.ts'
import type { SessionProjection } from '../../schema/entities/projection.ts'
import type { Admission, Run, UserMessage } from '../../schema/entities/turn.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import type { LedgerRecord, RunEvent } from '../../schema/events.ts'
import { SessionReader } from '../../schema/projection/read.ts'
import { type Classification, classify, collectTurnFacts, endedRun, type TurnFacts } from '../domain/facts.ts'
import { readEpoch } from '../epoch.ts'
import type { StoreReader } from '../log/store.ts'
import { loadSession, readRecords } from '../session/load.ts'
import { decodeRecord } from '../session/record.ts'
import { verifyRoot } from '../verify/verify-root.ts'

const PAGE_RECORDS = 256

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
    const head = await this.reader.head(sessionId)
    if (head.revision === 0) throw new HeadwaterError('not_found', 'there is no such session')
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

  /** Walks the whole root and yields each fault. Source: D2. */
  verify(): AsyncGenerator<Fault, unknown> {
    return verifyRoot(this.reader)
  }

  /** Facts of every turn of a session; none for an unknown session. */
  protected async factsOf(sessionId: string): Promise<TurnFacts[]> {
    return collectTurnFacts(sessionId, await readRecords(this.reader, sessionId, 0))
  }

  async #facts(sessionId: string): Promise<TurnFacts[]> {
    const head = await this.reader.head(sessionId)
    if (head.revision === 0) throw new HeadwaterError('not_found', 'there is no such session')
    return await this.factsOf(sessionId)
  }
}
