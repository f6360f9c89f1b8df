import { canonicalDigest } from '../../../schema/digest.ts'
import { compareTaskKeys, type Task } from '../../../schema/entities/task.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import type { SessionState } from '../state.ts'

/** Facts about tasks; `revision` is that of the list before, until `withTasksRevision`. Source: K1. */
export function evolveTask(state: SessionState, event: DomainEvent): SessionState {
  switch (event.type) {
    case 'task_created': {
      const { task } = event.payload
      if (state.tasks.items.some(known => known.id === task.id)) return state
      return withItems(state, inOrder(state.tasks.items, task))
    }
    case 'task_updated': {
      const { task } = event.payload
      const index = state.tasks.items.findIndex(known => known.id === task.id)
      return index < 0 ? state : withItems(state, state.tasks.items.with(index, task))
    }
    default:
      return state
  }
}

/** The state with the digest of its tasks, where they are others than in `previous`: once a transition, since it reads them all. */
export function withTasksRevision(state: SessionState, previous: SessionState): SessionState {
  const { items } = state.tasks
  return items === previous.tasks.items ? state : { ...state, tasks: { revision: canonicalDigest(items), items } }
}

function withItems(state: SessionState, items: readonly Task[]): SessionState {
  return { ...state, tasks: { ...state.tasks, items } }
}

function inOrder(items: readonly Task[], task: Task): readonly Task[] {
  const after = items.findIndex(known => compareTaskKeys(known.key, task.key) > 0)
  return after < 0 ? [...items, task] : items.toSpliced(after, 0, task)
}
