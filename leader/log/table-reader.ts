import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import {
  artifactKey,
  documentRange,
  headKey,
  headRange,
  type KeyRange,
  ledgerRange,
  numberOf,
  pieceKey,
  receiptKey,
  receiptOfKey,
  receiptRange,
  rootRecordKey,
  rowKey,
  rowPrefix,
  rowRange,
  sessionOfHead,
  sessionRanges,
  snapshotKey,
  trimKey,
  updateRange,
} from './keys.ts'
import type { RangeOptions, ReceiptKey, Row, RowKind, SessionHead, StoredDocument, StoreReader } from './store.ts'
import type { FrozenTable, ScanOptions, Table } from './table.ts'
import { decodeArtifact, decodeHead, decodeNumber, decodeSnapshot } from './values.ts'

/** More than any document log has. */
const MAX_UPDATE = 999_999_999_998

type ReadTable = Pick<Table, 'get' | 'scan' | 'keys' | 'sizeOf'>

/** Reads a root's records from a table. */
export class TableReader implements StoreReader {
  readonly #table: ReadTable

  constructor(table: ReadTable) {
    this.#table = table
  }

  receipt(session: string, operation: string, id: string): Promise<Uint8Array | undefined> {
    return this.#table.get(receiptKey(session, operation, id))
  }

  async head(session: string): Promise<SessionHead> {
    return decodeHead(await this.#table.get(headKey(session)))
  }

  /** One scan, and so one state: a compaction that runs meanwhile is seen whole or not at all. */
  async document(session: string): Promise<StoredDocument> {
    const entries = await this.#all(documentRange(session), LIMITS.documentLogUpdates)
    const first = entries[0]
    const snapshot = first !== undefined && first[0] === snapshotKey(session) ? decodeSnapshot(first[1]) : null
    const updates = (snapshot === null ? entries : entries.slice(1)).map(([key, bytes]) => ({
      number: numberOf(key),
      bytes,
    }))
    return { snapshot, updates }
  }

  async lastNumbers(session: string): Promise<SessionHead> {
    const newest = { limit: 1, reverse: true }
    const [record] = await this.#table.keys({ ...ledgerRange(session, 0), ...newest })
    const [update] = await this.#table.keys({ ...updateRange(session, MAX_UPDATE), ...newest })
    return {
      revision: record === undefined ? 0 : numberOf(record),
      update: update === undefined ? 0 : numberOf(update),
    }
  }

  async untrimmed(session: string): Promise<number | undefined> {
    const value = await this.#table.get(trimKey(session))
    return value === undefined ? undefined : decodeNumber(value)
  }

  async ledger(
    session: string,
    after: number,
    limit: number,
  ): Promise<readonly { revision: number; bytes: Uint8Array }[]> {
    const entries = await this.#table.scan({ ...ledgerRange(session, after), limit })
    return entries.map(([key, bytes]) => ({ revision: numberOf(key), bytes }))
  }

  row(kind: RowKind, session: string, id: string): Promise<Uint8Array | undefined> {
    return this.#table.get(rowKey(kind, session, id))
  }

  /** Without a limit: all rows, or `too_large` where there are more than `LIMITS.storeScanRows`. */
  async rows(kind: RowKind, session: string, options: RangeOptions = {}): Promise<readonly Row[]> {
    const { after, limit, reverse = false } = options
    const prefix = rowPrefix(kind, session)
    const range = { ...rowRange(prefix, after, reverse), reverse }
    const entries =
      limit === undefined
        ? await this.#all(range, LIMITS.storeScanRows)
        : await this.#table.scan({ ...range, limit: Math.min(limit, LIMITS.storeScanRows) })
    return entries.map(([key, value]) => ({ id: key.slice(prefix.length), value }))
  }

  async sessions(cursor: string | undefined, limit: number): Promise<readonly string[]> {
    const keys = await this.#table.keys({ ...headRange(cursor), limit: Math.min(limit, LIMITS.storeScanRows) })
    return keys.map(sessionOfHead)
  }

  async artifact(hash: string): Promise<{ bytes: number; mimeType: string } | undefined> {
    const value = await this.#table.get(artifactKey(hash))
    return value === undefined ? undefined : decodeArtifact(value)
  }

  /** Pieces of an upload that did not end are not there. */
  async artifactPiece(hash: string, index: number): Promise<Uint8Array | undefined> {
    if ((await this.#table.get(artifactKey(hash))) === undefined) return undefined
    return await this.#table.get(pieceKey(hash, index))
  }

  rootRecord(key: string): Promise<Uint8Array | undefined> {
    return this.#table.get(rootRecordKey(key))
  }

  async rowIds(
    kind: RowKind,
    session: string,
    { after, limit, reverse = false }: RangeOptions & { readonly limit: number },
  ): Promise<readonly string[]> {
    const prefix = rowPrefix(kind, session)
    const range = { ...rowRange(prefix, after, reverse), reverse, limit: Math.min(limit, LIMITS.storeScanRows) }
    return (await this.#table.keys(range)).map(key => key.slice(prefix.length))
  }

  async receiptKeys(session: string, cursor: ReceiptKey | undefined, limit: number): Promise<readonly ReceiptKey[]> {
    const { gte, lt } = receiptRange(session)
    const from = cursor === undefined ? gte : `${receiptKey(session, cursor.operation, cursor.id)}\0`
    return (await this.#table.keys({ gte: from, lt, limit: Math.min(limit, LIMITS.storeScanRows) })).map(receiptOfKey)
  }

  async artifacts(cursor: string | undefined, limit: number): Promise<readonly string[]> {
    const range = { gte: cursor === undefined ? 'a' : `${artifactKey(cursor)}\0`, lt: 'b' }
    return (await this.#table.keys({ ...range, limit: Math.min(limit, LIMITS.storeScanRows) })).map(key => key.slice(1))
  }

  async sizeOf(session: string): Promise<number> {
    let bytes = 0
    for (const range of sessionRanges(session)) bytes += await this.#table.sizeOf(range)
    return bytes
  }

  /** Everything in a range. A result that was cut in silence would read as a loss, so too much is an error. */
  async #all(range: Omit<ScanOptions, 'limit'>, bound: number): ReturnType<Table['scan']> {
    const entries = await this.#table.scan({ ...range, limit: bound + 1 })
    if (entries.length > bound) throw new HeadwaterError('too_large', `more than ${bound} records in one range`)
    return entries
  }
}

/** Reads one state of a root. */
export class FrozenTableReader extends TableReader {
  readonly #frozen: FrozenTable

  constructor(frozen: FrozenTable) {
    super(frozen)
    this.#frozen = frozen
  }

  get isOpen(): boolean {
    return this.#frozen.isOpen
  }

  entries(range?: KeyRange): ReturnType<FrozenTable['pages']> {
    return this.#frozen.pages(range)
  }

  close(): Promise<void> {
    return this.#frozen.close()
  }
}
