import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { ForkSource } from '../../domain/decision.ts'
import type { SessionState } from '../../domain/state.ts'
import type { StoreReader } from '../../log/store.ts'
import { decodeJson } from '../record.ts'
import { type SegmentReference, type SegmentRow, sortable, type TurnRow } from '../rows.ts'

/**
 * What a fork takes from its source: whole sealed segments stay where they are, so that it reads one segment at most, wherever in the
 * history it begins. Errors: `operation_conflict` for a fork of too many forks. Source: S6.
 */
export async function readForkSource(store: StoreReader, state: SessionState, turnId: string): Promise<ForkSource> {
  const header = state.header as SessionHeader
  const row = await store.row('turn', state.sessionId, turnId)
  if (row === undefined) return { header, turn: null }
  const turn = decodeJson<TurnRow>(row)
  // A row may be newer than the state, which then lacks the turn's last entries.
  const hasEnded = isTerminal(turn.snapshot.status) && (turn.endSeq ?? 0) < state.nextSeq
  if (!hasEnded) return { header, turn: { isTerminal: false, throughSeq: 0, tail: [] } }
  await assertNotTooDeep(store, state.sessionId)
  const throughSeq = turn.endSeq ?? (await findEnd(store, state, turnId))
  return { header, turn: { isTerminal: true, throughSeq, tail: await readTail(store, state, throughSeq) } }
}

/** The entries up to the turn's end that are in no whole segment before it. */
async function readTail(
  store: StoreReader,
  state: SessionState,
  throughSeq: number,
): Promise<readonly TranscriptEntry[]> {
  const live = state.transcript.map(({ entry }) => entry)
  const firstLive = live[0]?.seq ?? state.nextSeq
  if (throughSeq >= firstLive) return live.filter(({ seq }) => seq <= throughSeq)
  if (throughSeq === firstLive - 1) return []
  const after = sortable(throughSeq + 1)
  const [row] = await store.rows('segment', state.sessionId, { after, limit: 1, reverse: true })
  const segment = row === undefined ? undefined : decodeJson<SegmentRow>(row.value)
  if (segment === undefined || 'sourceSessionId' in segment) return []
  const { entries } = segment
  return entries.at(-1)?.seq === throughSeq ? [] : entries.filter(({ seq }) => seq <= throughSeq)
}

/** Where a turn ended of which it was not noted: its last entry, looked for from the newest back. */
async function findEnd(store: StoreReader, state: SessionState, turnId: string): Promise<number> {
  const live = state.transcript.findLast(({ entry }) => entry.turnId === turnId)
  if (live !== undefined) return live.entry.seq
  for (let after = sortable(state.nextSeq); ; ) {
    const [row] = await store.rows('segment', state.sessionId, { after, limit: 1, reverse: true })
    const segment = row === undefined ? undefined : decodeJson<SegmentRow>(row.value)
    if (row === undefined || segment === undefined || 'sourceSessionId' in segment) return state.nextSeq - 1
    const found = segment.entries.findLast(entry => entry.turnId === turnId)
    if (found !== undefined) return found.seq
    after = row.id
  }
}

async function assertNotTooDeep(store: StoreReader, sessionId: string): Promise<void> {
  let source = await referenceOf(store, sessionId)
  for (let depth = 1; source !== null; depth++) {
    if (depth >= LIMITS.forkDepth) {
      throw new HeadwaterError('operation_conflict', 'the session is a fork of too many forks')
    }
    source = await referenceOf(store, source.sourceSessionId)
  }
}

/** Where the first entries of a session are, if it is a fork and they are not its own. Source: S6. */
export async function referenceOf(store: StoreReader, sessionId: string): Promise<SegmentReference | null> {
  const row = await store.row('segment', sessionId, sortable(1))
  const segment = row === undefined ? undefined : decodeJson<SegmentRow>(row)
  return segment !== undefined && 'sourceSessionId' in segment ? segment : null
}
