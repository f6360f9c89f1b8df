import {
  isTaskEnd,
  REOPENINGS,
  TASK_TRANSITIONS,
  type Task,
  type TaskChange,
  type TaskDraft,
  type TaskStatus,
} from '../../../schema/entities/task.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import { type DecideContext, type Decision, event, type Refusal, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'

/** A run of this session. */
interface OfRun {
  readonly turnId: string
  readonly runId: string
}

/** The text that belongs to a status: it is needed there and nowhere else. Source: K2. */
const TEXT_OF = {
  blocked: 'blockedReason',
  failed: 'failureReason',
  completed: 'completionEvidence',
} as const

type OwnText = (typeof TEXT_OF)[keyof typeof TEXT_OF]

/** A run makes a task. The result is the task. Source: K1. */
export function decideCreateTask(state: SessionState, run: OfRun, draft: TaskDraft, context: DecideContext): Decision {
  const { items } = state.tasks
  const parent = draft.parent === undefined ? null : findTask(items, draft.parent)
  if (parent === undefined) return refuse('operation_conflict', 'there is no such parent task')
  const finished = parent === null ? undefined : [parent, ...ancestorsOf(items, parent)].find(isCompleted)
  if (finished !== undefined) return refuse('operation_conflict', `${finished.key} is completed: reopen it first`)
  const key = nextKey(items, parent)
  const task: Task = {
    id: context.freshItemId,
    key,
    subject: draft.subject,
    status: 'pending',
    ...(parent === null ? {} : { parentId: parent.id }),
    ...(draft.owner === undefined ? {} : { owner: draft.owner }),
    createdAt: context.at,
    updatedAt: context.at,
  }
  if (items.length >= LIMITS.tasks) return refuse('too_large', `a session has at most ${LIMITS.tasks} tasks`)
  if (key.length > LIMITS.taskKeyChars) return refuse('too_large', 'the task would be nested too deeply')
  return withinBounds([...items, task], accepted(task, event('task_created', { ...run, task })))
}

/** A run changes a task. The result is the task; what changes nothing is no event. Source: K1, K2. */
export function decideUpdateTask(
  state: SessionState,
  run: OfRun,
  change: TaskChange,
  context: DecideContext,
): Decision {
  const { items } = state.tasks
  const task = findTask(items, change.task)
  if (task === undefined) return refuse('not_found', 'there is no such task')
  const status = change.status ?? task.status
  const refused = transitionFault(items, task, status, change) ?? textFault(task, status, change)
  if (refused !== null) return refused
  const next = changedTask(task, status, change, context.at)
  if (next === task) return { kind: 'accept', events: [], result: () => task }
  const all = items.map(known => (known === task ? next : known))
  return withinBounds(all, accepted(next, event('task_updated', { ...run, task: next })))
}

/** A task by its id or its key. */
export function findTask(items: readonly Task[], ref: string): Task | undefined {
  return items.find(task => task.id === ref) ?? items.find(task => task.key === ref)
}

function accepted(task: Task, fact: ReturnType<typeof event>): Decision {
  return { kind: 'accept', events: [fact], result: () => task }
}

function withinBounds(items: readonly Task[], decision: Decision): Decision {
  const isTooLarge = utf8Bytes(JSON.stringify(items)) > LIMITS.tasksBytes
  return isTooLarge
    ? refuse('too_large', `a session's tasks have at most ${LIMITS.tasksBytes} bytes together`)
    : decision
}

/** The next number among the siblings: tasks stay for good, so none is given twice. */
function nextKey(items: readonly Task[], parent: Task | null): string {
  const siblings = items.filter(task => task.parentId === parent?.id)
  const numbers = siblings.map(({ key }) => Number(key.slice(Math.max(key.lastIndexOf('.'), 0) + 1)))
  const number = Math.max(0, ...numbers) + 1
  return parent === null ? `T${number}` : `${parent.key}.${number}`
}

/** Tasks that were written by hand may go round in a circle. */
function ancestorsOf(items: readonly Task[], task: Task): Task[] {
  const ancestors: Task[] = []
  for (let of = task; of.parentId !== undefined && ancestors.length < items.length; ) {
    const parent = items.find(known => known.id === of.parentId)
    if (parent === undefined) break
    ancestors.push(parent)
    of = parent
  }
  return ancestors
}

const isCompleted = ({ status }: Task): boolean => status === 'completed'

/** Why the task may not take this status now, or null. Staying as it is is no transition. Source: K2. */
function transitionFault(
  items: readonly Task[],
  task: Task,
  status: TaskStatus,
  { reopen = false }: TaskChange,
): Refusal | null {
  if (status === task.status) return null
  const isReopening = REOPENINGS[task.status] === status
  if (!TASK_TRANSITIONS[task.status].includes(status) && !(isReopening && reopen)) {
    const way = isReopening ? ' without reopen: true' : ''
    return refuse('operation_conflict', `${task.key} cannot go from ${task.status} to ${status}${way}`)
  }
  if (status === 'completed') {
    const open = items.find(known => !isTaskEnd(known.status) && ancestorsOf(items, known).includes(task))
    return open === undefined ? null : refuse('operation_conflict', `${open.key} is not finished`)
  }
  if (!isTaskEnd(task.status) || isTaskEnd(status)) return null
  const finished = ancestorsOf(items, task).find(isCompleted)
  return finished === undefined ? null : refuse('operation_conflict', `${finished.key} is completed: reopen it first`)
}

/** Why the texts do not fit the status, or null: the one it needs must be there, and no other one be given. Source: K2. */
function textFault(task: Task, status: TaskStatus, change: TaskChange): Refusal | null {
  const needed = textOf(status)
  if (needed !== undefined && change[needed] === undefined && (status !== task.status || task[needed] === undefined)) {
    return refuse('operation_conflict', `a ${status} task needs a ${needed}`)
  }
  const odd = Object.values(TEXT_OF).find(text => text !== needed && change[text] !== undefined)
  return odd === undefined ? null : refuse('operation_conflict', `a ${status} task has no ${odd}`)
}

function textOf(status: TaskStatus): OwnText | undefined {
  return (TEXT_OF as { readonly [S in TaskStatus]?: OwnText })[status]
}

/** The task after the change, or itself if nothing is different. A text stays only where it belongs. */
function changedTask(task: Task, status: TaskStatus, change: TaskChange, at: number): Task {
  const { subject = task.subject, owner = task.owner } = change
  const text = textOf(status)
  const said = text === undefined ? undefined : (change[text] ?? task[text])
  const isSame =
    status === task.status &&
    subject === task.subject &&
    owner === task.owner &&
    (text === undefined || said === task[text])
  if (isSame) return task
  const endedAt = status === task.status ? task.endedAt : isTaskEnd(status) ? at : undefined
  return {
    id: task.id,
    key: task.key,
    subject,
    status,
    ...(task.parentId === undefined ? {} : { parentId: task.parentId }),
    ...(owner === undefined ? {} : { owner }),
    ...(text === undefined || said === undefined ? {} : { [text]: said }),
    createdAt: task.createdAt,
    updatedAt: at,
    ...(endedAt === undefined ? {} : { endedAt }),
  }
}
