import type { Input, Result } from '../../schema/commands/index.ts'
import type { TasksProjection } from '../../schema/entities/projection.ts'
import type { Task } from '../../schema/entities/task.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { findTask } from '../domain/decide/task.ts'

/** A page of a session's tasks in order of their keys, or one of them, as they are durable together. Source: K3. */
export function taskPage(
  sessionId: string,
  { revision, items }: TasksProjection,
  input: Input<'task.ledger.query'>,
): Result<'task.ledger.query'> {
  if (input.kind === 'get') return { kind: 'task', revision, task: findTask(items, input.taskRef) ?? null }
  const from = input.kind === 'list_start' ? 0 : readCursor(items, input.cursor)
  if (input.kind === 'list_continue' && input.revision !== revision) {
    return { kind: 'revision_changed', expected: input.revision, actual: revision }
  }
  const tasks = items.slice(from, from + LIMITS.taskPageTasks)
  const last = tasks.at(-1)
  const nextCursor = last !== undefined && from + tasks.length < items.length ? `${CURSOR}${last.id}` : null
  return { kind: 'page', sessionId, revision, tasks, nextCursor }
}

const CURSOR = 't.'

/** Where a page begins: after the task that the cursor names, which must be there; tasks stay for good. */
function readCursor(items: readonly Task[], cursor: string): number {
  const id = cursor.startsWith(CURSOR) ? cursor.slice(CURSOR.length) : null
  const index = items.findIndex(task => task.id === id)
  if (index < 0) throw new HeadwaterError('invalid_request', 'cursor: is not one of this list', { path: 'cursor' })
  return index + 1
}
