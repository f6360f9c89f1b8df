import { LIMITS } from '../../../schema/limits.ts'
import { spanWords } from '../time-words.ts'
import { TIMELINE_KINDS } from './event-table.ts'
import { STEP_WORDS } from './step-marks.ts'
import type { TimedRow } from './step-times.ts'

const MINUTE_MS = 60_000

/** The times of a row in words: of the steps that end in it, else since the record before. */
export function timeWordsOf({ steps, sinceMs }: Pick<TimedRow, 'steps' | 'sinceMs'>): string {
  if (steps.length > 0) return steps.map(({ step, ms }) => `${STEP_WORDS[step]} ${spanWords(ms)}`).join(', ')
  return sinceMs === null ? '' : `+${spanWords(sinceMs)}`
}

/** The rows that fit all words of a filter: by kind, who, turn, what it is about, revision (`#12`) and what is told. */
export function filterTimeline(rows: readonly TimedRow[], filter: string): readonly TimedRow[] {
  const words = filter.toLowerCase().slice(0, LIMITS.filterChars).split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  const isKind = (word: string): boolean => (TIMELINE_KINDS as readonly string[]).includes(word)
  return rows.filter(row => {
    const text = [
      `#${row.revision}`,
      row.who,
      row.client,
      row.words,
      row.turnId ?? '',
      row.subjectId ?? '',
      timeWordsOf(row),
    ]
      .join('\n')
      .toLowerCase()
    return words.every(word => (isKind(word) ? row.kinds.some(kind => kind === word) : text.includes(word)))
  })
}

/** Rows of one turn that follow each other; `turnId` is null for what belongs to none. */
export interface TimelineGroup {
  readonly turnId: string | null
  readonly rows: readonly TimedRow[]
}

/** Rows grouped by turn, in their order. What names no turn stays with the turn it happened in. */
export function groupByTurn(rows: readonly TimedRow[]): readonly TimelineGroup[] {
  const groups: { turnId: string | null; rows: TimedRow[] }[] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last !== undefined && (row.turnId === last.turnId || (row.turnId === null && !isOver(last.rows))))
      last.rows.push(row)
    else groups.push({ turnId: row.turnId, rows: [row] })
  }
  return groups
}

function isOver(rows: readonly TimedRow[]): boolean {
  return rows.some(({ marks }) => marks.some(({ step, does }) => step === 'turn' && does === 'end'))
}

/** How many records each minute has, from the first row's (or the last few hours) to the last row's. */
export function recordsPerMinute(rows: readonly TimedRow[]): readonly number[] {
  const [oldest] = rows
  const newest = rows.at(-1)
  if (oldest === undefined || newest === undefined) return []
  const end = Math.floor(newest.at / MINUTE_MS)
  const minutes = Math.min(LIMITS.timelineMinutes, Math.max(1, end - Math.floor(oldest.at / MINUTE_MS) + 1))
  const counts = Array.from({ length: minutes }, () => 0)
  for (const { at } of rows) {
    const index = minutes - 1 - Math.max(0, end - Math.floor(at / MINUTE_MS))
    if (index >= 0) counts[index] = (counts[index] ?? 0) + 1
  }
  return counts
}
