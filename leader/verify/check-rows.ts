import type { InteractionSnapshot } from '../../schema/entities/interaction.ts'
import type { SessionState } from '../domain/state.ts'
import { ROW_KINDS, type Row, type RowKind, type StoreReader } from '../log/store.ts'
import { decodeJson } from '../session/record.ts'
import { sortable, type TurnRow } from '../session/rows.ts'
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

/** What a session's rows are compared with. */
export interface Comparison {
  /** Rows that are looked at are taken out of it. */
  readonly expected: ExpectedRows
  /** The session as its ledger gives it. */
  readonly state: SessionState
  /** The ledger does not reach back to the first revision: rows that it does not give may be from before its checkpoint. Source: L6. */
  readonly isPartial: boolean
  /** The rows of scope root that are this session's, where those it should not have are asked for too. */
  readonly rootRows?: () => AsyncIterable<RootRow>
}

/** Compares a session's rows with those that its ledger gives. Source: D2. */
export async function* compareRows(store: StoreReader, comparison: Comparison): AsyncGenerator<RowFault> {
  const { expected, state, rootRows } = comparison
  for (const kind of SESSION_KINDS) {
    for await (const row of scanRows(store, kind, state.sessionId)) {
      if (!expected.covers(kind, row.id)) continue
      const wanted = expected.get(kind, row.id)
      const fault = await faultOf(store, comparison, { kind, ...row })
      if (fault !== null) yield { fault, kind, id: row.id, expected: wanted ?? null }
      expected.remove(kind, row.id)
    }
  }
  for await (const row of rootRows?.() ?? []) {
    if (!expected.covers(row.kind, row.id) || expected.get(row.kind, row.id) !== undefined) continue
    const fault = await faultOf(store, comparison, row)
    if (fault !== null) yield { fault, kind: row.kind, id: row.id, expected: null }
  }
  for (const row of expected.rest()) {
    // Recovery may begin to read earlier than it has to, and looks at a session once too often rather than never: checked by itself.
    if (row.kind === 'active') continue
    const value = ROW_KINDS[row.kind] === 'root' ? await readRow(store, row) : undefined
    const { kind, id } = row
    const fault = value === undefined ? 'row_missing' : await faultOf(store, comparison, { kind, id, value })
    if (fault !== null) yield { fault, kind, id, expected: row }
  }
}

/** A row of scope root. */
export interface RootRow extends ScannedRow {
  readonly kind: RowKind
}

async function faultOf(
  store: StoreReader,
  { expected, state, isPartial }: Comparison,
  { kind, id, value }: RootRow,
): Promise<RowFaultKind | null> {
  if (value === UNREADABLE) return 'row_unreadable'
  const wanted = expected.get(kind, id)
  try {
    if (wanted !== undefined) return isSameValue(value, wanted) ? null : 'row_differs'
    const mayBeOlder = isPartial && !(await isBehind(store, state, { kind, id, value: decodeJson(value) }))
    return mayBeOlder ? null : 'row_orphan'
  } catch {
    return 'row_unreadable'
  }
}

/** Kinds of which a checkpoint's own state gives all there may be. */
const WHOLE_KINDS: ReadonlySet<RowKind> = new Set(['session', 'activity', 'pending', 'active'])

/** True for a row that cannot be from before a checkpoint: it stands behind the session's newest revision, or its state would give it. */
async function isBehind(
  store: StoreReader,
  { sessionId, revision, transcript, nextSeq }: SessionState,
  { kind, id, value }: { readonly kind: RowKind; readonly id: string; readonly value: unknown },
): Promise<boolean> {
  if (WHOLE_KINDS.has(kind)) return true
  if (kind === 'turn') return (value as TurnRow).admittedRevision > revision
  if (kind === 'segment') return id >= sortable(transcript[0]?.entry.seq ?? nextSeq)
  const turnId = kind === 'admission' ? id : kind === 'interaction' ? (value as InteractionSnapshot).turnId : null
  const turn = turnId === null ? undefined : await store.row('turn', sessionId, turnId)
  return turn !== undefined && decodeJson<TurnRow>(turn).admittedRevision > revision
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

/** A row as it was found. */
export interface ScannedRow {
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
