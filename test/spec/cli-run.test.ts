import { describe, expect, test } from 'vitest'
import type { InteractionRequest } from '../../schema/entities/interaction.ts'
import { callCli, startCli } from '../support/cli/call-cli.ts'
import { FakeLeader } from '../support/cli/fake-leader.ts'
import type { FakeSession } from '../support/cli/fake-session.ts'
import { waitFor } from '../support/wait-for.ts'

const question: InteractionRequest = {
  kind: 'question',
  questions: [{ question: 'Colour?', options: [{ label: 'red' }, { label: 'blue' }] }],
}
const permission: InteractionRequest = {
  kind: 'permission',
  toolCallId: 'call-1',
  title: 'Edit a file',
  toolKind: 'edit',
  options: [
    { optionId: 'yes', label: 'Allow', kind: 'allow_once' },
    { optionId: 'no', label: 'Reject', kind: 'reject_once' },
  ],
}

function withSession(): { leader: FakeLeader; session: FakeSession } {
  const leader = new FakeLeader()
  return { leader, session: leader.addSession('s1') }
}

/** Starts a run on the session and waits until its turn runs. */
async function started(leader: FakeLeader, args: readonly string[] = [], isTerminal = false) {
  const before = leader.only.projection.rootTurn?.turnId
  const call = startCli(['run', 'hello', '-s', 's1', ...args], { leader, isTerminal })
  await waitFor(() => (leader.only.projection.rootTurn?.turnId ?? before) !== before, { what: 'the turn' })
  return call
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)

describe('interfaces 5 what run prints', () => {
  test('interfaces 5 text: pieces of a message joined, messages separated by a blank line, nothing else on stdout', async () => {
    const { leader, session } = withSession()
    const call = await started(leader)
    session.say('Hel', 'a')
    session.say('thoughts', 'b', 'thinking')
    session.say('lo', 'a')
    session.say('World', 'c')
    session.complete()
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'Hello\n\nWorld\n' })
  })

  test('L3 what has left the live transcript is read by pages, and older turns are left out', async () => {
    const { leader, session } = withSession()
    session.start('turn-0', 'before')
    session.say('old', 'z')
    session.complete()
    const call = await started(leader)
    for (let i = 0; i < 30; i++) session.say(`${i} `, 'a')
    session.complete()
    const text = Array.from({ length: 30 }, (_, i) => `${i} `).join('')
    expect(await call.ended).toMatchObject({ code: 0, stdout: `${text}\n` })
  })

  test('interfaces 5 a new session in this directory, its id on stderr', async () => {
    const leader = new FakeLeader()
    const call = startCli(['run', 'hello'], { leader, cwd: '/work' })
    await waitFor(() => leader.sessions.size > 0 && leader.only.projection.rootTurn)
    expect(leader.only.projection.session).toMatchObject({ cwd: '/work', backend: 'scripted' })
    leader.only.complete()
    const told = 'no agent is configured: the built-in scripted backend echoes (see headwater paths)'
    expect(await call.ended).toMatchObject({ code: 0, stderr: `session ${leader.only.id}\n${told}\n` })
  })

  test('interfaces 5 the message from stdin', async () => {
    const { leader } = withSession()
    const call = startCli(['run', '-', '-s', 's1'], { leader, stdin: 'two\nlines\n' })
    await waitFor(() => leader.only.projection.rootTurn)
    leader.only.complete()
    expect((await call.ended).code).toBe(0)
    expect(leader.asked.find(({ operation }) => operation === 'turn.start')?.input).toMatchObject({
      content: { text: 'two\nlines' },
    })
  })

  test('interfaces 5 json: one object in the envelope, also for a turn that failed', async () => {
    const { leader, session } = withSession()
    const good = await started(leader, ['--format', 'json'])
    session.say('done')
    session.complete()
    const completed = await good.ended
    expect(JSON.parse(completed.stdout)).toEqual({
      ok: true,
      result: { type: 'result', exitCode: 0, sessionId: 's1', turn: session.turn, text: 'done' },
    })
    const bad = await started(leader, ['--json'])
    session.fail('network', 'no route')
    const failed = await bad.ended
    expect(failed.code).toBe(8)
    expect(JSON.parse(failed.stdout)).toMatchObject({
      ok: false,
      error: { code: 'turn_failed', message: 'The turn failed: the network failed: no route' },
      result: { type: 'result', exitCode: 8, turn: { status: 'failed' } },
    })
  })

  test('interfaces 5 jsonl: every line has its head, seq is the ledger revision, exactly one result and it is the last', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--format', 'jsonl'])
    session.say('one')
    session.ask('ask-1', permission)
    await waitFor(() => call.stdout().includes('interaction.opened'))
    session.answer('ask-1', {
      kind: 'answer',
      answer: { kind: 'permission', optionId: 'yes' },
      by: { surface: 'tui', clientInstanceId: 'c' },
      at: 1,
    })
    session.complete()
    const { stdout, code } = await call.ended
    expect(code).toBe(7)
    const printed = lines(stdout)
    for (const line of printed) {
      expect(line).toMatchObject({
        v: 1,
        seq: expect.any(Number),
        type: expect.any(String),
        at: expect.any(Number),
        sessionId: 's1',
      })
    }
    expect(printed.filter(({ type }) => type === 'result')).toHaveLength(1)
    expect(printed.at(-1)).toMatchObject({ type: 'result', exitCode: 7, error: { code: 'input_needed' } })
  })

  test('interfaces 5 jsonl: the events of the turn in order', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--format', 'jsonl', '--on-permission', 'wait'])
    session.say('one')
    session.ask('ask-1', permission)
    session.answer('ask-1', {
      kind: 'answer',
      answer: { kind: 'permission', optionId: 'yes' },
      by: { surface: 'tui', clientInstanceId: 'c' },
      at: 1,
    })
    session.cancel('user_stop')
    const { stdout, code } = await call.ended
    expect(code).toBe(9)
    expect(lines(stdout).map(({ type, seq }) => `${type} ${seq}`)).toEqual([
      'session.opened 1',
      'turn.started 2',
      'item.completed 2',
      'item.completed 3',
      'interaction.opened 4',
      'interaction.settled 5',
      'turn.cancelled 6',
      'result 6',
    ])
  })

  test('interfaces 5 jsonl: a failure before any turn is a result too', async () => {
    const { stdout, code } = await callCli(['run', 'hello', '--format', 'jsonl'])
    expect(code).toBe(5)
    expect(lines(stdout)).toEqual([
      expect.objectContaining({
        type: 'result',
        exitCode: 5,
        turn: null,
        text: '',
        error: expect.objectContaining({ code: 'unreachable' }),
      }),
    ])
  })
})

describe('experience 4.3 when an answer is needed', () => {
  test.each([
    ['a question', question],
    ['a permission', permission],
  ])(
    'experience 4.3 %s without a terminal: exit 7, the item with its id, the turn keeps waiting',
    async (_name, request) => {
      const { leader, session } = withSession()
      const call = await started(leader)
      session.ask('ask-1', request)
      const { code, stdout, stderr } = await call.ended
      expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
      expect(stderr).toContain('ask-1')
      expect(stderr).toContain('next: headwater answer ask-1 --choose N')
      expect(session.turn.status).toBe('waiting_for_user')
    },
  )

  test.each([
    ['deny', 'no'],
    ['allow-once', 'yes'],
  ])('experience 4.3 --on-permission %s answers with that option', async (policy, optionId) => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--on-permission', policy])
    session.ask('ask-1', permission)
    await waitFor(() => session.turn.status === 'running')
    expect(leader.asked.at(-1)).toEqual({
      operation: 'interaction.answer',
      input: { interactionId: 'ask-1', answer: { kind: 'permission', optionId } },
    })
    session.complete()
    expect((await call.ended).code).toBe(0)
  })

  test('experience 4.3 --on-question wait says what waits, once, and goes on when someone else answers', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--on-question', 'wait'])
    session.ask('ask-1', question)
    await call.seen('headwater answer ask-1', 'stderr')
    session.say('x')
    session.answer('ask-1', {
      kind: 'answer',
      answer: { kind: 'question', answers: [{ labels: ['red'] }] },
      by: { surface: 'tui', clientInstanceId: 'c' },
      at: 1,
    })
    session.complete()
    const { code, stderr } = await call.ended
    expect({ code, times: stderr.split('headwater answer ask-1').length - 1 }).toEqual({ code: 0, times: 1 })
  })

  test('experience 4.3 in a terminal run asks there, on stderr, until the answer fits', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, [], true)
    session.ask('ask-1', question)
    await call.seen('[2] blue', 'stderr')
    call.type('7')
    await call.seen('options 1 to 2', 'stderr')
    call.type('2')
    await waitFor(() => session.turn.status === 'running')
    expect(leader.asked.at(-1)?.input).toEqual({
      interactionId: 'ask-1',
      answer: { kind: 'question', answers: [{ labels: ['blue'] }] },
    })
    session.complete()
    expect(await call.ended).toMatchObject({ code: 0, stdout: '' })
  })

  test('I4 a prompt goes away when someone else answers first', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, [], true)
    session.ask('ask-1', permission)
    await call.seen('[2] Reject', 'stderr')
    session.answer('ask-1', {
      kind: 'answer',
      answer: { kind: 'permission', optionId: 'no' },
      by: { surface: 'desktop', clientInstanceId: 'c' },
      at: 1,
    })
    await call.seen('settled elsewhere', 'stderr')
    session.complete()
    expect((await call.ended).code).toBe(0)
    expect(leader.asked.map(({ operation }) => operation)).not.toContain('interaction.answer')
  })

  test('experience 4.3 --no-input asks nothing, even in a terminal', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--no-input'], true)
    session.ask('ask-1', question)
    expect((await call.ended).code).toBe(7)
  })
})

describe('experience 3.2 leaving', () => {
  test('interfaces 5 Ctrl+C stops the turn it started and ends with 130', async () => {
    const { leader, session } = withSession()
    const call = await started(leader)
    session.say('half')
    call.signal('SIGINT')
    expect(await call.ended).toMatchObject({ code: 130, stdout: 'half\n' })
    expect(session.turn).toMatchObject({ status: 'cancelled', abortSource: 'user_stop' })
  })

  test('interfaces 5 SIGTERM ends with 143', async () => {
    const { leader } = withSession()
    const call = await started(leader)
    call.signal('SIGTERM')
    expect((await call.ended).code).toBe(143)
  })

  test('interfaces 5 a second Ctrl+C leaves at once and says how to come back', async () => {
    const { leader, session } = withSession()
    leader.operations['turn.stop'] = () => new Promise(() => {})
    const call = await started(leader)
    call.signal('SIGINT')
    await call.seen('stopping the turn', 'stderr')
    call.signal('SIGINT')
    const { code, stderr } = await call.ended
    expect(code).toBe(130)
    expect(stderr).toContain('headwater watch s1')
    expect(session.turn.status).toBe('running')
  })

  test('interfaces 5 --timeout: 124, the turn goes on', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--timeout', '100ms'])
    const { code, stderr } = await call.ended
    expect(code).toBe(124)
    expect(stderr).toMatch(/The turn goes on.*\(timeout\)\n {2}next: headwater watch s1\n/)
    expect(session.turn.status).toBe('running')
  })

  test('interfaces 5 --detach ends once the turn has started and prints where it is', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--detach'])
    expect(await call.ended).toMatchObject({ code: 0, stdout: `s1\t${session.turn.turnId}\n` })
    expect(session.turn.status).toBe('running')
  })

  test('BL-26 the reader of stdout goes away: the turn goes on and its exit code is still the truth', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--format', 'jsonl'])
    call.closeStdout()
    session.say('x')
    session.fail('network', 'gone')
    expect((await call.ended).code).toBe(8)
  })
})

describe('V6 a lost connection', () => {
  test('V6 what happened meanwhile is seen from the state: the turn of another is not taken for ours', async () => {
    const { leader, session } = withSession()
    const call = await started(leader)
    const ours = session.turn
    leader.setLive(false)
    await call.seen('connection to the leader is lost', 'stderr')
    session.say('while away')
    session.complete()
    const ended = session.turn
    session.start('turn-next', 'another')
    leader.operations['turn.query'] = ({ turnId }) => {
      expect(turnId).toBe(ours.turnId)
      return ended
    }
    leader.setLive(true)
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'while away\n' })
  })

  test('V6 a question that opened meanwhile is not missed', async () => {
    const { leader, session } = withSession()
    const call = await started(leader, ['--format', 'jsonl'])
    leader.setLive(false)
    session.ask('ask-1', question)
    leader.setLive(true)
    const { code, stdout } = await call.ended
    expect(code).toBe(7)
    expect(lines(stdout).map(({ type }) => type)).toContain('connection.changed')
  })

  test('V11 the connection is closed for good: 5, the turn goes on', async () => {
    const { leader } = withSession()
    const call = await started(leader)
    leader.endAll()
    const { code, stderr } = await call.ended
    expect(code).toBe(5)
    expect(stderr).toContain('headwater watch s1')
  })
})

test('interfaces 5 -c continues the session that was active last', async () => {
  const { leader, session } = withSession()
  const call = startCli(['run', '-c', 'more'], { leader })
  await waitFor(() => session.projection.rootTurn)
  session.complete()
  expect((await call.ended).code).toBe(0)
  expect((await callCli(['run', '-c', 'more'], { leader: new FakeLeader() })).code).toBe(3)
})
