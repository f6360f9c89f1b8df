import * as z from 'zod/mini'
import { PlanContent, PlanUpdate } from '../../../schema/entities/plan.ts'
import { TaskChange, TaskDraft, TaskRef, TaskStatus } from '../../../schema/entities/task.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { defineTool, type RunTool } from './tool.ts'

/** The task ledger for a model. Source: K3. */
export const TASK_TOOLS: readonly RunTool[] = [
  defineTool({
    name: 'task_create',
    description:
      'Adds a task to the task list. `parent` is the id or key of the task it is a part of. Answers the task with its key.',
    input: TaskDraft,
    use: (run, draft) => run.tasks.create(draft),
  }),
  defineTool({
    name: 'task_update',
    description:
      'Changes a task, named by id or key. Status: pending to in_progress or cancelled; in_progress to blocked, completed, failed or cancelled; ' +
      'blocked to in_progress, cancelled or failed; failed to pending or cancelled; completed to in_progress and cancelled to pending only with ' +
      'reopen: true. blocked needs blockedReason, failed needs failureReason, completed needs completionEvidence.',
    input: TaskChange,
    use: (run, change) => run.tasks.update(change),
  }),
  defineTool({
    name: 'task_list',
    description: 'Answers the tasks in order of their keys, all of them or those with one status.',
    input: z.strictObject({ status: z.optional(TaskStatus) }),
    use: ({ tasks }, { status }) => {
      const { revision, items } = tasks.list()
      return { revision, tasks: status === undefined ? items : items.filter(task => task.status === status) }
    },
  }),
  defineTool({
    name: 'task_get',
    description: 'Answers one task, named by id or key.',
    input: z.strictObject({ task: TaskRef }),
    use: ({ tasks }, { task }) => {
      const found = tasks.get(task)
      if (found === null) throw new HeadwaterError('not_found', 'there is no such task')
      return found
    },
  }),
]

/** Plans for a model: proposing one in plan mode, and telling how far it is in the turn that carries it out. Source: P1, P5. */
export const PLAN_TOOLS: readonly RunTool[] = [
  defineTool({
    name: 'plan_submit',
    description:
      'Proposes a plan of 1 to 50 steps with unique ids for a person to approve. While an earlier proposal waits this one revises it.',
    input: PlanContent,
    use: (run, content) => run.submitPlan(content),
  }),
  defineTool({
    name: 'plan_update',
    description:
      'Tells how far the plan is that is being carried out. Names every step once, at most one of them in_progress; completed and skipped ' +
      'steps cannot change any more.',
    input: PlanUpdate,
    use: (run, update) => run.updatePlan(update),
  }),
]
