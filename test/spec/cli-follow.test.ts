import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLineText } from '../../replica/cli/follow/line-text.ts'
import type { InteractionRequest } from '../../schema/entities/interaction.ts'
import { callCli, startCli } from '../support/cli/call-cli.ts'
import { FakeLeader, refusal } from '../support/cli/fake-leader.ts'
import type { FakeSession } from '../support/cli/fake-session.ts'
import { testTempDir } from '../support/temp-dir.ts'

const ESC = '\u001b'
const question: InteractionRequest = {
  kind: 'question',
  questions: [{ question: 'Colour?', options: [{ label: 'red' }, { label: 'blue' }] }],
}
const byTui = { by: { surface: 'tui', clientInstanceId: 'c' }, at: 1 }

function withSession(): { leader: FakeLeader; session: FakeSession } {
  const leader = new FakeLeader()
  return { leader, session: leader.addSession('s1', { title: 'First' }) }
}

async function watching(leader: FakeLeader, args: readonly string[] = []) {
  const call = startCli(['watch', 's1', ...args], { leader })
  await call.seen(args.includes('jsonl') ? 'session.opened' : 'following', args.includes('jsonl') ? 'stdout' : 'stderr')
  return call
}

describe('interfaces 5 watch in text', () => {
  test('V3 a turn as it happens: text while it streams, a question with its answer, the end', async () => {
    const { leader, session } = withSession()
    const call = await watching(leader)
    session.start('turn-1', 'hello')
    session.stream('Hel')
    await call.seen('› hello\n\nHel')
    session.stream('lo')
    await call.seen('Hello')
    session.ask('ask-1', question)
    await call.seen('headwater answer ask-1 --choose N')
    session.answer('ask-1', { kind: 'answer', answer: { kind: 'question', answers: [{ labels: ['red'] }] }, ...byTui })
    session.say('Bye', 'message-2')
    session.complete()
    await call.seen('turn completed')
    call.signal('SIGINT')
    expect(await call.ended).toEqual({
      code: 130,
      stdout: [
        '› hello',
        'Hello',
        '? question ask-1  session s1\n  Colour?\n  [1] red\n  [2] blue\n  headwater answer ask-1 --choose N',
        '? Colour?: answered by a terminal: red',
        'Bye',
        '— turn completed\n\n',
      ].join('\n\n'),
      stderr: 'following First; Ctrl+C leaves it running\n',
    })
    expect(leader.asked.map(({ operation }) => operation)).not.toContain('turn.stop')
  })

  test('V2 a turn that already runs is shown from its start', async () => {
    const { leader, session } = withSession()
    session.start('turn-0', 'before')
    session.complete()
    session.start('turn-1', 'hello')
    session.stream('so far')
    const call = await watching(leader)
    await call.seen('› hello\n\nso far')
    expect(call.stdout()).not.toContain('before')
    session.stream(', and on')
    await call.seen('so far, and on')
  })

  test('L3 more than the live transcript holds, all at once, is shown whole and in order', async () => {
    const { leader, session } = withSession()
    const call = await watching(leader)
    leader.setLive(false)
    session.start('turn-1', 'hello')
    for (let i = 0; i < 12; i++) session.say(`piece ${i}. `, 'a')
    session.complete()
    leader.setLive(true)
    await call.seen('turn completed')
    const text = Array.from({ length: 12 }, (_, i) => `piece ${i}. `).join('')
    expect(call.stdout()).toBe(`› hello\n\n${text}\n\n— turn completed\n\n`)
  })

  test('V3 X1 a turn that ended while there was no view, and was followed by others, is still told as it ended', async () => {
    const { leader, session } = withSession()
    const call = await watching(leader)
    session.start('turn-1', 'one')
    session.stream('half')
    await call.seen('half')
    leader.setLive(false)
    session.fail('app_restarted', 'gone')
    session.start('turn-2', 'two')
    session.cancel('user_stop')
    session.start('turn-3', 'three')
    session.complete()
    leader.setLive(true)
    await call.seen('turn completed')
    expect(call.stdout().split('\n\n')).toEqual([
      '› one',
      'half',
      '— turn failed: the leader ended while it ran: gone',
      '› two',
      '— turn cancelled: somebody stopped it',
      '› three',
      '— turn completed',
      '',
    ])
  })

  test('Z6 BL-24 a control sequence that arrives in two deltas does not reach the terminal', async () => {
    const { leader, session } = withSession()
    const call = await watching(leader)
    session.start('turn-1', 'hello')
    session.stream(`a${ESC}]0;ti`)
    session.stream(`tle\u0007b${ESC}[3`)
    session.stream('1mc')
    session.complete()
    await call.seen('turn completed')
    expect(call.stdout()).toContain('› hello\n\nabc\n\n')
  })

  test('A10 the loss of the connection is said, with the time of what is shown, and so is its return', async () => {
    const { leader } = withSession()
    const call = await watching(leader)
    leader.setLive(false)
    await call.seen('is lost, trying again; what is shown is as of', 'stderr')
    leader.setLive(true)
    await call.seen('connected again', 'stderr')
    expect(call.stdout()).toBe('')
  })

  test('A10 in a terminal a notice does not run on from a line that still streams', async () => {
    const { leader, session } = withSession()
    const call = startCli(['watch', 's1'], { leader, isTerminal: true })
    await call.seen('following', 'stderr')
    session.start('turn-1', 'hello')
    session.stream('half')
    await call.seen('half')
    leader.setLive(false)
    await call.seen('is lost, trying again', 'stderr')
    leader.setLive(true)
    await call.seen('connected again', 'stderr')
    expect(call.stderr()).toMatch(/^following First; .*\n\nthe connection .*\nconnected again\n$/)
  })

  test('V2 the session is removed: exit 3', async () => {
    const { leader, session } = withSession()
    const call = await watching(leader)
    session.remove()
    expect(await call.ended).toMatchObject({ code: 3, stderr: expect.stringContaining('(not_found)') })
  })

  test('interfaces 5 --since shows what came after that revision first', async () => {
    const { leader, session } = withSession()
    session.start('turn-1', 'first')
    session.say('one')
    session.complete()
    const since = session.projection.revision
    session.start('turn-2', 'second')
    session.say('two', 'message-2')
    session.complete()
    const call = await watching(leader, ['--since', String(since)])
    expect(call.stdout()).toBe('› second\n\ntwo\n\n— turn completed\n\n')
    session.start('turn-3', 'third')
    await call.seen('› third')
  })
})

describe('interfaces 5 watch in lines', () => {
  test('interfaces 5 --since gives the same lines again, then goes on, each once', async () => {
    const { leader, session } = withSession()
    session.start('turn-1', 'hello')
    session.say('one')
    const first = await watching(leader, ['--since', '0', '--format', 'jsonl'])
    await first.seen('"text":"one"')
    leader.setLive(false)
    session.say('two')
    session.complete()
    leader.setLive(true)
    await first.seen('turn.completed')
    first.signal('SIGTERM')
    const { stdout, code } = await first.ended
    expect(code).toBe(143)
    const own = (text: string) =>
      text.split('\n').filter(line => line !== '' && !/session\.opened|connection\.changed/.test(line))
    const again = await watching(leader, ['--since', '0', '--format', 'jsonl'])
    await again.seen('turn.completed')
    expect(own(again.stdout())).toEqual(own(stdout))
    expect(
      own(stdout)
        .map(line => JSON.parse(line))
        .map(({ type, seq }) => `${type} ${seq}`),
    ).toEqual([
      'session.created 1',
      'turn.started 2',
      'item.completed 2',
      'item.completed 3',
      'item.completed 4',
      'turn.completed 5',
    ])
  })

  test('experience 4.1 the reader goes away: it ends quietly', async () => {
    const { leader, session } = withSession()
    const call = await watching(leader, ['--format', 'jsonl'])
    call.closeStdout()
    session.start('turn-1', 'hello')
    expect((await call.ended).code).toBe(0)
  })
})

describe('interfaces 5 wait', () => {
  const entry = {
    entryId: 'e',
    messageId: 'm',
    content: { text: 'later' },
    placement: 'next_turn' as const,
    state: 'queued' as const,
    submittedBy: { surface: 'run', clientInstanceId: 'c' },
    revision: 1,
  }

  test('T12 idle is not reached between a turn and the one that follows it by itself', async () => {
    const { leader, session } = withSession()
    session.start('turn-1', 'hello')
    session.setQueue([entry])
    const call = startCli(['wait', 's1', '--for', 'idle', '--json'], { leader })
    session.complete()
    session.start('turn-2', 'later')
    session.setQueue([])
    session.complete()
    const { code, stdout } = await call.ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, result: { for: 'idle', turn: { turnId: 'turn-2' } } })
  })

  test('Q9 parked and held messages do not keep a session from being idle', async () => {
    const { leader, session } = withSession()
    session.setQueue([
      { ...entry, state: 'parked' },
      { ...entry, entryId: 'h', heldBy: entry.submittedBy },
    ])
    expect((await callCli(['wait', 's1', '--for', 'idle'], { leader })).code).toBe(0)
  })

  test('interfaces 5 pending: the open items', async () => {
    const { leader, session } = withSession()
    session.start('turn-1', 'hello')
    const call = startCli(['wait', 's1', '--for', 'pending'], { leader })
    session.ask('ask-1', question)
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'ask-1\tquestion\n' })
  })

  test('interfaces 5 a turn: 0 however it ended; one that is not known is refused', async () => {
    const { leader, session } = withSession()
    session.start('turn-1', 'hello')
    const call = startCli(['wait', 's1', '--for', 'turn:turn-1'], { leader })
    session.fail('network', 'gone')
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'turn failed: the network failed: gone\n' })
    expect((await callCli(['wait', 's1', '--for', 'turn:other'], { leader })).code).toBe(3)
  })

  test('interfaces 5 the limit passes: 124', async () => {
    const { leader, session } = withSession()
    session.start('turn-1', 'hello')
    const outcome = await callCli(['wait', 's1', '--for', 'idle', '--timeout', '50ms', '--json'], { leader })
    expect(outcome.code).toBe(124)
    expect(JSON.parse(outcome.stdout)).toMatchObject({ ok: false, error: { code: 'timeout' } })
  })
})

describe('interfaces 5 the configuration', () => {
  function configured(text: string): Record<string, string> {
    const directory = testTempDir('cli-config')
    mkdirSync(join(directory, 'headwater'))
    writeFileSync(join(directory, 'headwater', 'config.jsonc'), text)
    return { XDG_CONFIG_HOME: directory }
  }

  test('interfaces 5 defaultBackend is that of a new session; comments and trailing commas are fine', async () => {
    const leader = new FakeLeader()
    const env = configured('{\n  // mine\n  "defaultBackend": "opencode",\n}')
    expect((await callCli(['session', 'new'], { leader, env })).code).toBe(0)
    expect(leader.only.projection.session.backend).toBe('opencode')
    await callCli(['session', 'new', '--backend', 'other'], { leader, env })
    expect([...leader.sessions.values()].at(-1)?.projection.session.backend).toBe('other')
  })

  test.each([
    ['{"backends": {"mine": {"acp": ["mine"]}}}', /next: headwater stop, then the same again/],
    ['{}', /next: name it under "backends" in .*config\.jsonc, then restart the leader/],
  ])(
    'experience 4.1 a backend that the leader does not know, with %s written down, has a next step',
    async (text, next) => {
      const leader = new FakeLeader()
      leader.operations['session.create'] = () => {
        throw refusal('invalid_request', "backend: 'mine' is not known here", { path: 'backend' })
      }
      for (const args of [
        ['session', 'new'],
        ['run', 'hello'],
      ]) {
        const outcome = await callCli([...args, '--backend', 'mine'], { leader, env: configured(text) })
        expect({ args, code: outcome.code }).toEqual({ args, code: 3 })
        expect(outcome.stderr).toMatch(next)
      }
    },
  )

  test('experience 4.5 an unknown key warns with the nearest name', async () => {
    const leader = new FakeLeader()
    const outcome = await callCli(['session', 'new'], { leader, env: configured('{"defaultBakend": "x"}') })
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toContain('unknown key "defaultBakend"; did you mean "defaultBackend"?')
  })

  test.each([
    ['{"defaultBackend": 3}', /"defaultBackend" must be a string/],
    ['{"backends": []}', /"backends" must be an object/],
    ['[]', /it must be an object/],
    ['{\n"a" 1}', /line 2/],
  ])('experience 4.2 the broken file %j is a usage error', async (text, sentence) => {
    const outcome = await callCli(['session', 'new'], { leader: new FakeLeader(), env: configured(text) })
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toMatch(sentence)
  })
})

test('interfaces 5 --url takes its token from the file that HEADWATER_TOKEN_FILE names', async () => {
  const directory = testTempDir('cli-token')
  writeFileSync(join(directory, 'token'), 'secret\n')
  const leader = new FakeLeader()
  const env = { HEADWATER_TOKEN_FILE: join(directory, 'token') }
  await callCli(['--url', 'http://127.0.0.1:1', 'status'], { leader, env })
  expect(leader.connects[0]).toMatchObject({ url: 'http://127.0.0.1:1', token: 'secret', spawn: false })
  expect(leader.connects[0]).not.toHaveProperty('root')
  const missing = await callCli(['--url', 'http://127.0.0.1:1', 'status'], {
    leader,
    env: { HEADWATER_TOKEN_FILE: '/nowhere/t' },
  })
  expect(missing.code).toBe(2)
})

test('experience 3.1 stop names running turns and asks; no leaves everything as it is', async () => {
  const leader = new FakeLeader()
  leader.activeTurns = 2
  const call = startCli(['stop'], { leader, isTerminal: true })
  await call.seen('2 turns are running', 'stderr')
  call.type('n')
  expect((await call.ended).code).toBe(3)
  expect(leader.asked.map(({ operation }) => operation)).not.toContain('host.shutdown')
  expect((await callCli(['stop', '--yes'], { leader, isTerminal: true })).code).toBe(0)
  expect(leader.asked.at(-1)).toEqual({ operation: 'host.shutdown', input: {} })
})

test('L2 X1 session show says behind a turn how it ended, where it did not complete', async () => {
  const { leader, session } = withSession()
  session.start('turn-1', 'one')
  session.say('half')
  session.fail('app_restarted', 'gone')
  session.start('turn-2', 'two')
  session.say('whole')
  session.complete()
  session.start('turn-3', 'three')
  session.cancel('user_stop')
  const words = '› one\n\nhalf\n\n— turn failed: the leader ended while it ran: gone\n\n› two\n\nwhole\n\n› three'
  const { stdout } = await callCli(['session', 'show', 's1'], { leader })
  expect(stdout).toBe(`${words}\n\n— turn cancelled: somebody stopped it\n`)
  const json = await callCli(['session', 'show', 's1', '--json'], { leader })
  const { result } = JSON.parse(json.stdout) as { result: { turns: { status: string }[] } }
  expect(result.turns.map(({ status }) => status)).toEqual(['failed', 'completed', 'cancelled'])
})

test('interfaces 5 --since names tools and questions in every line, though only the first event says what they are', () => {
  const textOf = createLineText()
  const line = (type: string, fields: object) => textOf({ v: 1, seq: 1, at: 1, sessionId: 's1', type, ...fields })
  const tool = { kind: 'tool', id: 'call-1' }
  const asked = { interactionId: 'ask-1', request: question }
  const answer = { kind: 'answer', answer: { kind: 'question', answers: [{ labels: ['red'] }] }, ...byTui }
  expect([
    line('item.started', { item: { ...tool, name: 'edit', title: 'write', status: 'pending' } }),
    line('interaction.opened', asked),
    line('interaction.settled', { ...asked, status: 'answered', outcome: answer }),
    line('item.changed', { item: { ...tool, title: 'a.txt' } }),
    line('item.completed', { item: { ...tool, status: 'completed' } }),
    line('interaction.settled', { interactionId: 'ask-0', status: 'answered', outcome: answer }),
  ]).toEqual([
    '· edit: write  [waiting]',
    '? Colour?',
    '? Colour?: answered by a terminal: red',
    undefined,
    '· edit: a.txt  [completed]',
    '? ask-0: answered',
  ])
})
