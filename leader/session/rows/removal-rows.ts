import type { SessionState } from '../../domain/state.ts'
import type { ReceiptKey, RowWrite } from '../../log/store.ts'
import { encodeJson } from '../record.ts'

/**
 * Row `tombstone` under the id of a session: it was deleted, and its id is used up. `keptThrough`: the last id of its segments that forks
 * refer to; absent where nothing is kept.
 */
export interface TombstoneRow {
  readonly deletedAt: number
  readonly keptThrough?: string
  /** As in PurgeRow, where something is kept. */
  readonly receipt?: ReceiptKey
  readonly sourceSessionId?: string
}

/**
 * Row `tombstone` under `!` and the id of a session: its purge is not done. `receipt`: the one of its deletion; `sourceSessionId`: what it was
 * forked from, where its first entries are. `artifacts`: those that went with it, whose place is to be given back; null: too many to be noted.
 * Source: S5, S6.
 */
export interface PurgeRow {
  readonly step: PurgeStep
  readonly artifacts?: readonly string[] | null
  readonly receipt?: ReceiptKey
  readonly sourceSessionId?: string
}

/** What comes next: its linked children, what is named in its ledger and lives elsewhere, its own records, their place on the disk. */
export type PurgeStep = 'children' | 'named' | 'records' | 'space'

/** What the ids of purges that are not done begin with: they sort before all sessions, so that a start reads no others. */
export const PURGE_PREFIX = '!'

/** The id of a session's PurgeRow. */
export function purgeId(sessionId: string): string {
  return `${PURGE_PREFIX}${sessionId}`
}

/** A session's PurgeRow. */
export function purgeRow(sessionId: string, row: PurgeRow | null): RowWrite {
  return { kind: 'tombstone', id: purgeId(sessionId), value: row === null ? null : encodeJson(row) }
}

/** A session's tombstone. */
export function tombstoneRow(sessionId: string, row: TombstoneRow): RowWrite {
  return { kind: 'tombstone', id: sessionId, value: encodeJson(row) }
}

/** The rows of a session's last transition: it is in no list any more, and its purge begins. Source: S5. */
export function removalRows(
  previous: SessionState,
  next: SessionState,
  shown: { readonly activityKey: string | null; readonly pendingKeys: readonly string[]; readonly isActive: boolean },
): RowWrite[] {
  const { sessionId, at } = next
  const parent = previous.header?.parent
  const gone: RowWrite[] = shown.pendingKeys.map(id => ({ kind: 'pending', id, value: null }))
  if (shown.activityKey !== null) gone.push({ kind: 'activity', id: shown.activityKey, value: null })
  if (parent !== undefined) gone.push({ kind: 'child', id: `${parent.sessionId}.${sessionId}`, value: null })
  if (shown.isActive) gone.push({ kind: 'active', id: sessionId, value: null })
  return [
    ...gone,
    { kind: 'session', id: sessionId, value: null },
    tombstoneRow(sessionId, { deletedAt: at }),
    purgeRow(sessionId, { step: 'children' }),
  ]
}
