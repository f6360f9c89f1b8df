import type { CommandSpec } from '../context.ts'

/** Commands that look after a data root. */
export const doctorCommands: readonly CommandSpec[] = [
  {
    name: 'doctor',
    args: '',
    summary: 'look at a data root from all sides and say what to do; exit code 11 if something is wrong',
    details: 'Without an option nothing is changed, but that what was open to other users is closed.',
    options: [
      { flags: '--adopt', description: 'this root was moved or put back: make it a root again' },
      { flags: '--as-copy', description: 'with --adopt: a copy, to use beside the original, with an id of its own' },
      { flags: '--repair <session>', description: 'build the document and the rows of a session from its ledger' },
      { flags: '--to <revision>', description: 'with --repair: cut the session back to this revision', value: 'count' },
      { flags: '--accept-regression', description: 'go on with a database that is older than what was acknowledged' },
    ],
    examples: ['headwater doctor', 'headwater doctor --adopt --root ./moved'],
    load: () => import('../commands/doctor/doctor.ts'),
  },
]
