import type { CommandSpec } from '../context.ts'

/** Commands on sessions themselves. */
export const sessionCommands: readonly CommandSpec[] = [
  {
    name: 'session list',
    args: '',
    summary: 'the sessions, most recently active first',
    options: [
      { flags: '--limit <n>', description: 'at most this many (default 30)', value: 'count' },
      { flags: '--archived', description: 'the archived ones' },
      { flags: '--cursor <cursor>', description: 'go on where a --json answer ended' },
    ],
    examples: ['headwater session list', 'headwater session list --archived --json'],
    load: () => import('../commands/session/list.ts'),
  },
  {
    name: 'session new',
    args: '',
    summary: 'make a session and print its id',
    options: [
      { flags: '--title <title>', description: 'its title (default: from the first message)' },
      { flags: '--cwd <dir>', description: 'the directory it works in (default: this one)' },
      { flags: '--backend <name>', description: 'what executes it (default: defaultBackend of the config)' },
      { flags: '--plan', description: 'in plan mode' },
    ],
    examples: [
      'headwater session new --title "Tidy up"',
      'id=$(headwater session new --cwd ~/src/app --backend opencode)',
    ],
    load: () => import('../commands/session/new.ts'),
  },
  {
    name: 'session show',
    args: '<id>',
    summary: 'print the transcript of a session',
    options: [{ flags: '--limit <n>', description: 'the newest N entries (default 100)', value: 'count' }],
    examples: ['headwater session show ID', 'headwater session show ID --limit 20 --json'],
    load: () => import('../commands/session/show.ts'),
  },
  {
    name: 'session rename',
    args: '<id> <title...>',
    summary: 'give a session a title',
    options: [],
    examples: ['headwater session rename ID "Release 2"', 'headwater session rename ID "Release 2" --json'],
    load: () => import('../commands/session/rename.ts'),
  },
  {
    name: 'session archive',
    args: '<id>',
    summary: 'put a session away; it takes no turns until it is taken out again',
    options: [],
    examples: ['headwater session archive ID', 'headwater session list --archived'],
    load: () => import('../commands/session/archive.ts'),
  },
  {
    name: 'session compact',
    args: '<id>',
    summary: 'make the ledger of a session shorter; its transcript stays',
    details:
      'What came before the newest settled turn becomes one checkpoint. Its single records cannot be read afterwards.',
    options: [{ flags: '--before <revision>', description: 'keep the records from this revision on', value: 'count' }],
    examples: ['headwater session compact ID', 'headwater session compact ID --json'],
    load: () => import('../commands/session/compact.ts'),
  },
  {
    name: 'session unarchive',
    args: '<id>',
    summary: 'take a session out of the archive',
    options: [],
    examples: ['headwater session unarchive ID', 'headwater session unarchive ID --json'],
    load: () => import('../commands/session/unarchive.ts'),
  },
]
