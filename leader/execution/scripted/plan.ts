import type { PlanContent, PlanExecution, PlanUpdate, StepStatus } from '../../../schema/entities/plan.ts'
import type { RunContext } from '../backend.ts'
import { type ElapsedClock, pause } from '../clock.ts'
import { reportRefusal } from './refusal.ts'
import { STEP_INTERVAL_MS } from './reply.ts'

/** What `/plan` proposes. Source: F. */
export const SCRIPTED_PLAN: PlanContent = {
  title: 'Scripted plan',
  overview: 'Three steps, for demos and tests.',
  steps: [
    { id: 'look', title: 'Look around', description: 'See what is there.' },
    { id: 'change', title: 'Change it', description: 'Do what was asked for.' },
    { id: 'check', title: 'Check it', description: 'See that it holds.' },
  ],
}

/** Proposes the scripted plan and says so. Source: F, P1. */
export async function proposePlan(run: RunContext): Promise<void> {
  await reportRefusal(run, async () => {
    const { title, revision } = await run.submitPlan(SCRIPTED_PLAN)
    await run.text(`proposed: ${title} (revision ${revision})`)
  })
}

/** The execution that this turn carries out, if its proposal is a scripted one; null for any other turn. Source: F, P10. */
export function scriptedExecution({ execution, plan }: Pick<RunContext, 'execution' | 'plan'>): PlanExecution | null {
  const { activeExecution } = plan
  const isOfThisTurn = execution.kind === 'plan' && activeExecution?.executionId === execution.executionId
  return isOfThisTurn && activeExecution.title === SCRIPTED_PLAN.title ? activeExecution : null
}

/** Marks the unfinished steps one by one as in progress and as completed. Source: F, P5. */
export async function carryOutPlan(run: RunContext, execution: PlanExecution, clock: ElapsedClock): Promise<void> {
  let current = execution
  for (const { id, status } of execution.steps) {
    if (status === 'completed' || status === 'skipped') continue
    for (const next of ['in_progress', 'completed'] as const) {
      current = await run.updatePlan(withStep(current, id, next))
      await pause(clock, STEP_INTERVAL_MS, run.signal)
    }
  }
  const done = current.steps.filter(step => step.status === 'completed').length
  await run.text(`${current.title}: ${done} of ${current.steps.length} steps completed`)
}

function withStep({ executionId, steps }: PlanExecution, id: string, status: StepStatus): PlanUpdate {
  return {
    executionId,
    steps: steps.map(step => ({ id: step.id, status: step.id === id ? status : step.status })),
  }
}
