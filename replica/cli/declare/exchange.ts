import type { CommandSpec } from '../context.ts'

/** Commands that take sessions out of a root and into one. */
export const exchangeCommands: readonly CommandSpec[] = [
  {
    name: 'export',
    args: '<id>',
    summary: 'write a session to a file that people (md) or headwater import (jsonl) can read',
    details: [
      'A running leader is asked; without one the data root itself is read. jsonl is the whole session: its ledger record by',
      'record, and the artifacts it names. md is its transcript. Without -o it goes to stdout.',
    ].join('\n'),
    options: [
      { flags: '--format <format>', description: 'jsonl (default) or md', value: ['jsonl', 'md'] },
      { flags: '-o, --output <file>', description: 'into this file, which is there whole or not at all' },
      {
        flags: '--no-artifacts',
        description: 'jsonl: without the artifacts; it cannot be imported where they are missing',
      },
    ],
    examples: ['headwater export ID -o session.jsonl', 'headwater export ID --format md | less'],
    load: () => import('../commands/exchange/export.ts'),
  },
  {
    name: 'import',
    args: '<file>',
    summary: 'take an exported session over into this data root, under its own id',
    details: [
      'FILE "-" reads stdin. It is done while no leader runs (headwater stop), and whole or not at all. A session that is here',
      'already in the same state stays as it is; in another state it is refused.',
    ].join('\n'),
    options: [
      { flags: '--from <what>', description: 'what wrote the file (default: headwater)', value: ['headwater'] },
    ],
    examples: ['headwater import session.jsonl', 'headwater --root ./other import session.jsonl --json'],
    load: () => import('../commands/exchange/import.ts'),
  },
]
