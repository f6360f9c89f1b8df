import type { Task, TaskStatus } from '../../../schema/entities/task.ts'
import { taskWords } from '../words.ts'

/** Which tasks are shown: those of one state, or all. */
export type TaskFilter = TaskStatus | 'all'

/** A task in its tree. */
export interface TaskRow {
  readonly id: string
  readonly key: string
  /** 0: it stands at the top. */
  readonly depth: number
  readonly subject: string
  readonly mark: string
  readonly state: string
  readonly tone: 'normal' | 'dim' | 'accent' | 'good' | 'warn' | 'bad'
  readonly owner: string
  /** Why it waits or failed; ''. */
  readonly reason: string
  /** What shows that it is done; ''. */
  readonly evidence: string
  /** It is like what was asked for; false for one that is there as the parent of such a one. */
  readonly isMatch: boolean
}

/** In this order the filter goes on. */
const FILTERS: readonly TaskFilter[] = ['all', 'in_progress', 'blocked', 'pending', 'failed', 'completed', 'cancelled']

const LOOKS: Readonly<Record<TaskStatus, Pick<TaskRow, 'mark' | 'tone'>>> = {
  pending: { mark: '[ ]', tone: 'normal' },
  in_progress: { mark: '[>]', tone: 'accent' },
  blocked: { mark: '[?]', tone: 'warn' },
  completed: { mark: '[x]', tone: 'good' },
  failed: { mark: '[!]', tone: 'bad' },
  cancelled: { mark: '[-]', tone: 'dim' },
}

/** The tasks that are like what is asked for, with their parents, in the order of the ledger, which is that of keys. Source: K1, experience 6.4. */
export function taskRows(
  items: readonly Task[],
  { filter, text }: { readonly filter: TaskFilter; readonly text: string },
): readonly TaskRow[] {
  const wanted = text.trim().toLowerCase()
  const matches = new Set(
    items.filter(
      task => (filter === 'all' || task.status === filter) && (wanted === '' || searched(task).includes(wanted)),
    ),
  )
  const shown = new Set([...matches].flatMap(({ key }) => lineage(key)))
  return items.filter(({ key }) => shown.has(key)).map(task => rowOf(task, matches.has(task)))
}

/** The state after this one that some task has; all of them after the last one. */
export function nextFilter(filter: TaskFilter, items: readonly Task[]): TaskFilter {
  const later = FILTERS.slice(FILTERS.indexOf(filter) + 1)
  return later.find(each => items.some(({ status }) => status === each)) ?? 'all'
}

/** How many tasks there are, and how many of each state: `7 tasks: 1 in progress, 2 blocked, 4 done`. */
export function countWords(items: readonly Task[]): string {
  if (items.length === 0) return 'no tasks'
  const counts = FILTERS.flatMap(filter => {
    if (filter === 'all') return []
    const count = items.filter(({ status }) => status === filter).length
    return count === 0 ? [] : [`${count} ${taskWords(filter)}`]
  })
  return `${items.length} ${items.length === 1 ? 'task' : 'tasks'}: ${counts.join(', ')}`
}

/** A filter in words; '' where all is shown. */
export function filterWords(filter: TaskFilter): string {
  return filter === 'all' ? '' : `only ${taskWords(filter)}`
}

function rowOf(task: Task, isMatch: boolean): TaskRow {
  const { id, key, subject, status, owner = '', blockedReason, failureReason, completionEvidence = '' } = task
  return {
    ...{ id, key, subject, owner, isMatch },
    ...LOOKS[status],
    depth: key.split('.').length - 1,
    state: taskWords(status),
    reason: reasonOf(status, { blockedReason, failureReason }),
    evidence: completionEvidence,
  }
}

/** What was said of an earlier state is of no use. */
function reasonOf(
  status: TaskStatus,
  {
    blockedReason,
    failureReason,
  }: { readonly blockedReason: string | undefined; readonly failureReason: string | undefined },
): string {
  return (status === 'blocked' ? blockedReason : status === 'failed' ? failureReason : undefined) ?? ''
}

function searched({ key, subject, owner, blockedReason, failureReason, completionEvidence }: Task): string {
  return [key, subject, owner, blockedReason, failureReason, completionEvidence].join('\n').toLowerCase()
}

/** `T1.2.3`: `T1`, `T1.2`, `T1.2.3`. */
function lineage(key: string): readonly string[] {
  const parts = key.split('.')
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'))
}
