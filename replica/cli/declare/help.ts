import type { CommandSpec } from '../context.ts'

/** Commands that explain the others. */
export const helpCommands: readonly CommandSpec[] = [
  {
    name: 'help',
    args: '[topic...]',
    summary: 'help on a command, or: exit-codes',
    options: [],
    examples: ['headwater help run', 'headwater help exit-codes'],
    load: () => import('../commands/help.ts'),
  },
]
