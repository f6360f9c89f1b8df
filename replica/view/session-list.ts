import fuzzysort from 'fuzzysort'
import type { CatalogRow } from '../../schema/entities/projection.ts'
import { inTree } from './session-tree.ts'
import { agoWords } from './time-words.ts'
import { sessionWords } from './words.ts'

/** What a list of sessions shows of one. */
export interface SessionRow {
  readonly sessionId: string
  readonly title: string
  readonly state: string
  readonly tone: 'normal' | 'good' | 'warn' | 'bad' | 'dim'
  /** How many questions wait. */
  readonly waiting: number
  readonly queue: number
  /** `3/7`, '' where there is none. */
  readonly plan: string
  readonly tasks: string
  readonly activity: string
  /** How deep it stands below its parent. */
  readonly depth: number
  readonly isArchived: boolean
}

/** Children are not indented further than this. */
const DEEPEST = 4

/**
 * The sessions as a person reads them: who waits first, then the most recently active; children below their parent, unless a filter picks them.
 * Source: experience 6.4, S7.
 */
export function sessionRows(
  rows: readonly CatalogRow[],
  {
    filter = '',
    showArchived = false,
    now,
  }: { readonly filter?: string; readonly showArchived?: boolean; readonly now: number },
): readonly SessionRow[] {
  const shown = rows.filter(({ isArchived }) => isArchived === showArchived)
  if (filter.trim() !== '') {
    return fuzzysort
      .go(filter, shown, { keys: [titleOf, row => row.sessionId], limit: 500 })
      .map(({ obj }) => sessionRow(obj, now))
  }
  return inTree([...shown].sort(byUrgency)).map(({ session, depth }) =>
    sessionRow(session, now, Math.min(DEEPEST, depth)),
  )
}

function byUrgency(a: CatalogRow, b: CatalogRow): number {
  return Number(b.pendingCount > 0) - Number(a.pendingCount > 0) || b.lastActivityAt - a.lastActivityAt
}

/** The title of a session, or what stands for it where it has none. */
export function titleOf({ title, sessionId }: Pick<CatalogRow, 'title' | 'sessionId'>): string {
  return title.trim() === '' ? `untitled ${sessionId.slice(0, 8)}` : title
}

/** A session by itself; `now` is the local clock, ms. */
export function sessionRow(row: CatalogRow, now: number, depth = 0): SessionRow {
  return {
    sessionId: row.sessionId,
    title: titleOf(row),
    state: row.pendingCount > 0 ? 'waits for you' : sessionWords(row.status),
    tone: toneOf(row),
    waiting: row.pendingCount,
    queue: row.queueCount,
    plan: row.plan === undefined ? '' : `${row.plan.done}/${row.plan.total}`,
    tasks: row.tasks === undefined || row.tasks.total === 0 ? '' : `${row.tasks.open}/${row.tasks.total}`,
    activity: agoWords(row.lastActivityAt, now),
    depth,
    isArchived: row.isArchived,
  }
}

function toneOf({ status, pendingCount }: CatalogRow): SessionRow['tone'] {
  if (status === 'damaged') return 'bad'
  if (pendingCount > 0) return 'warn'
  return status === 'running' ? 'good' : 'dim'
}
