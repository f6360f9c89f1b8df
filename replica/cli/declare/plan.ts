import type { TaskStatus } from '../../../schema/entities/task.ts'
import type { CommandSpec } from '../context.ts'

const STATUSES = [
  'pending',
  'in_progress',
  'blocked',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly TaskStatus[]

/** Commands for what a session's runs plan to do. */
export const planCommands: readonly CommandSpec[] = [
  {
    name: 'plan',
    args: '<id> [verb] [text...]',
    summary: "show a session's plan and decide about it",
    details: [
      'VERB is one of:',
      '  show                      the plan: its steps and how far they are (the default)',
      '  approve --revision N      start a turn that carries out revision N; another one than the latest is refused',
      '  revise TEXT               ask for changes; "-" reads the text from stdin',
      '  abandon                   drop the plan that waits for approval',
      '  resume                    start a turn that goes on with an interrupted plan',
      '  cancel                    give an interrupted plan up',
      'A session in plan mode proposes plans: headwater session new --plan.',
    ].join('\n'),
    options: [{ flags: '--revision <n>', description: 'approve: the revision that was read', value: 'count' }],
    examples: ['headwater plan ID', 'headwater plan ID approve --revision 2'],
    load: () => import('../commands/plan/plan.ts'),
  },
  {
    name: 'task',
    args: '<id> [verb]',
    summary: "show a session's tasks",
    details: 'VERB is list (the default). Tasks are written by the runs of a session; nobody else changes them.',
    options: [{ flags: '--status <status>', description: 'only tasks with this status', value: STATUSES }],
    examples: ['headwater task ID list', 'headwater task ID list --status blocked --json'],
    load: () => import('../commands/task/task.ts'),
  },
]
