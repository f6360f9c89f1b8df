import { randomUUID } from 'node:crypto'
import type { Fault } from '../../schema/commands/host.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { beginLineage } from '../lineage.ts'
import type { RootOwner } from '../log/root/owner.ts'
import type { AppendOutcome, FrozenReader, ReceiptKey, RowWrite, SessionHead, Store } from '../log/store.ts'
import { offlineEnvironment } from '../offline/offline-environment.ts'
import { openRootStore } from '../open-root-store.ts'
import { documentStateOf, isSameDocumentState } from '../projection/document-state.ts'
import { SessionDocument } from '../projection/session-document.ts'
import { settleSession } from '../recovery.ts'
import { newGeneration } from '../session/core/generation.ts'
import { type WalkEnd, walkLedger } from '../session/ledger/ledger-walk.ts'
import { encodeJson } from '../session/record.ts'
import { SessionRegistry } from '../session/registry.ts'
import { scanReceipts } from '../verify/check-receipts.ts'
import { deriveSession, type SessionDerivation } from '../verify/derive-session.ts'
import { verifySession } from '../verify/verify-session.ts'
import { keepCopy } from './keep-copy.ts'
import { rootRowsOf } from './root-rows.ts'

/** Which session, and, where its ledger is to be cut, its last revision afterwards. */
export interface RepairOptions {
  readonly sessionId: string
  readonly to?: number
}

/** A repaired session. `copy` is the file with what was stored of it; `faults` is what is left, and should be nothing. */
export interface Repaired {
  readonly sessionId: string
  readonly revision: number
  readonly formerRevision: number
  readonly copy: string
  readonly rows: number
  readonly droppedReceipts: number
  readonly faults: readonly Fault[]
}

/** More than any ledger has. */
const END = 999_999_999_998

const BATCH_ROWS = 128

/**
 * Builds a session's document and all its derived rows from its ledger, in an owned root, after all that is stored of it was copied into a
 * file. It may be cut off anywhere and done again. Errors: `not_found`, `session_damaged` (the ledger does not hold, and `to` is not given;
 * the detail names `lastGood`), `invalid_request` (`to` is no revision that holds), `root_regressed`, storage errors. Source: D2.
 */
export async function repairSession(owner: RootOwner, options: RepairOptions): Promise<Repaired> {
  const store = await openRootStore(owner)
  try {
    if (store.regression !== null) throw new HeadwaterError('root_regressed', store.regression.message)
    const reader = await store.freeze()
    try {
      return await new Repair(store, reader, options.sessionId).run(owner.capability.path, options.to)
    } finally {
      await reader.close()
    }
  } finally {
    await store.close()
  }
}

class Repair {
  readonly #store: Store
  readonly #reader: FrozenReader
  readonly #sessionId: string

  constructor(store: Store, reader: FrozenReader, sessionId: string) {
    this.#store = store
    this.#reader = reader
    this.#sessionId = sessionId
  }

  async run(root: string, to: number | undefined): Promise<Repaired> {
    const sessionId = this.#sessionId
    const head = await this.#readHead()
    const revision = await this.#chooseRevision(head, to)
    const copy = await keepCopy(root, this.#reader, sessionId)
    const derivation = await deriveSession(this.#reader, sessionId, {
      through: revision,
      note: () => {},
      isExact: true,
      rootRows: () => rootRowsOf(this.#reader, sessionId),
    })
    const rows = await this.#mendRows(derivation)
    const dropped = await this.#receiptsToDrop(revision, head.revision)
    await this.#mendDocument(derivation.end, head, dropped)
    if (revision < head.revision) await settle(this.#store, sessionId)
    const check = await this.#store.freeze()
    try {
      const { faults } = await verifySession(check, sessionId)
      const formerRevision = head.revision
      return { sessionId, revision, formerRevision, copy, rows, droppedReceipts: dropped.length, faults }
    } finally {
      await check.close()
    }
  }

  /** A head that cannot be read is one that is not there. */
  async #readHead(): Promise<SessionHead> {
    const reader = this.#reader
    const isDeleted = (await reader.row('tombstone', '', this.#sessionId)) !== undefined
    const head = await reader.head(this.#sessionId).catch(() => ({ revision: 0, update: 0 }))
    const isThere = head.revision > 0 || (await hasRecords(reader, this.#sessionId))
    if (isDeleted || !isThere) throw new HeadwaterError('not_found', 'There is no such session.')
    return head
  }

  /** The revision the session will have. */
  async #chooseRevision(head: SessionHead, to: number | undefined): Promise<number> {
    const { end, fault } = await this.#walk(END)
    const lastGood = end.state.revision
    const isWhole = fault.kind === 'ledger_gap' && lastGood >= head.revision && !(await this.#hasMore(lastGood))
    if (to === undefined) {
      if (isWhole) return lastGood
      throw brokenLedger(this.#sessionId, { ...fault, lastGood })
    }
    const first = end.checkpoint > 0 ? end.checkpoint : 1
    if (to >= first && to <= lastGood) return to
    const range = lastGood < first ? 'none holds' : `choose one from ${first} to ${lastGood}`
    throw new HeadwaterError('invalid_request', `to: ${to} is no revision of the session that holds; ${range}`, {
      path: 'to',
      lastGood,
    })
  }

  async #walk(through: number): Promise<{ end: WalkEnd; fault: LedgerFault }> {
    let fault: LedgerFault = { kind: 'ledger_gap', revision: 0, message: '' }
    const note = (kind: string, revision: number, message: string): void => {
      fault = { kind, revision, message }
    }
    const end = await walkLedger(this.#reader, this.#sessionId, { through, note })
    return { end, fault }
  }

  /** True where records, or what may be some, stand behind this revision. */
  async #hasMore(revision: number): Promise<boolean> {
    try {
      return (await this.#reader.ledger(this.#sessionId, revision, 1)).length > 0
    } catch {
      return true
    }
  }

  /** Gives how many rows were not as they had to be. */
  async #mendRows(derivation: SessionDerivation): Promise<number> {
    let count = 0
    let batch: RowWrite[] = []
    for await (const { kind, id, expected } of derivation.rowFaults()) {
      batch.push({ kind, id, value: (expected?.value as Uint8Array | undefined) ?? null })
      count += 1
      if (batch.length < BATCH_ROWS) continue
      await this.#store.putRows(this.#sessionId, batch)
      batch = []
    }
    const { active } = derivation
    batch.push({ kind: 'active', id: this.#sessionId, value: active === null ? null : encodeJson(active) })
    await this.#store.putRows(this.#sessionId, batch)
    return count
  }

  /** Those that cannot be read, and, where the ledger is cut, those of what is behind the cut. */
  async #receiptsToDrop(revision: number, formerRevision: number): Promise<readonly ReceiptKey[]> {
    const dropped: ReceiptKey[] = []
    for await (const { operation, id, receipt } of scanReceipts(this.#reader, this.#sessionId)) {
      const isCut = receipt !== null && revision < formerRevision && !(await this.#isBefore(receipt, revision))
      if (receipt === null || isCut) dropped.push({ operation, id })
    }
    return dropped
  }

  /** A receipt that does not say its revision is known to be older only by a turn that is still there. */
  async #isBefore(
    { revision, turn }: { readonly revision?: number; readonly turn?: { readonly turnId: string } },
    cut: number,
  ): Promise<boolean> {
    if (revision !== undefined) return revision <= cut
    return turn !== undefined && (await this.#store.row('admission', this.#sessionId, turn.turnId)) !== undefined
  }

  /** Under a new lineage: what replicas saw beyond it is kept aside there, never taken for a part of it. Source: V6, V7, D2. */
  async #mendDocument(end: WalkEnd, head: SessionHead, droppedReceipts: readonly ReceiptKey[]): Promise<void> {
    const { state } = end
    const lineage = await beginLineage(this.#store)
    const sessionId = this.#sessionId
    const generation = newGeneration({ lineage, newId: randomUUID })
    const sound = await this.#soundDocument(end, head)
    const number = Math.max(head.update, 1)
    const document =
      sound?.rebuild(state, generation) ?? SessionDocument.build(generation, state, { number, blocks: [] })
    const acquired = await this.#store.acquire(sessionId)
    if (acquired.kind === 'held') throw new HeadwaterError('root_owned')
    const outcome = await this.#store.rewrite(sessionId, acquired.fence, {
      head: { revision: state.revision, update: document.number },
      snapshot: { through: document.number, generation, bytes: document.encode() },
      recordsThrough: await this.#lastRecord(head),
      updatesThrough: await this.#lastUpdate(head),
      droppedReceipts,
    })
    if (outcome.kind !== 'committed') throw notStored(outcome)
  }

  /** The document as it is, with what is streamed and not sealed, if it shows what the ledger gives. */
  async #soundDocument({ state }: WalkEnd, head: SessionHead): Promise<SessionDocument | null> {
    try {
      const document = SessionDocument.load(await this.#reader.document(this.#sessionId))
      const shown = document.readState()
      const isSound = shown !== null && document.number === head.update && state.revision === head.revision
      return isSound && isSameDocumentState(shown, documentStateOf(state)) ? document : null
    } catch {
      return null
    }
  }

  async #lastRecord(head: SessionHead): Promise<number> {
    return Math.max(head.revision, (await this.#reader.lastNumbers(this.#sessionId)).revision)
  }

  async #lastUpdate(head: SessionHead): Promise<number> {
    return Math.max(head.update, (await this.#reader.lastNumbers(this.#sessionId)).update)
  }
}

/** The next leader would begin a turn again that the cut left without its run. Source: X3. */
async function settle(store: Store, sessionId: string): Promise<void> {
  const sessions = new SessionRegistry(await offlineEnvironment(store))
  await settleSession(sessions, sessionId)
  // It is not written any more by this process.
  await store.release(sessionId)
}

interface LedgerFault {
  readonly kind: string
  readonly revision: number
  readonly message: string
}

async function hasRecords(reader: FrozenReader, sessionId: string): Promise<boolean> {
  try {
    return (await reader.ledger(sessionId, 0, 1)).length > 0
  } catch {
    return true
  }
}

function brokenLedger(sessionId: string, fault: LedgerFault & { readonly lastGood: number }): HeadwaterError {
  const { kind, revision, message, lastGood } = fault
  const way =
    lastGood === 0
      ? 'Nothing of it can be saved; put the data root back from a backup, or delete the session.'
      : `The last good revision is ${lastGood}: headwater doctor --repair ${sessionId} --to ${lastGood} cuts the session back to it.`
  return new HeadwaterError(
    'session_damaged',
    `The ledger does not hold at revision ${revision} (${kind}: ${message}). Nothing was changed. ${way}`,
    { sessionId, kind, revision, lastGood },
  )
}

function notStored(outcome: Exclude<AppendOutcome, { kind: 'committed' }>): HeadwaterError {
  if (outcome.kind === 'failed') return new HeadwaterError(outcome.code, outcome.message)
  return new HeadwaterError(outcome.kind === 'full' ? 'storage_full' : 'outcome_unknown')
}
