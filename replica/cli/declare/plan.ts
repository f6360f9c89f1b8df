import type { CommandSpec } from '../context.ts'

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
    ].join('\n'),
    options: [{ flags: '--revision <n>', description: 'approve: the revision that was read', value: 'count' }],
    examples: ['headwater plan ID', 'headwater plan ID approve --revision 2'],
    load: () => import('../commands/plan/plan.ts'),
  },
]
