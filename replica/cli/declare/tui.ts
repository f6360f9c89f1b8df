import type { CommandSpec } from '../context.ts'

/** The terminal replica; also what a call without any command opens. */
export const tuiCommand: CommandSpec = {
  name: 'tui',
  args: '',
  summary: 'all sessions in this terminal, live; starts a leader if none runs',
  details: 'Leaving it stops nothing: the work belongs to the leader. Without a command, headwater opens the same.',
  options: [
    { flags: '-s, --session <id>', description: 'open this session' },
    {
      flags: '--screen-reader',
      description: 'lines in order instead of a screen: no boxes, no spinner, words for states',
    },
  ],
  examples: ['headwater tui', 'headwater tui -s ID'],
  ownsEnding: true,
  load: () => import('../commands/tui.ts'),
}

/** The terminal replica. */
export const tuiCommands: readonly CommandSpec[] = [tuiCommand]
