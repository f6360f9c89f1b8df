import type { SessionHeader } from '../../schema/entities/session.ts'
import { isTaskEnd } from '../../schema/entities/task.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { Run, TurnSnapshot } from '../../schema/entities/turn.ts'
import type { DomainEvent } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import { settledSnapshot } from '../domain/evolve/interaction.ts'
import type { TurnFacts } from '../domain/facts.ts'
import { activeTurn, hasUnfinishedWork, type RootTurn, type SessionState } from '../domain/state.ts'
import type { RowWrite } from '../log/store.ts'
import { childRows } from './children/row.ts'
import { encodeJson } from './record.ts'
import { artifactRows } from './rows/named-rows.ts'
import { planCount, planRows } from './rows/plan-rows.ts'
import { removalRows } from './rows/removal-rows.ts'

/** Row `session`: what lists show without loading the session. */
export interface SessionRow {
  readonly header: SessionHeader
  readonly queueCount: number
  readonly pendingCount: number
  readonly plan?: { readonly done: number; readonly total: number }
  readonly tasks?: { readonly open: number; readonly total: number }
}

/** Row `turn`: a turn as `turn.query` answers it, and its runs. */
export interface TurnRow {
  readonly snapshot: TurnSnapshot
  readonly runs: readonly Run[]
  readonly admittedRevision: number
  /** As in RootTurn; absent also for a turn that recovery ended when it was not the newest any more. Source: S6. */
  readonly endSeq?: number
  /** As in RootTurn. */
  readonly sealedCalls?: readonly string[]
}

/** Row `active`: where recovery starts to read: the revision of the oldest unfinished turn, and the root turn before it. */
export interface ActiveRow {
  readonly since: number
  readonly previousRootTurnId: string | null
}

/** Row `segment`: sealed transcript entries, contiguous; or where a fork's first entries are. */
export type SegmentRow = { readonly entries: readonly TranscriptEntry[] } | SegmentReference

/** The entries from the first one through `through` are those of another session. Source: S6. */
export interface SegmentReference {
  readonly sourceSessionId: string
  readonly through: number
}

/** Row `entry`: what became of a queue entry. */
export interface EntryRow {
  readonly fate: 'delivered' | 'removed'
}

/** A number as a key part that sorts. */
export function sortable(value: number): string {
  return String(value).padStart(15, '0')
}

/** The key of a session in the order of `session.list`: archived apart, most recent first. Source: S7. */
export function activityKey(header: Pick<SessionHeader, 'isArchived' | 'lastActivityAt' | 'sessionId'>): string {
  const newestFirst = sortable(999_999_999_999_999 - header.lastActivityAt)
  return `${header.isArchived ? 'a' : 'u'}.${newestFirst}.${header.sessionId}`
}

/** One transition as its derived rows see it. */
export interface RowsInput {
  readonly previous: SessionState
  readonly next: SessionState
  readonly events: readonly DomainEvent[]
  readonly sealed: readonly TranscriptEntry[]
  /** Where the session's oldest unfinished work began before this transition; null while it had none. */
  readonly active: ActiveRow | null
}

/** The derived rows that one transition changes, and the new `active` row. Source: architecture 5. */
export function rowsOf(input: RowsInput): { readonly rows: RowWrite[]; readonly active: ActiveRow | null } {
  const { previous, next } = input
  if (next.isDeleted === true) return { rows: deletedRows(input), active: null }
  const active = nextActive(input)
  const rows: RowWrite[] = [
    ...sessionRows(previous, next),
    ...childRows(previous, next),
    ...turnRows(previous.root, next.root),
    ...interactionRows(input),
    ...entryRows(input.events),
    ...forkRows(next.sessionId, input.events),
    ...segmentRows(input.sealed),
    ...artifactRows(next.sessionId, input.events, next.at),
    ...planRows(previous, next, input.events),
  ]
  if (active?.since !== input.active?.since || (active === null) !== (input.active === null)) {
    rows.push({ kind: 'active', id: next.sessionId, value: active === null ? null : encodeJson(active) })
  }
  return { rows, active }
}

function deletedRows({ previous, next, active }: RowsInput): RowWrite[] {
  const { header, interactions } = previous
  return removalRows(previous, next, {
    activityKey: header === null ? null : activityKey(header),
    pendingKeys: interactions.map(pendingKey),
    isActive: active !== null,
  })
}

/** A turn that is admitted when all before it have ended is the oldest unfinished one, however long the chain of turns gets. Source: A7. */
function nextActive({ previous, next, events, active }: RowsInput): ActiveRow | null {
  if (!hasUnfinishedWork(next)) return null
  const isAnew = activeTurn(previous) === null && events.some(e => e.type === 'turn_admitted')
  if (active !== null && !isAnew) return active
  return { since: next.revision, previousRootTurnId: previous.root?.admission.turnId ?? null }
}

/** What lists show of a session; null before it exists. Source: S7. */
export function sessionRow(state: SessionState): SessionRow | null {
  const { header, queue, interactions } = state
  if (header === null) return null
  const plan = planCount(state)
  const tasks = taskCount(state)
  return {
    header,
    queueCount: queue.length,
    pendingCount: interactions.length,
    ...(plan === undefined ? {} : { plan }),
    ...(tasks === undefined ? {} : { tasks }),
  }
}

/** How many tasks there are and how many nobody has ended; undefined without tasks. Source: S7. */
function taskCount({ tasks: { items } }: SessionState): SessionRow['tasks'] {
  if (items.length === 0) return undefined
  return { open: items.filter(task => !isTaskEnd(task.status)).length, total: items.length }
}

function sessionRows(previous: SessionState, next: SessionState): RowWrite[] {
  const { header } = next
  const isSame =
    header === previous.header &&
    next.queue.length === previous.queue.length &&
    next.interactions.length === previous.interactions.length &&
    next.plan === previous.plan &&
    next.tasks === previous.tasks
  const row = isSame ? null : sessionRow(next)
  if (header === null || row === null) return []
  const rows: RowWrite[] = [{ kind: 'session', id: next.sessionId, value: encodeJson(row) }]
  const key = activityKey(header)
  const oldKey = previous.header === null ? null : activityKey(previous.header)
  if (key === oldKey) return rows
  if (oldKey !== null) rows.push({ kind: 'activity', id: oldKey, value: null })
  rows.push({ kind: 'activity', id: key, value: encodeJson(next.sessionId) })
  return rows
}

function turnRows(previous: RootTurn | null, next: RootTurn | null): RowWrite[] {
  if (next === null || next === previous) return []
  const { admission, ...row } = next
  const rows: RowWrite[] = [{ kind: 'turn', id: admission.turnId, value: encodeJson(row satisfies TurnRow) }]
  if (previous?.admission !== admission) {
    rows.push({ kind: 'admission', id: admission.turnId, value: encodeJson(admission) })
  }
  return rows
}

/** The `turn` row of a turn that recovery settled although it is not the newest. Source: X1, X2. */
export function settledTurnRow(facts: TurnFacts, snapshot: TurnSnapshot, runs: readonly Run[]): RowWrite {
  const row: TurnRow = { snapshot, runs, admittedRevision: facts.admittedRevision }
  return { kind: 'turn', id: facts.turnId, value: encodeJson(row) }
}

function pendingKey(record: SessionState['interactions'][number]): string {
  return `${sortable(record.openedAt)}.${record.snapshot.interactionId}`
}

function interactionRows(input: RowsInput): RowWrite[] {
  const { previous, next, events } = input
  if (previous.interactions === next.interactions && !events.some(e => e.type === 'interaction_opened')) return []
  const rows: RowWrite[] = []
  const opened = next.interactions.filter(r => !previous.interactions.includes(r))
  for (const record of opened) {
    const value = encodeJson(record.snapshot)
    rows.push({ kind: 'pending', id: pendingKey(record), value })
    rows.push({ kind: 'interaction', id: record.snapshot.interactionId, value })
  }
  for (const event of events) {
    if (event.type !== 'interaction_answered' && event.type !== 'interaction_closed') continue
    rows.push(...settledRows(input, event))
  }
  return rows
}

type SettledEvent = Extract<DomainEvent, { type: 'interaction_answered' | 'interaction_closed' }>

/** A settled interaction leaves `pending` and stays under its id; it may have been opened in the same transition. Source: I6, I7. */
function settledRows({ previous, next, sealed }: RowsInput, event: SettledEvent): RowWrite[] {
  const { interactionId } = event.payload
  const record = previous.interactions.find(r => r.snapshot.interactionId === interactionId)
  const shown = [...sealed, ...next.transcript.map(live => live.entry)]
  const entry = shown.find(e => e.kind === 'interaction' && e.interactionId === interactionId)
  if (entry?.kind !== 'interaction') return []
  const { turnId, runId = '', request, outcome } = entry
  const pending = record?.snapshot ?? {
    interactionId,
    sessionId: next.sessionId,
    turnId,
    runId,
    revision: 1,
    request,
    status: 'pending' as const,
    outcome: null,
  }
  const rows: RowWrite[] = [
    { kind: 'interaction', id: interactionId, value: encodeJson(settledSnapshot(pending, outcome)) },
  ]
  if (record !== undefined) rows.push({ kind: 'pending', id: pendingKey(record), value: null })
  return rows
}

/** An entry that left the queue, and what became of it. */
type EntryEnd = readonly [entryId: string, fate: EntryRow['fate']]

/** What became of the entries that left the queue with these events. Source: Q6. */
export function entryFates(events: readonly DomainEvent[]): readonly EntryEnd[] {
  return events.flatMap((event): readonly EntryEnd[] => {
    switch (event.type) {
      case 'steering_delivered':
        return [[event.payload.entryId, 'delivered']]
      case 'queue_handed_on':
        return event.payload.entryIds.map((id): EntryEnd => [id, 'delivered'])
      case 'queue_entry_removed':
        return [[event.payload.entryId, 'removed']]
      case 'queue_retracted':
        return event.payload.entryIds.map((id): EntryEnd => [id, 'removed'])
      default:
        return []
    }
  })
}

function entryRows(events: readonly DomainEvent[]): RowWrite[] {
  return entryFates(events).map(([id, fate]) => ({ kind: 'entry', id, value: encodeJson({ fate }) }))
}

/** Where a fork's first entries are, noted with both sessions; none where all are copied. Source: S6. */
function forkRows(sessionId: string, events: readonly DomainEvent[]): RowWrite[] {
  return events.flatMap((event): RowWrite[] => {
    if (event.type !== 'session_forked') return []
    const { sourceSessionId, throughSeq, tail } = event.payload
    const through = (tail[0]?.seq ?? throughSeq + 1) - 1
    if (through === 0) return []
    const reference: SegmentReference = { sourceSessionId, through }
    return [
      { kind: 'segment', id: sortable(1), value: encodeJson(reference) },
      { kind: 'fork', id: `${sourceSessionId}.${sessionId}`, value: encodeJson({ through }) },
    ]
  })
}

function segmentRows(sealed: readonly TranscriptEntry[]): RowWrite[] {
  const rows: RowWrite[] = []
  for (let i = 0; i < sealed.length; i += LIMITS.segmentEntries) {
    const entries = sealed.slice(i, i + LIMITS.segmentEntries)
    rows.push({ kind: 'segment', id: sortable((entries[0] as TranscriptEntry).seq), value: encodeJson({ entries }) })
  }
  return rows
}
