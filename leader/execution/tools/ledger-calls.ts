import type * as z from 'zod/mini'
import { PlanContent, type PlanExecution, type PlanProposal, PlanUpdate } from '../../../schema/entities/plan.ts'
import type { TasksProjection } from '../../../schema/entities/projection.ts'
import { type Task, TaskChange, TaskDraft } from '../../../schema/entities/task.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import type { RunPort } from '../../session/run-port.ts'
import type { TaskTools } from '../backend.ts'
import type { RunGate } from '../run-gate.ts'
import { readInput } from './read-input.ts'

/** What the calls of a backend that write plans and tasks go through. */
export interface LedgerCallPorts {
  readonly port: RunPort
  readonly gate: RunGate
}

/**
 * What a backend says about plans and tasks. Inputs pass the text rule and their shapes: a misfit rejects with HeadwaterError
 * `invalid_request`, what the session refuses with its code; neither ends the run by itself. Source: C3, P1, P5, K3.
 */
export class LedgerCalls implements TaskTools {
  readonly #ports: LedgerCallPorts

  constructor(ports: LedgerCallPorts) {
    this.#ports = ports
  }

  submitPlan(content: PlanContent): Promise<PlanProposal> {
    return this.#call(PlanContent, content, read => this.#ports.port.submitPlan(read))
  }

  updatePlan(update: PlanUpdate): Promise<PlanExecution> {
    return this.#call(PlanUpdate, update, read => this.#ports.port.updatePlan(read))
  }

  create(draft: TaskDraft): Promise<Task> {
    return this.#call(TaskDraft, draft, read => this.#ports.port.tasks.create(read))
  }

  update(change: TaskChange): Promise<Task> {
    return this.#call(TaskChange, change, read => this.#ports.port.tasks.update(read))
  }

  list(): TasksProjection {
    return this.#ports.port.tasks.list()
  }

  get(ref: string): Task | null {
    return this.#ports.port.tasks.get(ref)
  }

  #call<S extends z.ZodMiniType, T>(schema: S, input: unknown, issue: (read: z.infer<S>) => Promise<T>): Promise<T> {
    const { gate } = this.#ports
    if (gate.isClosed) return gate.refuse()
    try {
      const read = readInput(schema, input)
      return gate.effect(
        utf8Bytes(JSON.stringify(read)),
        () => read,
        checked => issue(checked),
      )
    } catch (error) {
      const refusal = Promise.reject(error)
      // A backend that does not wait for it has no unhandled rejection.
      refusal.catch(() => {})
      return refusal
    }
  }
}
