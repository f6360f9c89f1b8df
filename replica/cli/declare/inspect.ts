import { TIMELINE_KINDS } from '../../view/timeline/event-table.ts'
import type { CommandSpec } from '../context.ts'

/** Looking into what happened. */
export const inspectCommands: readonly CommandSpec[] = [
  {
    name: 'inspect',
    args: '<id>',
    summary: 'the ledger of a session as a timeline: who did what, when, how long each step took',
    details: [
      'The newest record comes last. Durations of all steps are summed up on stderr, with --json in the result and in jsonl in the last',
      'line; a step counts where it ends, if it began in what is read.',
    ].join('\n'),
    options: [
      { flags: '--limit <n>', description: 'the newest N records (default 200)', value: 'count' },
      { flags: '--all', description: 'all records' },
      { flags: '--kind <kind>', description: `only these: ${TIMELINE_KINDS.join(', ')}`, value: TIMELINE_KINDS },
      { flags: '--format <format>', description: 'text (default) or jsonl', value: ['text', 'jsonl'] },
    ],
    examples: ['headwater inspect ID', 'headwater inspect ID --all --format jsonl > ledger.jsonl'],
    load: () => import('../commands/inspect/inspect.ts'),
  },
]
