import type { Fault } from '../../schema/commands/host.ts'
import { isHeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { hasUnfinishedWork } from '../domain/state.ts'
import type { SessionHead, StoreReader } from '../log/store.ts'
import { documentStateOf, isSameDocumentState } from '../projection/document-state.ts'
import { SessionDocument } from '../projection/session-document.ts'
import type { Note, WalkEnd } from '../session/ledger/ledger-walk.ts'
import { decodeJson } from '../session/record.ts'
import type { ActiveRow } from '../session/rows.ts'
import { NamedArtifacts } from './check-artifacts.ts'
import { checkFork } from './check-fork.ts'
import { scanReceipts } from './check-receipts.ts'
import type { RowFault } from './check-rows.ts'
import { deriveSession, type SessionDerivation } from './derive-session.ts'

/** What was read of one session. */
export interface SessionCheck {
  readonly records: number
  readonly faults: readonly Fault[]
}

/**
 * Checks one session: the chain of its ledger, its document's log, that folding the ledger gives what the document shows and all derived rows,
 * its receipts, and the artifacts it names. The reader must show one state (`Store.freeze`). What cannot be read is a fault like any other:
 * nothing is thrown. Source: A8, D2.
 */
export async function verifySession(
  store: StoreReader,
  sessionId: string,
  onRecords: (records: number) => void = () => {},
): Promise<SessionCheck> {
  const faults: Fault[] = []
  let uncounted = 0
  const note: Note = (kind, revision, message) => {
    if (faults.length < LIMITS.verifySessionFaults) {
      faults.push({ code: 'session_damaged', sessionId, kind, revision, message })
    } else uncounted += 1
  }
  const progress = { records: 0 }
  try {
    await check(store, sessionId, note, records => {
      progress.records = records
      onRecords(records)
    })
  } catch (error) {
    note('unreadable', progress.records, error instanceof Error ? error.message : String(error))
  }
  if (uncounted > 0) {
    const message = `${uncounted} further faults of this session are not listed`
    faults.push({ code: 'session_damaged', sessionId, kind: 'more_faults', revision: progress.records, message })
  }
  return { records: progress.records, faults }
}

async function check(
  store: StoreReader,
  sessionId: string,
  note: Note,
  onRecords: (records: number) => void,
): Promise<void> {
  // What is being purged is not whole any more. Source: S5.
  if ((await store.row('tombstone', '', sessionId)) !== undefined) return
  const head = await store.head(sessionId)
  const artifacts = new NamedArtifacts(store, note)
  const derivation = await deriveSession(store, sessionId, {
    through: head.revision,
    note,
    onStep: step => artifacts.take(step),
    onPage: async records => {
      onRecords(records)
      await artifacts.check()
    },
  })
  const { end } = derivation
  await checkEnd(store, sessionId, head, note)
  await checkDocument(store, sessionId, { head, end, note })
  if (!end.isBroken) await checkRows(store, derivation, head, note)
  await checkFork(store, sessionId, note)
  for await (const { operation, id, receipt } of scanReceipts(store, sessionId)) {
    if (receipt === null) note('receipt_unreadable', head.revision, `the receipt of ${operation} ${id} cannot be read`)
  }
}

/** Nothing may stand behind the head. */
async function checkEnd(store: StoreReader, sessionId: string, head: SessionHead, note: Note): Promise<void> {
  const [next] = await store.ledger(sessionId, head.revision, 1)
  if (next === undefined) return
  const kind = head.revision === 0 ? 'head_missing' : 'ledger_beyond_head'
  note(kind, next.revision, `record ${next.revision} stands behind the session's head ${head.revision}`)
}

interface DocumentCheck {
  readonly head: SessionHead
  readonly end: WalkEnd
  readonly note: Note
}

async function checkDocument(store: StoreReader, sessionId: string, { head, end, note }: DocumentCheck): Promise<void> {
  const document = await readDocument(store, sessionId, head, note)
  if (document === null) return
  const shown = document.readState()
  if (shown === null) note('document_empty', head.revision, 'the document is empty')
  else if (!end.isBroken && !isSameDocumentState(shown, documentStateOf(end.state))) {
    note('document_differs', head.revision, 'the document is not what folding the ledger gives')
  }
}

/** The document, or null where it cannot be read. */
async function readDocument(
  store: StoreReader,
  sessionId: string,
  head: SessionHead,
  note: Note,
): Promise<SessionDocument | null> {
  try {
    const document = SessionDocument.load(await store.document(sessionId))
    if (document.number !== head.update) {
      note('document_gap', head.revision, `the document ends at update ${document.number}, not ${head.update}`)
    }
    return document
  } catch (error) {
    const kind =
      isHeadwaterError(error) && error.code === 'session_damaged' && typeof error.detail?.kind === 'string'
        ? error.detail.kind
        : 'document_unreadable'
    note(kind, head.revision, error instanceof Error ? error.message : String(error))
    return null
  }
}

async function checkRows(
  store: StoreReader,
  derivation: SessionDerivation,
  head: SessionHead,
  note: Note,
): Promise<void> {
  for await (const fault of derivation.rowFaults()) note(fault.fault, head.revision, rowMessage(fault))
  const { state } = derivation.end
  const stored = await readActive(store, state.sessionId)
  const expected = derivation.active
  if (!hasUnfinishedWork(state) || expected === null) return
  if (stored === null)
    note('row_missing', head.revision, 'the row active is missing: recovery would pass the session over')
  else if (stored.since > expected.since) {
    note('row_differs', head.revision, `the row active begins at ${stored.since}, not at ${expected.since}`)
  }
}

const WORDS: { readonly [K in RowFault['fault']]: string } = {
  row_missing: 'is missing',
  row_differs: 'is not what the ledger gives',
  row_orphan: 'belongs to nothing in the ledger',
  row_unreadable: 'cannot be read',
}

function rowMessage({ fault, kind, id }: RowFault): string {
  return `the row ${kind} ${id} ${WORDS[fault]}`
}

async function readActive(store: StoreReader, sessionId: string): Promise<ActiveRow | null> {
  try {
    const bytes = await store.row('active', '', sessionId)
    return bytes === undefined ? null : decodeJson<ActiveRow>(bytes)
  } catch {
    return null
  }
}
