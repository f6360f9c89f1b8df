import type { Task } from '../../../schema/entities/task.ts'
import type { RunContext } from '../backend.ts'
import { type ElapsedClock, pause } from '../clock.ts'
import { reportRefusal } from './refusal.ts'
import { STEP_INTERVAL_MS } from './reply.ts'

const SUBJECTS = ['Look around', 'Change it', 'Check it']

/** Creates three tasks, works through them and says so. Source: F, K3. */
export async function workThroughTasks(run: RunContext, clock: ElapsedClock): Promise<void> {
  await reportRefusal(run, async () => {
    const created: Task[] = []
    for (const subject of SUBJECTS) created.push(await run.tasks.create({ subject, owner: 'scripted' }))
    for (const { id } of created) {
      await run.tasks.update({ task: id, status: 'in_progress' })
      await pause(clock, STEP_INTERVAL_MS, run.signal)
      await run.tasks.update({ task: id, status: 'completed', completionEvidence: 'the script says so' })
    }
    await run.text(`completed: ${created.map(({ key, subject }) => `${key} ${subject}`).join(', ')}`)
  })
}
