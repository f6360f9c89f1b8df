import type { CommandSpec } from '../context.ts'

/** Commands on what is kept for reading offline. */
export const cacheCommands: readonly CommandSpec[] = [
  {
    name: 'cache clear',
    args: '',
    summary: 'remove the copies of what was seen here, of all data roots',
    details:
      'Nothing of a data root is touched: what is seen again is copied again. headwater session show ID --offline reads them.',
    options: [],
    examples: ['headwater cache clear', 'headwater cache clear --json'],
    load: () => import('../commands/cache/clear.ts'),
  },
]
