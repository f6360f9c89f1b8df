import type { CommandSpec } from '../context.ts'

/** Commands that explain the others. */
export const helpCommands: readonly CommandSpec[] = [
  {
    name: 'help',
    args: '[topic...]',
    summary: 'help on a command, or: exit-codes, keys',
    options: [],
    examples: ['headwater help run', 'headwater help exit-codes'],
    load: () => import('../commands/help.ts'),
  },
  {
    name: 'explain',
    args: '<code>',
    summary: 'what an error, exit, close or fault code means and what to do about it',
    options: [],
    examples: ['headwater explain session_busy', 'headwater explain 4502'],
    load: () => import('../commands/explain/explain.ts'),
  },
]
