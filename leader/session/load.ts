import type { Admission } from '../../schema/entities/turn.ts'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import type { LedgerRecord } from '../../schema/events.ts'
import { GENESIS_HASH } from '../../schema/ids.ts'
import { liveEntry } from '../domain/evolve/transcript.ts'
import { initialState, type RootTurn, type SessionState } from '../domain/state.ts'
import type { SessionHead, StoreReader } from '../log/store.ts'
import type { DocumentState } from '../projection/document-state.ts'
import { SessionDocument } from '../projection/session-document.ts'
import { decodeJson, decodeRecord } from './record.ts'
import type { ActiveRow, TurnRow } from './rows.ts'

/** The document's log on disk: the updates after the newest snapshot. */
export interface LogSize {
  readonly updates: number
  readonly bytes: number
  readonly snapshotBytes: number
}

/** A log with nothing in it. */
export const EMPTY_LOG: LogSize = { updates: 0, bytes: 0, snapshotBytes: 0 }

/** A session as it stands on disk. */
export interface LoadedSession {
  readonly state: SessionState
  readonly document: SessionDocument
  readonly head: SessionHead
  readonly lastHash: string
  readonly active: ActiveRow | null
  readonly log: LogSize
}

/**
 * Loads a session, or gives null if it was never created. Throws HeadwaterError `session_damaged` where what is stored does not fit
 * together; damaged is never shown as empty. Source: A9, D1.
 */
export async function loadSession(store: StoreReader, sessionId: string): Promise<LoadedSession | null> {
  try {
    return await load(store, sessionId)
  } catch (error) {
    throw damageOf(error)
  }
}

/** What cannot be understood, or fails its checksum, is damage; a read that failed otherwise may succeed the next time. */
function damageOf(error: unknown): unknown {
  const isCorrupt = isHeadwaterError(error) && error.code === 'storage_fault' && error.detail?.kind === 'corruption'
  if (isHeadwaterError(error) && !isCorrupt) return error
  const damage = damaged(isCorrupt ? 'corruption' : 'unreadable', 0)
  damage.cause = error
  return damage
}

async function load(store: StoreReader, sessionId: string): Promise<LoadedSession | null> {
  const head = await store.head(sessionId)
  if (await isDeleted(store, sessionId)) return deletedSession(sessionId, head)
  if (head.revision === 0 && head.update === 0) {
    const [record] = await store.ledger(sessionId, 0, 1)
    if (record !== undefined) throw damaged('head_missing', record.revision)
    return null
  }
  const stored = await store.document(sessionId)
  const document = SessionDocument.load(stored)
  const shown = document.readState()
  if (shown === null || shown.header === null) throw damaged('document_empty', head.revision)
  if (shown.head.revision !== head.revision || document.number !== head.update)
    throw damaged('head_mismatch', head.revision)
  const last = await readRecord(store, sessionId, head.revision)
  const state = { ...(await stateOf(store, sessionId, shown)), at: last.at }
  const active = await store.row('active', '', sessionId)
  return {
    state,
    document,
    head,
    lastHash: last.hash,
    active: active === undefined ? null : decodeJson<ActiveRow>(active),
    log: {
      updates: stored.updates.length,
      bytes: stored.updates.reduce((sum, update) => sum + update.bytes.length, 0),
      snapshotBytes: stored.snapshot?.bytes.length ?? 0,
    },
  }
}

/** True for an id that a deleted session had. Source: S5. */
export async function isDeleted(store: StoreReader, sessionId: string): Promise<boolean> {
  return (await store.row('tombstone', '', sessionId)) !== undefined
}

/** The place where a session was: whatever its purge has left, nothing of it is there. */
function deletedSession(sessionId: string, head: SessionHead): LoadedSession {
  const state = { ...initialState(sessionId), isDeleted: true }
  const document = SessionDocument.create('deleted')
  return { state, document, head, lastHash: GENESIS_HASH, active: null, log: EMPTY_LOG }
}

function damaged(kind: string, revision: number): HeadwaterError {
  return new HeadwaterError('session_damaged', undefined, { kind, revision })
}

async function readRecord(store: StoreReader, sessionId: string, revision: number): Promise<LedgerRecord> {
  const [row] = await store.ledger(sessionId, revision - 1, 1)
  if (row === undefined || row.revision !== revision) throw damaged('ledger_gap', revision)
  return decodeRecord(row.bytes)
}

/** The state a document shows, completed by the rows of its newest root turn. */
async function stateOf(store: StoreReader, sessionId: string, shown: DocumentState): Promise<SessionState> {
  return {
    ...initialState(sessionId),
    revision: shown.head.revision,
    at: shown.head.at,
    header: shown.header,
    root: await loadRoot(store, sessionId, shown),
    queueRevision: shown.queueRevision,
    queue: shown.queue,
    interactions: shown.interactions,
    plan: shown.plan,
    tasks: shown.tasks,
    agentSession: shown.agentSession,
    transcript: shown.transcript.map(liveEntry),
    nextSeq: shown.nextSeq,
  }
}

async function loadRoot(store: StoreReader, sessionId: string, shown: DocumentState): Promise<RootTurn | null> {
  const { rootMeta, rootSnapshot } = shown
  if (rootMeta === null || rootSnapshot === null) return null
  const admission = await store.row('admission', sessionId, rootMeta.turnId)
  const turn = await store.row('turn', sessionId, rootMeta.turnId)
  if (admission === undefined || turn === undefined) throw damaged('turn_row_missing', rootMeta.admittedRevision)
  const { runs, endSeq, sealedCalls } = decodeJson<TurnRow>(turn)
  return {
    admission: decodeJson<Admission>(admission),
    admittedRevision: rootMeta.admittedRevision,
    runs,
    snapshot: rootSnapshot,
    ...(endSeq === undefined ? {} : { endSeq }),
    ...(sealedCalls === undefined ? {} : { sealedCalls }),
  }
}

/** All ledger records after a revision, in order. Bounded by what the caller asks for: recovery reads unfinished work only. */
export async function readRecords(store: StoreReader, sessionId: string, after: number): Promise<LedgerRecord[]> {
  const records: LedgerRecord[] = []
  for (let next = after; ; ) {
    const page = await store.ledger(sessionId, next, 512)
    for (const row of page) records.push(decodeRecord(row.bytes))
    const last = page.at(-1)
    if (last === undefined || page.length < 512) return records
    next = last.revision
  }
}
