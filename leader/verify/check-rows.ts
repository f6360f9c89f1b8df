import { ROW_KINDS, type Row, type RowKind, type StoreReader } from '../log/store.ts'
import { decodeJson } from '../session/record.ts'
import { type ExpectedRow, type ExpectedRows, isSameValue } from './expected-rows.ts'

/** What is wrong with a derived row. All of these are mended by rebuilding it. Source: D2. */
export type RowFaultKind = 'row_missing' | 'row_differs' | 'row_orphan' | 'row_unreadable'

/** A row that is not as the ledger gives it. `expected` is what has to stand there; null: nothing. */
export interface RowFault {
  readonly fault: RowFaultKind
  readonly kind: RowKind
  readonly id: string
  readonly expected: ExpectedRow | null
}

/** Kinds whose rows are the ledger's alone, and lie by session: any other row of them is one too many. */
export const SESSION_KINDS = (Object.keys(ROW_KINDS) as RowKind[]).filter(kind => ROW_KINDS[kind] === 'session')

/** A segment may hold 2 MiB: few at a time. */
const PAGE_ROWS = 64

/** A row that is there but cannot be read. */
const UNREADABLE = Symbol('unreadable')

/**
 * Compares a session's rows with those its ledger gives, which it takes out of `expected`. With `isPartial` the ledger does not reach back
 * to the first revision: rows that it does not give are let be, as long as they can be read. Source: D2, L6.
 */
export async function* compareRows(
  store: StoreReader,
  sessionId: string,
  expected: ExpectedRows,
  isPartial: boolean,
): AsyncGenerator<RowFault> {
  for (const kind of SESSION_KINDS) {
    for await (const row of scanRows(store, kind, sessionId)) {
      if (!expected.covers(kind, row.id)) continue
      const wanted = expected.get(kind, row.id)
      const fault = faultOf(row.value, wanted, isPartial)
      if (fault !== null) yield { fault, kind, id: row.id, expected: wanted ?? null }
      expected.remove(kind, row.id)
    }
  }
  for (const row of expected.rest()) {
    // Its own bounds: recovery may begin to read earlier than it has to, and looks at it once too often rather than never.
    if (row.kind === 'active') continue
    const stored = ROW_KINDS[row.kind] === 'root' ? await readRow(store, row) : undefined
    const fault = stored === undefined ? 'row_missing' : faultOf(stored, row, isPartial)
    if (fault !== null) yield { fault, kind: row.kind, id: row.id, expected: row }
  }
}

function faultOf(
  stored: Uint8Array | typeof UNREADABLE,
  wanted: ExpectedRow | undefined,
  isPartial: boolean,
): RowFaultKind | null {
  if (stored === UNREADABLE) return 'row_unreadable'
  try {
    if (wanted !== undefined) return isSameValue(stored, wanted) ? null : 'row_differs'
    decodeJson(stored)
    return isPartial ? null : 'row_orphan'
  } catch {
    return 'row_unreadable'
  }
}

async function readRow(
  store: StoreReader,
  { kind, id }: ExpectedRow,
): Promise<Uint8Array | typeof UNREADABLE | undefined> {
  try {
    return await store.row(kind, '', id)
  } catch {
    return UNREADABLE
  }
}

interface ScannedRow {
  readonly id: string
  readonly value: Uint8Array | typeof UNREADABLE
}

/** The stored rows of a kind, a few at a time. Those that fail their checksum are told apart one by one. */
export async function* scanRows(store: StoreReader, kind: RowKind, session: string): AsyncGenerator<ScannedRow> {
  for (let after: string | undefined; ; ) {
    const page = await readPage(store, kind, session, after)
    yield* page
    after = page.at(-1)?.id
    if (after === undefined) return
  }
}

async function readPage(
  store: StoreReader,
  kind: RowKind,
  session: string,
  after: string | undefined,
): Promise<readonly ScannedRow[]> {
  const from = after === undefined ? {} : { after }
  try {
    return await store.rows(kind, session, { ...from, limit: PAGE_ROWS })
  } catch {
    const ids = await store.rowIds(kind, session, { ...from, limit: PAGE_ROWS })
    return await Promise.all(ids.map(id => readSingly(store, kind, session, id)))
  }
}

async function readSingly(store: StoreReader, kind: RowKind, session: string, id: string): Promise<ScannedRow> {
  try {
    const value = await store.row(kind, session, id)
    return { id, value: value ?? UNREADABLE } satisfies Row | ScannedRow
  } catch {
    return { id, value: UNREADABLE }
  }
}

/** True for a value that was read. */
export function isReadable(value: ScannedRow['value']): value is Uint8Array {
  return value !== UNREADABLE
}
