import type { TasksProjection } from '../../../schema/entities/projection.ts'
import type { Task, TaskChange, TaskDraft } from '../../../schema/entities/task.ts'
import { decideCreateTask, decideUpdateTask, findTask } from '../../domain/decide/task.ts'
import type { DecideContext, Decision } from '../../domain/decision.ts'
import type { SessionState } from '../../domain/state.ts'
import type { TaskTools } from '../../execution/backend.ts'

/** What a run's tasks stand on. */
export interface RunTasksSession {
  readonly keys: { readonly turnId: string; readonly runId: string }
  /** The newest state that is on disk. */
  durable(): SessionState
  /** Decides in the lane as the run; resolves to the decision's result when it is durable. */
  decide(decide: (state: SessionState, context: DecideContext) => Decision): Promise<unknown>
}

/** The session's task ledger as one of its runs has it; inputs are checked by whoever calls. Source: K3. */
export class RunTasks implements TaskTools {
  readonly #session: RunTasksSession

  constructor(session: RunTasksSession) {
    this.#session = session
  }

  async create(draft: TaskDraft): Promise<Task> {
    const { keys } = this.#session
    return (await this.#session.decide((state, context) => decideCreateTask(state, keys, draft, context))) as Task
  }

  async update(change: TaskChange): Promise<Task> {
    const { keys } = this.#session
    return (await this.#session.decide((state, context) => decideUpdateTask(state, keys, change, context))) as Task
  }

  list(): TasksProjection {
    return this.#session.durable().tasks
  }

  get(ref: string): Task | null {
    return findTask(this.list().items, ref) ?? null
  }
}
