import type { CommandSpec } from '../context.ts'

/** Commands on the leader of a data root, and on the root itself. */
export const leaderCommands: readonly CommandSpec[] = [
  {
    name: 'serve',
    args: '',
    summary: 'be the leader of a data root, in the foreground',
    details: 'Prints its address when it is ready. SIGINT or SIGTERM ends it cleanly; a second one at once.',
    options: [
      {
        flags: '--port <n>',
        description: 'this TCP port; 0 is any free one (default: the one of the root)',
        value: 'count',
      },
      { flags: '--idle-exit <dur>', description: 'end after this long without client and work; never is the default' },
      { flags: '--host <host>', description: 'listen on this address; other than loopback it needs TLS or --insecure' },
      { flags: '--tls-cert <file>', description: 'certificate chain in PEM; with --tls-key' },
      { flags: '--tls-key <file>', description: 'private key in PEM' },
      { flags: '--public-url <url>', description: 'the address by which others reach it' },
      { flags: '--allow-host <host...>', description: 'a further name it answers to' },
      { flags: '--insecure', description: 'allow unencrypted connections from other machines' },
      { flags: '--launched', description: 'started by a client: a busy port is done without', isHidden: true },
    ],
    examples: ['headwater serve', 'headwater serve --root ./data --port 0 --idle-exit 5m --json'],
    ownsEnding: true,
    load: () => import('../commands/serve.ts'),
  },
  {
    name: 'status',
    args: '',
    summary: 'how the leader of this root is; exit code 5 if none runs',
    options: [],
    examples: ['headwater status', 'headwater status --json'],
    load: () => import('../commands/leader/status.ts'),
  },
  {
    name: 'stop',
    args: '',
    summary: 'end the leader of this root cleanly and wait until it has ended',
    options: [{ flags: '--now', description: 'cut running turns off at once' }],
    examples: ['headwater stop', 'headwater stop --now --yes'],
    load: () => import('../commands/leader/stop.ts'),
  },
  {
    name: 'paths',
    args: '',
    summary: 'where everything is kept',
    options: [],
    examples: ['headwater paths', 'headwater paths --json'],
    load: () => import('../commands/leader/paths.ts'),
  },
  {
    name: 'logs',
    args: '',
    summary: 'the log of the leader of this root',
    options: [
      { flags: '-f, --follow', description: 'go on with what is added' },
      { flags: '--lines <n>', description: 'the last N lines (default 100)', value: 'count' },
    ],
    examples: ['headwater logs', 'headwater logs -f'],
    load: () => import('../commands/leader/logs.ts'),
  },
  {
    name: 'verify',
    args: '[dir]',
    summary: 'check every record and document of a data root; exit code 11 if damage is found',
    details:
      'A running leader does it itself. DIR may also be a backup, or a root where nothing may be written. Nothing is changed.',
    options: [],
    examples: ['headwater verify', 'headwater verify ./data --json'],
    load: () => import('../commands/verify.ts'),
  },
  {
    name: 'backup',
    args: '<dir>',
    summary: 'copy a data root as it is now into a new directory, also while it is in use',
    details:
      'DIR must be missing or empty. A copy of the root directory made by other means while a leader runs is not safe.',
    options: [],
    examples: ['headwater backup ~/backups/monday', 'headwater verify ~/backups/monday'],
    load: () => import('../commands/root/backup.ts'),
  },
  {
    name: 'restore',
    args: '<dir>',
    summary: 'put a backup back into a data root that is missing or empty',
    details: 'Every document becomes a new build: what replicas saw beyond the backup is never mixed with it.',
    options: [{ flags: '--as-copy', description: 'as another root, to be used beside the original' }],
    examples: [
      'headwater --root ./data restore ~/backups/monday',
      'headwater --root ./copy restore ~/backups/monday --as-copy',
    ],
    load: () => import('../commands/root/restore.ts'),
  },
]
