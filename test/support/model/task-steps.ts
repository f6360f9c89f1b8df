import type { RefRunStep } from '../../model/reference/runs.ts'
import type { RefSession } from '../../model/reference/state.ts'
import { mayChange, nextTaskKey, type RefTask, type RefTaskChange, textKey } from '../../model/reference/tasks.ts'
import type { SeededRandom } from '../random.ts'
import type { PuppetRun } from '../session/puppet-runs.ts'

/** Waits for a promise while the stage's time passes. */
export type Wait = <T>(promise: Promise<T>) => Promise<T>

/** A run at work in its session. */
export interface AtWork {
  readonly random: SeededRandom
  readonly session: RefSession
  readonly run: PuppetRun
  readonly wait: Wait
}

const STATUSES = ['pending', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled']
const MOST_TASKS = 6

/** A run makes a task or changes one; what the reference forbids must be refused. Source: K1, K2. */
export async function takeTaskStep(at: AtWork): Promise<RefRunStep | null> {
  const { random, session } = at
  const isNew = session.tasks.length < MOST_TASKS && (session.tasks.length === 0 || random.next() < 0.4)
  return isNew ? await create(at) : await change(at)
}

async function create({ random, session, run, wait }: AtWork): Promise<RefRunStep> {
  const parent = session.tasks.length > 0 && random.next() < 0.6 ? random.pick(session.tasks) : undefined
  const key = nextTaskKey(session, parent)
  const subject = `task ${session.revision}`
  const under = parent === undefined ? {} : { parent: random.pick([parent.id, parent.key]) }
  const made = await attempt(wait(run.port.tasks.create({ subject, ...under })))
  if (key === null) return refused(made, `a task below ${parent?.key}`)
  if (!('value' in made)) throw new Error(`the task ${key} was refused: ${made.code}`)
  const { createdAt: _made, updatedAt: _changed, ...task } = made.value
  if (task.key !== key) throw new Error(`the task is ${task.key}, not ${key}`)
  return { kind: 'task_create', task: task as RefTask }
}

async function change({ random, session, run, wait }: AtWork): Promise<RefRunStep> {
  const task = random.pick(session.tasks)
  const status = random.pick(STATUSES)
  const needed = textKey(status)
  const isTold = needed !== undefined && random.next() < 0.85
  const wish: RefTaskChange = {
    task: task.id,
    status,
    ...(isTold ? { text: `because ${session.revision}` } : {}),
    ...(random.next() < 0.5 ? { reopen: true } : {}),
  }
  const { text, ...rest } = wish
  const said = needed === undefined || text === undefined ? {} : { [needed]: text }
  const made = await attempt(wait(run.port.tasks.update({ ...rest, ...said } as never)))
  if (!mayChange(session, wish)) return refused(made, `${task.key} from ${task.status} to ${status}`)
  if (!('value' in made)) throw new Error(`${task.key} from ${task.status} to ${status} was refused: ${made.code}`)
  return { kind: 'task_update', change: wish }
}

function refused(made: Attempt<unknown>, what: string): RefRunStep {
  if ('value' in made || made.code !== 'operation_conflict') throw new Error(`${what} was not refused`)
  return { kind: 'refused' }
}

type Attempt<T> = { readonly value: T } | { readonly code: string }

async function attempt<T>(promise: Promise<T>): Promise<Attempt<T>> {
  return await promise.then(
    value => ({ value }),
    (error: { code?: string }) => ({ code: String(error.code) }),
  )
}
