import { decideSubmitPlan, decideUpdatePlan } from '../../leader/domain/decide/plan/progress.ts'
import { decideCreateTask, decideUpdateTask, findTask } from '../../leader/domain/decide/task.ts'
import type { DecideContext, Decision } from '../../leader/domain/decision.ts'
import type { SessionState } from '../../leader/domain/state.ts'
import type { TaskTools } from '../../leader/execution/backend.ts'
import type { RunPort } from '../../leader/session/run-port.ts'
import type { PlanContent, PlanExecution, PlanProposal, PlanUpdate } from '../../schema/entities/plan.ts'
import type { Task } from '../../schema/entities/task.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { DomainSession } from './domain/domain-session.ts'

const RUN = { turnId: 'turn-1', runId: 'run-1' }

/** The plan and the tasks of a fake run's session: the real decisions on a session of the pure domain. */
export class FakeLedger implements Pick<RunPort, 'plan' | 'tasks' | 'submitPlan' | 'updatePlan'> {
  readonly domain = new DomainSession().create()
  readonly tasks: TaskTools = {
    create: draft => this.#take<Task>((state, context) => decideCreateTask(state, RUN, draft, context)),
    update: change => this.#take<Task>((state, context) => decideUpdateTask(state, RUN, change, context)),
    list: () => this.domain.state.tasks,
    get: ref => findTask(this.domain.state.tasks.items, ref) ?? null,
  }

  get plan() {
    return this.domain.state.plan
  }

  submitPlan(content: PlanContent): Promise<PlanProposal> {
    return this.#take((state, context) => decideSubmitPlan(state, RUN, content, context))
  }

  updatePlan(update: PlanUpdate): Promise<PlanExecution> {
    return this.#take((state, context) => decideUpdatePlan(state, RUN, update, context))
  }

  async #take<T>(decide: (state: SessionState, context: DecideContext) => Decision): Promise<T> {
    const decision = decide(this.domain.state, this.domain.context())
    if (decision.kind === 'refuse') throw new HeadwaterError(decision.code, decision.message, decision.detail)
    return this.domain.take(decision) as T
  }
}
