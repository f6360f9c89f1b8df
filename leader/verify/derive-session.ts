import type { StoreReader } from '../log/store.ts'
import { type LedgerStep, type Note, type WalkEnd, walkLedger } from '../session/ledger/ledger-walk.ts'
import { checkpointOf } from '../session/record.ts'
import type { ActiveRow } from '../session/rows.ts'
import { compareRows, type RootRow, type RowFault } from './check-rows.ts'
import { ExpectedRows, type Partition, RowDerivation, type RowMemory, WHOLE } from './expected-rows.ts'
import { lateTurnRows } from './late-turns.ts'

/** How a session is derived. */
export interface DeriveOptions extends RowMemory {
  readonly through: number
  readonly note: Note
  /** As in Comparison. */
  readonly rootRows?: () => AsyncIterable<RootRow>
  readonly onStep?: (step: LedgerStep) => void
  /** Told after each page how many records were read so far. */
  readonly onPage?: (records: number) => Promise<void> | void
}

/** What a session's ledger gives. */
export interface SessionDerivation {
  readonly end: WalkEnd
  /** Where recovery would start to read. */
  readonly active: ActiveRow | null
  /** Rows that are not as the ledger gives them. Walks again where the session is too large to be looked at in one go. */
  rowFaults(): AsyncGenerator<RowFault>
}

/** So many parts are the most that a session's rows are looked at in. */
const MAX_PARTS = 4_096

/** Walks a session's ledger and derives document state and rows from it, in bounded memory. Source: D2. */
export async function deriveSession(
  store: StoreReader,
  sessionId: string,
  options: DeriveOptions,
): Promise<SessionDerivation> {
  const first = await derivePart(store, sessionId, options, WHOLE)
  const { end, active } = first
  return { end, active, rowFaults: () => rowFaults(store, sessionId, options, first) }
}

async function* rowFaults(
  store: StoreReader,
  sessionId: string,
  options: DeriveOptions,
  { rows, end }: DerivedPart,
): AsyncGenerator<RowFault> {
  if (!rows.isOver) {
    const { rootRows } = options
    const more = rootRows === undefined ? {} : { rootRows }
    yield* compareRows(store, { expected: rows, state: end.state, isPartial: end.checkpoint > 0, ...more })
    return
  }
  const { index, count } = rows.partition
  if (count >= MAX_PARTS) throw new Error('a session has more rows than can be looked at')
  // What falls into part i of n falls into part i or i + n of 2n.
  for (const half of [index, index + count]) {
    const quiet: DeriveOptions = { ...options, note: () => {}, onStep: () => {}, onPage: () => {} }
    const part = await derivePart(store, sessionId, quiet, { index: half, count: 2 * count })
    yield* rowFaults(store, sessionId, options, part)
  }
}

interface DerivedPart {
  readonly end: WalkEnd
  readonly active: ActiveRow | null
  readonly rows: ExpectedRows
}

async function derivePart(
  store: StoreReader,
  sessionId: string,
  options: DeriveOptions,
  partition: Partition,
): Promise<DerivedPart> {
  const { through, note, onStep, onPage } = options
  const derivation = new RowDerivation()
  const rows = new ExpectedRows(partition, options)
  let records = 0
  const end = await walkLedger(store, sessionId, {
    through,
    note,
    onStep: step => {
      records += 1
      // What was before it may be there in part.
      if (checkpointOf(step.record) !== null) rows.clear()
      rows.take(derivation.step(step))
      onStep?.(step)
    },
    onPage: () => onPage?.(records),
  })
  rows.take(await lateTurnRows(store, sessionId, derivation.lateTurns, end.state.revision))
  return { end, active: derivation.active, rows }
}
