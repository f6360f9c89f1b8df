import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import { HeadwaterError, isHeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { ROW_KINDS, type RowWrite, type Store } from '../../log/store.ts'
import { SessionDocument } from '../../projection/session-document.ts'
import { isDeleted } from '../../session/load.ts'
import { decodeJson, decodeRecord, encodeJson } from '../../session/record.ts'
import { useId, useRow } from '../../session/rows/named-rows.ts'
import { checkFork } from '../../verify/check-fork.ts'
import { deriveSession, type SessionDerivation } from '../../verify/derive-session.ts'
import type { Imported, ImportHead, ImportItem } from './import-item.ts'
import { IncomingArtifacts } from './incoming-artifacts.ts'
import { assertStored, type ImportTarget, IncomingLedger, refused } from './incoming-ledger.ts'
import { endImport, noteImport } from './unfinished-import.ts'

/** What an import takes from its surroundings. */
export interface ImportPorts {
  readonly store: Store
  readonly now: () => number
  /** The name of the new build of the document. */
  readonly generation: () => string
}

/**
 * Takes over a whole session under its own id: its ledger byte for byte, its artifacts, and document and rows as the ledger gives them. Its
 * head is written last, so that it is there whole or not at all; a cut-off is cleared away by the next who opens the root. Errors:
 * `operation_conflict` where another session has the id, `invalid_request` for what does not fit together, `too_large`. Source: A3, A8.
 */
export async function importSession(
  ports: ImportPorts,
  head: ImportHead,
  items: AsyncIterable<ImportItem>,
): Promise<Imported> {
  const { store } = ports
  const { sessionId } = head
  await endImport(store)
  if (await isPresent(store, head)) {
    return { kind: 'present', sessionId, revision: head.revision, records: 0, artifacts: 0 }
  }
  const claim = await store.acquire(sessionId)
  if (claim.kind === 'held') throw new HeadwaterError('root_owned', `the session is served by ${claim.by}`)
  try {
    await noteImport(store, sessionId)
    return await take(ports, { store, head, fence: claim.fence }, items)
  } finally {
    await store.release(sessionId)
    // Where it did not come to its end, what it wrote goes again: now, or when somebody opens the root the next time.
    await endImport(store).catch(() => {})
  }
}

/** True where the very same session is there already. */
async function isPresent(store: Store, { sessionId, revision, hash }: ImportHead): Promise<boolean> {
  if (await isDeleted(store, sessionId)) {
    throw new HeadwaterError('operation_conflict', `The session ${sessionId} was deleted here; its id is used up.`)
  }
  const here = await store.head(sessionId)
  if (here.revision === 0) return false
  const [row] = await store.ledger(sessionId, revision - 1, 1)
  const isSame = row?.revision === revision && decodeRecord(row.bytes).hash === hash
  if (isSame && here.revision === revision) return true
  const what = isSame ? 'is here already and has gone on since' : 'is here already in another state'
  throw new HeadwaterError('operation_conflict', `The session ${sessionId} ${what}; nothing was changed.`, {
    sessionId,
    revision: here.revision,
  })
}

async function take(ports: ImportPorts, target: ImportTarget, items: AsyncIterable<ImportItem>): Promise<Imported> {
  const ledger = new IncomingLedger(target)
  const artifacts = new IncomingArtifacts(target.store, ports.now)
  for await (const item of items) {
    if (item.kind === 'record') await ledger.take(item.record)
    else if (item.kind === 'entries') await ledger.takeEntries(item.entries)
    else await artifacts.take(item)
  }
  artifacts.end()
  await ledger.end()
  await found(ports, target, ledger.named.artifacts)
  const { sessionId, revision } = target.head
  return { kind: 'imported', sessionId, revision, records: ledger.count, artifacts: artifacts.count }
}

/** Derives document and rows from the ledger, and lets the session be there. */
async function found(ports: ImportPorts, target: ImportTarget, named: ReadonlySet<string>): Promise<void> {
  const { store, head, fence } = target
  const { sessionId, revision } = head
  const derivation = await derive(target)
  const { state } = derivation.end
  if (state.header?.sessionId !== sessionId || state.isDeleted === true) {
    throw refused(`the records are not those of the session ${sessionId}`)
  }
  const rows = await sharedRows(target, derivation)
  for (const hash of named) rows.push(useRow(useId(hash, sessionId), { at: state.at }))
  await assertArtifacts(store, rows)
  await checkFork(store, sessionId, (_kind, _revision, message) => {
    throw refused(`the session is a fork, and ${message}: import that one first`)
  })
  if (derivation.active !== null) {
    rows.push({ kind: 'active', id: sessionId, value: encodeJson(derivation.active) })
  }
  const document = SessionDocument.build(ports.generation(), state, { number: 1, blocks: [] })
  const snapshot = { through: document.number, generation: document.generation, bytes: document.encode() }
  assertStored(await store.found(sessionId, fence, { revision, snapshot, rows }))
}

/** Whatever a made-up record breaks, it is the record's fault. */
async function derive({ store, head }: ImportTarget): Promise<SessionDerivation> {
  const { sessionId, revision } = head
  try {
    return await deriveSession(store, sessionId, {
      through: revision,
      isExact: true,
      note: (_kind, at, message) => {
        throw refused(`record ${at}: ${message}`)
      },
    })
  } catch (error) {
    if (isHeadwaterError(error)) throw error
    throw refused(`the records cannot be folded: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Writes the rows that are the session's own, and gives those of the root's indexes: they come with the head. */
async function sharedRows({ store, head }: ImportTarget, derivation: SessionDerivation): Promise<RowWrite[]> {
  const shared: RowWrite[] = []
  let own: RowWrite[] = []
  let ownBytes = 0
  let sharedBytes = 0
  for await (const { kind, id, value } of derivedRows(derivation)) {
    if (ROW_KINDS[kind] === 'session') {
      own.push({ kind, id, value })
      ownBytes += value.length
    } else {
      await assertFree(store, { kind, id, sessionId: head.sessionId })
      shared.push({ kind, id, value })
      sharedBytes += value.length
    }
    if (sharedBytes > LIMITS.importSharedRowBytes) throw new HeadwaterError('too_large', 'the session is too large')
    if (ownBytes < LIMITS.batchBytes / 2) continue
    await store.putRows(head.sessionId, own)
    own = []
    ownBytes = 0
  }
  await store.putRows(head.sessionId, own)
  return shared
}

/** What is not there yet, or is otherwise than it has to be. */
async function* derivedRows(derivation: SessionDerivation) {
  for await (const { kind, id, expected } of derivation.rowFaults()) {
    if (expected !== null && typeof expected.value !== 'string') yield { kind, id, value: expected.value }
  }
}

/** Ids of interactions are the root's: one that another session has would be taken from it. */
async function assertFree(
  store: Store,
  { kind, id, sessionId }: Pick<RowWrite, 'kind' | 'id'> & { readonly sessionId: string },
): Promise<void> {
  if (kind !== 'interaction') return
  const row = await store.row('interaction', '', id)
  if (row === undefined || decodeJson<InteractionSnapshot>(row).sessionId === sessionId) return
  throw new HeadwaterError('operation_conflict', `Another session has an interaction ${id} here already.`)
}

/** Every artifact that is named has to be there. Source: L5, D2. */
async function assertArtifacts(store: Store, rows: readonly RowWrite[]): Promise<void> {
  const missing: string[] = []
  for (const { kind, id } of rows) {
    const hash = id.slice(0, id.indexOf('.'))
    if (kind === 'artifact_use' && (await store.artifact(hash)) === undefined) missing.push(hash)
  }
  const [first] = missing
  if (first === undefined) return
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : ''
  throw refused(`the session names the artifact ${first}${more}, which is neither in the file nor here`)
}
