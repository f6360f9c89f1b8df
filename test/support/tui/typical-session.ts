import { type TurnViews, withTurn } from '../../../replica/view/transcript/turn-views.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { EntryWriter, NOON, OTHER, SELF, turnOf } from './entries.ts'

const ANSWER = `The login fails because **\`expiresAt\`** is in seconds, but \`isExpired\` compares it with \`Date.now()\`.

## What I changed

1. \`src/auth/token.ts\` now keeps milliseconds everywhere.
2. The test that hid it used a fixed clock:
   - it never went past the first second
   - so the comparison was *always* true

\`\`\`ts
export const isExpired = ({ expiresAt }: Token, now = Date.now()) => expiresAt <= now
\`\`\`

| file | lines | why |
|---|--:|---|
| src/auth/token.ts | 4 | milliseconds |
| test/auth/token.test.ts | 31 | a clock that moves |

See [the report](https://bugs.example/1234) for how it was found.`

/** A session as there are many: it was asked, looked, asked back, answered, steered, failed and stopped. */
export function typicalSession(): { readonly entries: readonly TranscriptEntry[]; readonly turns: TurnViews } {
  const write = new EntryWriter()
  const first: TranscriptEntry[] = [
    write.user('Fix the login bug.\nThe tests in test/auth fail since yesterday.', {
      content: {
        text: 'Fix the login bug.\nThe tests in test/auth fail since yesterday.',
        quotes: [{ text: 'AssertionError: expected true to be false', label: 'test log' }],
        attachments: [
          {
            kind: 'image',
            name: 'login.png',
            mimeType: 'image/png',
            bytes: 34_816,
            ref: { artifact: `sha256:${'0'.repeat(64)}` },
          },
        ],
      },
    }),
    write.text('The tests are about expiry. I should look at how tokens are made before I touch anything.', {
      kind: 'thinking',
    }),
    write.text("I'll look at the code of the login first."),
    write.tool('src/auth/token.ts', { output: 'x\n'.repeat(84) }),
    write.tool('Search', {
      name: 'search',
      input: '{"pattern":"expiresAt","path":"src"}',
      output: 'a\nb\nc',
      endedAt: NOON + 8_000,
    }),
    write.permission('npm test -- test/auth', 'Allow once'),
    write.tool('npm test -- test/auth', {
      name: 'execute',
      status: 'failed',
      output: '\nFAIL test/auth/token.test.ts > a token expires\nAssertionError: expected true to be false',
      endedAt: NOON + 31_000,
    }),
    write.user('Keep the old field name, the mobile app reads it', { submittedBy: OTHER, isSteering: true }),
    write.text(ANSWER),
  ]
  write.turnId = 't2'
  const second = [
    write.user('Now make a plan for the rest'),
    write.plan('Plan proposed: Tokens in milliseconds (revision 1)'),
    write.plan('Plan approved: Tokens in milliseconds (revision 1)', { by: SELF }),
    write.notice('The agent started again after it had stopped answering.'),
    write.tool('big log', {
      name: 'read',
      output: { artifact: `sha256:${'ab'.repeat(32)}`, bytes: 1_300_000, preview: 'first line\nsecond line' },
    }),
  ]
  write.turnId = 't3'
  const third = [write.user('And the docs?', { submittedBy: OTHER }), write.text('Reading', { isStreaming: true })]
  const running = withTurn(new Map(), turnOf('t1', 'running'), NOON)
  const done = withTurn(running, turnOf('t1', 'completed'), NOON + 75_000)
  const failed = withTurn(done, turnOf('t2', { failed: 'backend_exited' }), NOON)
  return { entries: [...first, ...second, ...third], turns: withTurn(failed, turnOf('t3', 'running'), NOON) }
}
