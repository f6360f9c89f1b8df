import type { CommandSpec } from '../context.ts'

/** Commands on settings, and on the shell that headwater is called from. */
export const settingsCommands: readonly CommandSpec[] = [
  {
    name: 'config show',
    args: '',
    summary: 'the settings that are in force',
    details:
      'Flags go before the environment, that before the file, that before the defaults. headwater paths names the file.',
    options: [{ flags: '--origin', description: 'where each of them comes from' }],
    examples: ['headwater config show', 'headwater config show --origin --json'],
    load: () => import('../commands/config/show.ts'),
  },
  {
    name: 'completion',
    args: '<shell>',
    summary: 'a script that lets a shell complete commands, options and session ids',
    details: [
      'SHELL is one of:',
      '  bash                      source <(headwater completion bash)        in ~/.bashrc',
      '  zsh                       source <(headwater completion zsh)         in ~/.zshrc, after compinit',
      '  fish                      headwater completion fish | source         in ~/.config/fish/config.fish',
      'Session ids are those that were seen here; no leader is asked for them.',
    ].join('\n'),
    options: [],
    examples: ['headwater completion bash', 'headwater completion fish > ~/.config/fish/completions/headwater.fish'],
    load: () => import('../commands/completion/completion.ts'),
  },
  {
    name: 'complete',
    args: '[words...]',
    summary: 'what may stand in the place of the last of these words; for the scripts of headwater completion',
    options: [],
    examples: ['headwater complete -- session sh', 'headwater complete -- session show ""'],
    isHidden: true,
    load: () => import('../commands/completion/complete.ts'),
  },
]
