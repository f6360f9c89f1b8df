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
    details: [
      'With --offline no leader is asked, and the root may be away: it is what was last seen of the session here, by any replica of',
      'this user, and as far back as it was read.',
    ].join('\n'),
    options: [
      { flags: '--limit <n>', description: 'the newest N entries (default 100)', value: 'count' },
      { flags: '--offline', description: 'as it was last seen here' },
    ],
    examples: ['headwater session show ID --limit 20', 'headwater session show ID --offline'],
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
  {
    name: 'session fork',
    args: '<id>',
    summary: 'make a new session with the history of one, and print its id',
    details:
      'The new session has the transcript up to the end of the turn, and none of its waiting messages, plans or tasks.',
    options: [{ flags: '--at <turn>', description: 'up to this turn (default: the newest one that has ended)' }],
    examples: ['headwater session fork ID', 'new=$(headwater session fork ID --at TURN)'],
    load: () => import('../commands/session/fork.ts'),
  },
  {
    name: 'session remove',
    args: '<id>',
    summary: 'remove a session for good, with the sessions below it',
    details:
      'It asks first; without a terminal it needs --yes. To put a session away instead: headwater session archive.',
    options: [{ flags: '--dry-run', description: 'only say what would be lost' }],
    examples: ['headwater session remove ID', 'headwater session remove ID --yes --json'],
    load: () => import('../commands/session/remove.ts'),
  },
]
