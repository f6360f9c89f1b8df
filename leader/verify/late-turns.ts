import type { LedgerRecord } from '../../schema/events.ts'
import { terminalSnapshot } from '../domain/evolve/turn.ts'
import { collectTurnFacts, endedRun, type TurnFacts } from '../domain/facts.ts'
import type { RowWrite, StoreReader } from '../log/store.ts'
import { walkLedger } from '../session/ledger/ledger-walk.ts'
import { settledTurnRow } from '../session/rows.ts'

/**
 * The rows of turns that recovery settled when they were not the newest any more; folding does not give them. Turns whose admission is not in
 * the ledger any more are left out. Source: X1, X2, D2.
 */
export async function lateTurnRows(
  store: StoreReader,
  sessionId: string,
  turnIds: ReadonlySet<string>,
  through: number,
): Promise<readonly RowWrite[]> {
  if (turnIds.size === 0) return []
  const records: LedgerRecord[] = []
  await walkLedger(store, sessionId, {
    through,
    note: () => {},
    onStep: ({ record }) => {
      const events = record.events.filter(({ payload }) => turnIds.has(turnOf(payload)))
      if (events.length > 0) records.push({ ...record, events })
    },
  })
  return collectTurnFacts(sessionId, records).flatMap(facts => lateRow(sessionId, facts))
}

function turnOf(payload: Readonly<Record<string, unknown>>): string {
  const { turnId, admission } = payload as { turnId?: string; admission?: { turnId: string } }
  return admission?.turnId ?? turnId ?? ''
}

function lateRow(sessionId: string, facts: TurnFacts): readonly RowWrite[] {
  const { admission, turnId } = facts
  if (admission === null) return []
  const runs = facts.runs.map(run => endedRun(run, facts))
  const run = runs.find(({ runId }) => runId === admission.runId)
  if (run?.terminalEventId === undefined) return []
  return [settledTurnRow(facts, terminalSnapshot({ sessionId, turnId, runId: admission.runId }, run), runs)]
}
