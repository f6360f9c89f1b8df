import type { Fault } from '../../schema/commands/host.ts'
import { isHeadwaterError } from '../../schema/errors.ts'
import type { LedgerRecord } from '../../schema/events.ts'
import { GENESIS_HASH } from '../../schema/ids.ts'
import { fold } from '../domain/evolve/fold.ts'
import { initialState, type SessionState } from '../domain/state.ts'
import type { SessionHead, StoredDocument, StoreReader } from '../log/store.ts'
import { documentStateOf, isSameDocumentState } from '../projection/document-state.ts'
import { SessionDocument } from '../projection/session-document.ts'
import { decodeRecord, hashOf } from '../session/record.ts'

const PAGE_RECORDS = 256

/** What was read of one session. */
export interface SessionCheck {
  readonly records: number
  readonly faults: readonly Fault[]
}

/** A check is begun anew so often when the session's log is shortened or built anew under it. */
const TRIES = 4

/**
 * Checks one session: the chain of its ledger, its document's log, and that folding the ledger gives what the document shows. Works on a
 * root that is being written: it checks the session as it was when it began. What cannot be read is a fault like any other: nothing is
 * thrown. Source: A8, D2.
 */
export async function verifySession(store: StoreReader, sessionId: string): Promise<SessionCheck> {
  let check: SessionCheck = { records: 0, faults: [] }
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await checkOnce(store, sessionId)
    check = found
    if (!found.isOvertaken) break
  }
  return { records: check.records, faults: check.faults }
}

async function checkOnce(store: StoreReader, sessionId: string): Promise<SessionCheck & { isOvertaken: boolean }> {
  const faults: Fault[] = []
  const note: Note = (kind, revision, message) => {
    faults.push({ code: 'session_damaged', sessionId, kind, revision, message })
  }
  let records = 0
  try {
    const head = await store.head(sessionId)
    const ledger = await foldLedger(store, sessionId, head, note)
    records = ledger.records
    await checkEnd(store, sessionId, head, note)
    const document = await readDocument(store, sessionId, head, note)
    if (document === 'overtaken') return { records, faults, isOvertaken: true }
    const shown = document?.readState() ?? null
    if (document !== null && shown === null) note('document_empty', head.revision, 'the document is empty')
    if (!ledger.isBroken && shown !== null && !isSameDocumentState(shown, documentStateOf(ledger.state))) {
      note('document_differs', head.revision, 'the document is not what folding the ledger gives')
    }
  } catch (error) {
    note('unreadable', records, error instanceof Error ? error.message : String(error))
  }
  return { records, faults, isOvertaken: false }
}

type Note = (kind: string, revision: number, message: string) => void

/** Nothing may stand behind the head. */
async function checkEnd(store: StoreReader, sessionId: string, head: SessionHead, note: Note): Promise<void> {
  const [next] = await store.ledger(sessionId, head.revision, 1)
  if (next === undefined || (await store.head(sessionId)).revision >= next.revision) return
  const kind = head.revision === 0 ? 'head_missing' : 'ledger_beyond_head'
  note(kind, next.revision, `record ${next.revision} stands behind the session's head ${head.revision}`)
}

/** The session as far as its chain holds. */
export interface ProvedSession {
  readonly state: SessionState
  readonly records: number
  /** True where the walk had to stop before the head. */
  readonly isBroken: boolean
}

/** Walks the chain up to the head, folding it. */
export async function foldLedger(
  store: StoreReader,
  sessionId: string,
  head: SessionHead,
  note: Note,
): Promise<ProvedSession> {
  let state = initialState(sessionId)
  let prevHash = GENESIS_HASH
  let records = 0
  for (let after = 0; after < head.revision; ) {
    const page = await store.ledger(sessionId, after, Math.min(PAGE_RECORDS, head.revision - after))
    if (page.length === 0) {
      note('ledger_gap', after + 1, `record ${after + 1} is missing`)
      return { state, records, isBroken: true }
    }
    for (const row of page) {
      const record = readRecord(row.bytes)
      const reason = whyBroken(record, after + 1, prevHash)
      if (record === null || reason !== null) {
        note(reason?.kind ?? 'record_unreadable', after + 1, reason?.message ?? 'the record cannot be read')
        return { state, records, isBroken: true }
      }
      state = fold(state, record.events, record).state
      prevHash = record.hash
      after = record.revision
      records += 1
    }
  }
  return { state, records, isBroken: false }
}

function readRecord(bytes: Uint8Array): LedgerRecord | null {
  try {
    return decodeRecord(bytes)
  } catch {
    return null
  }
}

function whyBroken(
  record: LedgerRecord | null,
  expected: number,
  prevHash: string,
): { readonly kind: string; readonly message: string } | null {
  if (record === null) return { kind: 'record_unreadable', message: 'the record cannot be read' }
  if (record.revision !== expected) return { kind: 'ledger_gap', message: `record ${expected} is missing` }
  if (record.prevHash !== prevHash)
    return { kind: 'chain_broken', message: 'the record does not follow on from the one before' }
  return hashOf(record) === record.hash
    ? null
    : { kind: 'hash_mismatch', message: 'the record is not what its hash says' }
}

/** The document as it was at `head`, or null where it cannot be read. `overtaken`: its log was shortened meanwhile. */
async function readDocument(
  store: StoreReader,
  sessionId: string,
  head: SessionHead,
  note: Note,
): Promise<SessionDocument | 'overtaken' | null> {
  const stored: StoredDocument = await store.document(sessionId)
  if (stored.snapshot !== null && stored.snapshot.through > head.update) return 'overtaken'
  const updates = stored.updates.filter(update => update.number <= head.update)
  try {
    const document = SessionDocument.load({ snapshot: stored.snapshot, updates })
    if (document.number !== head.update) {
      note('document_gap', head.revision, `the document ends at update ${document.number}, not ${head.update}`)
    }
    return document
  } catch (error) {
    const kind =
      isHeadwaterError(error) && typeof error.detail?.kind === 'string' ? error.detail.kind : 'document_unreadable'
    note(kind, head.revision, error instanceof Error ? error.message : String(error))
    return null
  }
}
