import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIMITS } from '../../schema/limits.ts'
import { PROJECT } from '../support/source-files.ts'

const page = (name: string): string => readFileSync(join(PROJECT, name), 'utf8')

test('Z8 the page on security opens with who may do everything, the agent included', () => {
  const [heading, opening = ''] = page('SECURITY.md').split('\n\n')
  expect(heading).toBe('# Security')
  expect(opening).toMatch(/token .* may do everything .* so may the agent: it runs as the same user/s)
  expect(opening).toContain('They are no sandbox')
})

test('A2 the README says what is durable, and where fsync does not reach the medium', () => {
  const promise =
    page('README.md')
      .split('\n')
      .find(line => line.startsWith('- **Durable before visible.**')) ?? ''
  const paragraph = page('README.md').slice(page('README.md').indexOf(promise)).split('\n- ')[0] ?? ''
  expect(paragraph).toMatch(/On macOS it does not/)
  expect(paragraph).toMatch(/process or of the\s+operating system/)
})

test('the README begins with what it is and the two commands', () => {
  const [heading, what = '', commands = ''] = page('README.md').split('\n\n')
  expect(heading).toBe('# Headwater')
  expect(what.split('\n').length).toBeLessThanOrEqual(5)
  expect(
    commands
      .split('\n')
      .slice(1, -1)
      .map(line => line.replace(/\s+#.*/, '')),
  ).toEqual(['npm ci && npm start', 'npm ci && npm test'])
})

test('C1 Q4 I1 E9 L3 L5 W2 the limits of the README are those of the code', () => {
  const kib = (bytes: number): string =>
    bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`
  const l = LIMITS
  const rows = [
    ['text of a message, a whole message', `${kib(l.messageTextBytes)}, ${kib(l.messageContentBytes)}`],
    ['attachments and quotes of a message', `${l.attachmentsPerMessage}, ${l.quotesPerMessage}`],
    ['waiting messages of a session', `${l.queueEntries}, ${kib(l.queueBytes)} together`],
    ['open interactions of a session', `${l.interactionsPending}, ${kib(l.interactionsPendingBytes)} together`],
    ['runs at once per root', `${l.maxActiveTurns}`],
    [
      'live document of a session',
      `${l.liveTranscriptEntries} transcript entries, ${kib(l.liveTranscriptBytes)} of them; ${kib(l.documentBytes)} encoded`,
    ],
    ['tool output before it becomes an artifact; an artifact', `${kib(l.inlineTextBytes)}; ${kib(l.artifactBytes)}`],
    ['a command, commands in flight per connection', `${kib(l.commandFrameBytes)}, ${l.commandsInFlight}`],
  ]
  const table =
    page('README.md')
      .split('### Limits')[1]
      ?.split('\n')
      .filter(line => line.startsWith('|')) ?? []
  expect(
    table.slice(2).map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    ),
  ).toEqual(rows)
})
