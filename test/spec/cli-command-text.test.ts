import { expect, test } from 'vitest'
import { renderChecks } from '../../replica/cli/commands/doctor/check.ts'
import { commandText } from '../../replica/view/command-text.ts'
import { startCli } from '../support/cli/call-cli.ts'
import { FakeLeader } from '../support/cli/fake-leader.ts'

test.each([
  ['headwater doctor --adopt', 'headwater --root ./d doctor --adopt'],
  ['headwater stop, then headwater serve', 'headwater --root ./d stop, then headwater --root ./d serve'],
  ['headwater plan --help', 'headwater plan --help'],
  ['headwater session show --help', 'headwater session show --help'],
  ['headwater --help', 'headwater --help'],
  ['put headwater.token back', 'put headwater.token back'],
  ['the root /srv/headwater was moved', 'the root /srv/headwater was moved'],
  ['run `headwater doctor`', 'run `headwater --root ./d doctor`'],
])('experience 3.3 the next step %j names the root that was named', (text, expected) => {
  expect(commandText(text, { root: './d' })).toBe(expected)
  expect(commandText(text, {})).toBe(text)
})

test('experience 3.3 a root or an address is quoted as a shell reads it', () => {
  expect(commandText('headwater stop', { root: "/my $& root's" })).toBe("headwater --root '/my $& root'\\''s' stop")
  expect(commandText('headwater stop', { url: 'https://build.example:4433' })).toBe(
    'headwater --url https://build.example:4433 stop',
  )
})

test('D2 the name of a check that has an id in it does not push the others aside', () => {
  const checks = [
    { name: 'node', state: 'ok', text: 'fine' },
    {
      name: 'session 0123456789012345',
      state: 'fail',
      text: 'torn; see `headwater verify`',
      next: 'headwater doctor --repair 0123456789012345',
    },
  ] as const
  expect(renderChecks(checks, false, { root: 'd' })).toBe(
    [
      'ok    node  fine',
      'fail  session 0123456789012345  torn; see `headwater --root d verify`',
      '      next: headwater --root d doctor --repair 0123456789012345',
      '',
    ].join('\n'),
  )
})

test('experience 3.1 a usage error of a command says where its help is', async () => {
  const leader = new FakeLeader()
  leader.addSession('s1')
  for (const [args, name] of [
    [['plan', 's1', 'aprove'], 'plan'],
    [['queue', 's1', 'edit'], 'queue'],
  ] as const) {
    const { code, stderr } = await startCli(args, { leader }).ended
    expect({ code, next: /next: (.*)\n$/.exec(stderr)?.[1] }).toEqual({ code: 2, next: `headwater ${name} --help` })
  }
})

test('S5 session remove counts what goes with it, and says what is gone', async () => {
  const leader = new FakeLeader()
  const parent = (sessionId: string) => ({ parent: { sessionId, turnId: 't', agentId: 'a', agentName: 'Helper' } })
  leader.addSession('s1', { title: 'First' })
  leader.addSession('s2', parent('s1'))
  leader.addSession('s3', parent('s2'))
  leader.addSession('s4', { title: 'Other' })
  leader.operations['session.delete'] = () => ({ kind: 'deleted' })
  const dry = await startCli(['session', 'remove', 's1', '--dry-run'], { leader }).ended
  expect(dry.stderr).toBe(
    'This would be removed for good: session s1 (First) with 0 entries, and the 2 sessions below it.\n',
  )
  const { code, stderr } = await startCli(['session', 'remove', 's1', '--yes'], { leader }).ended
  expect([code, stderr]).toEqual([0, 'removed: session s1 (First) with 0 entries, and the 2 sessions below it\n'])
  const alone = await startCli(['session', 'remove', 's4', '--yes'], { leader }).ended
  expect(alone.stderr).toBe('removed: session s4 (Other) with 0 entries\n')
})
