import type { CommandSpec } from '../context.ts'

/** Commands that run a session's turns and follow them. */
export const turnCommands: readonly CommandSpec[] = [
  {
    name: 'run',
    args: '[text...]',
    summary: 'run one turn and print its answer',
    details: [
      'TEXT is the message; "-" reads it from stdin. Without -s or -c a new session is made.',
      'A question or permission that nobody may answer here ends the command with exit code 7; the turn keeps waiting.',
      'Ctrl+C stops the turn. With --detach the command ends as soon as the turn has started and prints session and turn.',
    ].join('\n'),
    options: [
      { flags: '-s, --session <id>', description: 'in this session' },
      { flags: '-c, --continue', description: 'in the session that was active last' },
      { flags: '--backend <name>', description: 'what executes a new session (default: defaultBackend of the config)' },
      {
        flags: '--format <format>',
        description: 'text: the answer; json: one object at the end; jsonl: events as they happen',
        value: ['text', 'json', 'jsonl'],
      },
      {
        flags: '--on-question <what>',
        description: 'fail or wait (default: wait in a terminal, else fail)',
        value: ['fail', 'wait'],
      },
      {
        flags: '--on-permission <what>',
        description: 'fail, deny, wait or allow-once (default: wait in a terminal, else fail)',
        value: ['fail', 'deny', 'wait', 'allow-once'],
      },
      { flags: '--detach', description: 'leave the turn to itself once it has started' },
    ],
    examples: [
      'headwater run "Summarise the README of this folder"',
      'git diff | headwater run - --format json --on-permission deny --timeout 5m',
    ],
    ownsEnding: true,
    load: () => import('../commands/run.ts'),
  },
  {
    name: 'send',
    args: '<id> <text...>',
    summary: 'send a message to a session: it starts a turn, or waits in the queue',
    details: 'TEXT "-" reads it from stdin.',
    options: [{ flags: '--steer', description: 'into the running turn, not after it' }],
    examples: ['headwater send ID "Then run the tests"', 'headwater send ID --steer "Leave the lock file alone"'],
    load: () => import('../commands/turn/send.ts'),
  },
  {
    name: 'watch',
    args: '<id>',
    summary: 'follow a session, whoever works in it',
    details: 'In jsonl the field seq of a line is the ledger revision; --since SEQ goes on after it.',
    options: [
      { flags: '--since <rev>', description: 'show what came after this ledger revision first', value: 'count' },
      { flags: '--format <format>', description: 'text or jsonl', value: ['text', 'jsonl'] },
    ],
    examples: ['headwater watch ID', 'headwater watch ID --since 120 --format jsonl'],
    load: () => import('../commands/turn/watch.ts'),
  },
  {
    name: 'wait',
    args: '<id>',
    summary: 'wait until a session is idle, asks something, or a turn has ended',
    details: 'WHAT is idle, pending or turn:TURN.',
    options: [{ flags: '--for <what>', description: 'idle, pending or turn:TURN' }],
    examples: ['headwater wait ID --for idle --timeout 10m', 'headwater wait ID --for turn:TURN && echo done'],
    load: () => import('../commands/turn/wait.ts'),
  },
  {
    name: 'queue',
    args: '<id> [verb] [entry] [text...]',
    summary: "show and change a session's waiting messages",
    details: [
      'VERB is one of:',
      '  list                      the waiting messages, in order (the default)',
      '  edit ENTRY TEXT           change the text of one; "-" reads it from stdin and holds the entry meanwhile',
      '  take-back ENTRY           take one out and print its text',
      '  move ENTRY --before E | --after E',
      '  steer ENTRY               send a follow-up into the running turn',
      '  resume                    let parked messages run again',
      '  retract                   take all back',
      'ENTRY is an entry id, or as many of its first characters as are unique.',
    ].join('\n'),
    options: [
      { flags: '--before <entry>', description: 'move: in front of this entry' },
      { flags: '--after <entry>', description: 'move: behind this entry' },
    ],
    examples: ['headwater queue ID', 'headwater queue ID edit ENTRY "Only the unit tests"'],
    load: () => import('../commands/turn/queue.ts'),
  },
  {
    name: 'interrupt',
    args: '<id>',
    summary: 'stop the running turn and take the waiting messages back',
    options: [],
    examples: ['headwater interrupt ID', 'headwater interrupt ID --json'],
    load: () => import('../commands/turn/interrupt.ts'),
  },
]
