import type { RefSession } from './state.ts'

/** One task of a run's list. Ids are the leader's. */
export interface RefTask {
  readonly id: string
  readonly key: string
  readonly subject: string
  readonly parentId?: string
  status: string
  blockedReason?: string
  failureReason?: string
  completionEvidence?: string
}

/** What a run changes of a task; the text belongs to the new status. */
export interface RefTaskChange {
  readonly task: string
  readonly status: string
  readonly text?: string
  readonly reopen?: boolean
}

const WAYS: Readonly<Record<string, readonly string[]>> = {
  pending: ['in_progress', 'cancelled'],
  in_progress: ['blocked', 'completed', 'failed', 'cancelled'],
  blocked: ['in_progress', 'cancelled', 'failed'],
  failed: ['pending', 'cancelled'],
  completed: [],
  cancelled: [],
}
const REOPENED: Readonly<Record<string, string>> = { completed: 'in_progress', cancelled: 'pending' }
const TEXTS = { blocked: 'blockedReason', failed: 'failureReason', completed: 'completionEvidence' } as const
const OPEN: ReadonlySet<string> = new Set(['pending', 'in_progress', 'blocked'])

/** The member that holds a status's text. */
export function textKey(status: string): (typeof TEXTS)[keyof typeof TEXTS] | undefined {
  return TEXTS[status as keyof typeof TEXTS]
}

/** The key a new task gets, or null where it is refused: nothing is added below what is completed. */
export function nextTaskKey({ tasks }: RefSession, parent: RefTask | undefined): string | null {
  if (parent !== undefined && lineOf(tasks, parent).some(task => task.status === 'completed')) return null
  const siblings = tasks.filter(task => task.parentId === parent?.id).length
  return parent === undefined ? `T${siblings + 1}` : `${parent.key}.${siblings + 1}`
}

/** A task and those above it. */
function lineOf(tasks: readonly RefTask[], task: RefTask): readonly RefTask[] {
  const parent = tasks.find(one => one.id === task.parentId)
  return parent === undefined ? [task] : [task, ...lineOf(tasks, parent)]
}

/** True where a change is allowed. */
export function mayChange({ tasks }: RefSession, { task: id, status, text, reopen = false }: RefTaskChange): boolean {
  const task = tasks.find(one => one.id === id)
  if (task === undefined) return false
  const needed = textKey(status)
  if ((needed === undefined) !== (text === undefined) && !(status === task.status && text === undefined)) return false
  if (status === task.status) return true
  const isReopening = REOPENED[task.status] === status
  if (!WAYS[task.status]?.includes(status) && !(isReopening && reopen)) return false
  const below = tasks.filter(one => one !== task && lineOf(tasks, one).includes(task))
  if (status === 'completed') return below.every(one => !OPEN.has(one.status))
  const comesBack = !OPEN.has(task.status) && OPEN.has(status)
  return !comesBack || lineOf(tasks, task).every(one => one === task || one.status !== 'completed')
}

/** Changes a task; one transition, unless nothing is different. */
export function changeTask(session: RefSession, { task: id, status, text }: RefTaskChange): void {
  const task = session.tasks.find(one => one.id === id) as RefTask
  const key = textKey(status)
  const isSame = status === task.status && (key === undefined || text === undefined || task[key] === text)
  if (isSame) return
  session.revision += 1
  const said = key === undefined ? undefined : (text ?? task[key])
  for (const other of Object.values(TEXTS)) delete task[other]
  task.status = status
  if (key !== undefined && said !== undefined) task[key] = said
}

/** The tasks as clients see them, in order of keys, without times. */
export function tasksView({ tasks }: RefSession): readonly unknown[] {
  return [...tasks].sort((a, b) => compareKeys(a.key, b.key)).map(task => ({ ...task }))
}

function compareKeys(a: string, b: string): number {
  const [left, right] = [a, b].map(key => key.slice(1).split('.').map(Number)) as [number[], number[]]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
