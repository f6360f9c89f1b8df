import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../replica/cli/program.ts'
import type { ConnectResult } from '../../replica/client/types.ts'
import type { OperationName } from '../../schema/commands/index.ts'
import { ERRORS, type ErrorCode, EXIT_CODES } from '../../schema/errors.ts'
import { callCli } from '../support/cli/call-cli.ts'
import { FakeLeader, refusal } from '../support/cli/fake-leader.ts'

const PERMISSION = {
  kind: 'permission' as const,
  toolCallId: 'call-1',
  title: 'Edit a file',
  toolKind: 'edit',
  options: [{ optionId: 'no', label: 'Reject', kind: 'reject_once' as const }],
}

/** A command that reaches a leader: how it is called, what it asks the leader last, and what it needs to go well. */
interface Row {
  readonly args: readonly string[]
  readonly operation: OperationName
  readonly prepare?: (leader: FakeLeader) => void
}

const queued = {
  entryId: 'entry-1',
  messageId: 'message-1',
  content: { text: 'later' },
  placement: 'next_turn' as const,
  state: 'queued' as const,
  submittedBy: { surface: 'run', clientInstanceId: 'client-1' },
  revision: 1,
}
const withQueue = (leader: FakeLeader) => leader.only.setQueue([queued, { ...queued, entryId: 'other-2' }])
const withTurn = (leader: FakeLeader) => void leader.only.start('turn-1', 'hello')
const withPermission = (leader: FakeLeader) => {
  withTurn(leader)
  leader.only.ask('ask-1', PERMISSION)
}
const whenStarted = (leader: FakeLeader) => {
  leader.operations['turn.start'] = ({ sessionId, turnId, content }) => {
    const turn = leader.session(sessionId).start(turnId, content.text)
    queueMicrotask(() => leader.session(sessionId).complete())
    return { kind: 'started', turn }
  }
}

const whenForked = (leader: FakeLeader) => {
  leader.operations['session.fork'] = ({ sessionId }) => ({ session: leader.session(sessionId).projection.session })
}
const whenDeleted = (leader: FakeLeader) => {
  leader.operations['session.delete'] = () => ({ kind: 'deleted' })
}

const ROWS: readonly Row[] = [
  { args: ['run', 'hello'], operation: 'turn.start', prepare: whenStarted },
  { args: ['run', 'hello', '-s', 's1'], operation: 'turn.start', prepare: whenStarted },
  { args: ['run', 'hello', '-c'], operation: 'session.list', prepare: whenStarted },
  { args: ['run', 'hello', '--detach'], operation: 'turn.start' },
  { args: ['send', 's1', 'hello'], operation: 'turn.message.submit' },
  { args: ['wait', 's1', '--for', 'turn:turn-0'], operation: 'turn.query', prepare: l => endedTurn(l) },
  { args: ['queue', 's1', 'edit', 'entry-1', 'new'], operation: 'queue.edit', prepare: withQueue },
  { args: ['queue', 's1', 'take-back', 'entry'], operation: 'queue.remove', prepare: withQueue },
  { args: ['queue', 's1', 'move', 'entry-1', '--after', 'other-2'], operation: 'queue.move', prepare: withQueue },
  { args: ['queue', 's1', 'steer', 'entry-1'], operation: 'queue.promote', prepare: withQueue },
  { args: ['queue', 's1', 'resume'], operation: 'queue.resume' },
  { args: ['queue', 's1', 'retract'], operation: 'queue.retract', prepare: withQueue },
  { args: ['interrupt', 's1'], operation: 'turn.interrupt', prepare: withTurn },
  { args: ['session', 'list'], operation: 'session.list' },
  { args: ['session', 'new'], operation: 'session.create' },
  { args: ['session', 'show', 's1'], operation: 'session.get' },
  { args: ['session', 'rename', 's1', 'A title'], operation: 'session.update' },
  { args: ['session', 'archive', 's1'], operation: 'session.archive' },
  { args: ['session', 'unarchive', 's1'], operation: 'session.unarchive' },
  { args: ['session', 'fork', 's1', '--at', 'turn-0'], operation: 'session.fork', prepare: whenForked },
  { args: ['session', 'remove', 's1', '--yes'], operation: 'session.delete', prepare: whenDeleted },
  { args: ['inspect', 's1'], operation: 'ledger.page' },
  { args: ['inspect', 's1', '--kind', 'session', '--limit', '5'], operation: 'ledger.page' },
  { args: ['pending'], operation: 'interaction.list', prepare: withPermission },
  { args: ['answer', 'ask-1', '--choose', '1'], operation: 'interaction.answer', prepare: withPermission },
  { args: ['status'], operation: 'host.status' },
  { args: ['stop'], operation: 'host.shutdown' },
  { args: ['verify'], operation: 'root.verify' },
]

function endedTurn(leader: FakeLeader): void {
  leader.operations['turn.query'] = ({ sessionId, turnId }) => ({
    sessionId,
    turnId,
    runId: 'run-0',
    status: 'completed',
    terminalEventId: 'e0',
  })
}

function leaderFor(row: Row): FakeLeader {
  const leader = new FakeLeader()
  leader.addSession('s1', { title: 'First' })
  row.prepare?.(leader)
  return leader
}

const name = ({ args }: Row) => args.join(' ')
const rows = ROWS.map(row => [name(row), row] as const)

/** stdout must be one line of JSON, stderr free of it. */
function envelope(outcome: { stdout: string; stderr: string }): Record<string, unknown> {
  expect(outcome.stdout).toMatch(/^\{.*\}\n$/)
  expect(outcome.stdout.trimEnd()).not.toContain('\n')
  expect(outcome.stderr).not.toContain('{"')
  return JSON.parse(outcome.stdout) as Record<string, unknown>
}

describe('experience 4.1 done', () => {
  test.each(rows)('experience 4.1 %s: data on stdout, exit 0', async (_name, row) => {
    const { code, stdout, stderr } = await callCli(row.args, { leader: leaderFor(row) })
    expect({ code, isWhole: stdout === '' || stdout.endsWith('\n'), stderr: /headwater:/.test(stderr) }).toEqual({
      code: 0,
      isWhole: true,
      stderr: false,
    })
  })

  test.each(rows)('experience 4.1 %s --json: one envelope, exit 0', async (_name, row) => {
    const outcome = await callCli([...row.args, '--json'], { leader: leaderFor(row) })
    expect(envelope(outcome)).toMatchObject({ ok: true, result: expect.anything() })
    expect(outcome.code).toBe(0)
  })
})

/** Commands that ask no leader: they do the same whether one runs or not. */
const LOCAL: readonly (readonly string[])[] = [
  ['paths'],
  ['config', 'show'],
  ['config', 'show', '--origin'],
  ['explain', 'session_busy'],
  ['explain', '4502'],
  ['completion', 'bash'],
  ['completion', 'zsh'],
  ['completion', 'fish'],
  ['complete', 'session', 'sh'],
  ['help', 'keys'],
  ['help', 'exit-codes'],
]

describe('experience 4.1 without a leader', () => {
  const connect = async () => {
    throw new Error('a leader was looked for')
  }
  const local = LOCAL.map(args => [args.join(' '), args] as const)

  test.each(local)('experience 4.1 %s: data on stdout, also in a terminal, exit 0', async (_name, args) => {
    for (const isTerminal of [false, true]) {
      const { code, stdout, stderr } = await callCli(args, { connect, isTerminal })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/^[^\n][\s\S]*\n$/)
    }
  })

  test.each(local)('experience 4.1 %s --json: one envelope, exit 0', async (_name, args) => {
    const outcome = await callCli(['--json', ...args], { connect })
    expect(envelope(outcome)).toMatchObject({ ok: true, result: expect.anything() })
    expect(outcome.code).toBe(0)
  })
})

describe('experience 4.1 refused by the leader', () => {
  const refusing = (row: Row, code: ErrorCode) => {
    const leader = leaderFor(row)
    leader.operations[row.operation] = () => {
      throw refusal(code, 'a sentence from the leader', { turnId: 'turn-9' })
    }
    return leader
  }

  test.each(rows)(
    'experience 4.1 %s: sentence, code and next step on stderr, nothing on stdout',
    async (_name, row) => {
      const outcome = await callCli(row.args, { leader: refusing(row, 'session_busy') })
      expect(outcome.stdout).toBe('')
      expect(outcome.stderr).toContain('headwater: a sentence from the leader. (session_busy)\n')
      expect(outcome.code).toBe(EXIT_CODES.refused)
    },
  )

  test.each(rows)('experience 4.1 %s --json: the error in the envelope, same exit code', async (_name, row) => {
    const outcome = await callCli(['--json', ...row.args], { leader: refusing(row, 'session_busy') })
    const error = {
      code: 'session_busy',
      message: 'a sentence from the leader',
      retry: 'later',
      detail: { turnId: 'turn-9' },
    }
    expect(envelope(outcome)).toMatchObject({ ok: false, error })
    expect(outcome.code).toBe(EXIT_CODES.refused)
  })

  test.each(Object.keys(ERRORS) as ErrorCode[])('interfaces 5 the exit code of %s is that of the table', async code => {
    const [, , , , send] = ROWS
    const outcome = await callCli(['--json', ...send!.args], { leader: refusing(send!, code) })
    expect(outcome.code).toBe(ERRORS[code].exit)
    expect(envelope(outcome)).toMatchObject({ ok: false, error: { code, retry: ERRORS[code].retry } })
  })
})

describe('experience 4.1 no leader', () => {
  const unreachable = rows.filter(([title]) => title !== 'verify')
  const outcomes: [ConnectResult, string, number][] = [
    [{ kind: 'unavailable', reason: 'none runs' }, 'unreachable', 5],
    [{ kind: 'unauthorized' }, 'unauthorized', 4],
    [{ kind: 'draining' }, 'host_draining', 3],
    [
      {
        kind: 'incompatible',
        leader: { min: 2, max: 3, version: '9.0.0' },
        replica: { min: 1, max: 1, version: '0.1.0' },
      },
      'incompatible',
      6,
    ],
  ]

  test.each(unreachable)('experience 4.2 %s: exit 5', async (_name, row) => {
    const outcome = await callCli(row.args, {})
    expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code: 5, stdout: '' })
    expect(outcome.stderr).toMatch(/^headwater: No leader answers .*\(unreachable\)\n {2}next: headwater serve\n$/)
  })

  test.each(unreachable)('experience 4.2 %s --json: exit 5', async (_name, row) => {
    const outcome = await callCli([...row.args, '--json'], {})
    expect(envelope(outcome)).toMatchObject({ ok: false, error: { code: 'unreachable', retry: 'later' } })
    expect(outcome.code).toBe(5)
  })

  test.each(outcomes)('experience 4.2 a connection that ends as %o', async (result, code, exit) => {
    const outcome = await callCli(['status', '--json'], { connect: async () => result })
    expect(envelope(outcome)).toMatchObject({ ok: false, error: { code } })
    expect(outcome.code).toBe(exit)
  })
})

describe('experience 3.2 wrong arguments', () => {
  const bad: [string[], RegExp][] = [
    [['stauts'], /unknown command 'stauts'; did you mean status\?/],
    [['session', 'lsit'], /unknown command 'lsit'; did you mean list\?/],
    [['status', '--jsom'], /unknown option '--jsom'; did you mean --json\?/],
    [['run', 'hi', '--format', 'xml'], /--format.*Allowed choices are text, json, jsonl/],
    [['run', 'hi', '--timeout', '5'], /A duration is written 500ms, 30s or 5m/],
    [['run'], /The text is missing/],
    [['run', '-s', 's1', '-c', 'hi'], /exclude each other/],
    [['run', '-s', 's1', '--backend', 'acp', 'hi'], /--backend is for a new session/],
    [['send', 's1'], /missing required argument 'text'/],
    [['wait', 's1'], /Say what to wait for/],
    [['wait', 's1', '--for', 'godot'], /"godot" cannot be waited for/],
    [['queue', 's1', 'lits'], /unknown verb 'lits'; did you mean list\?/],
    [['queue', 's1', 'edit'], /Which entry/],
    [['answer', 'ask-1'], /Say how to answer/],
    [['answer', '--choose', '1'], /The id of the interaction is missing/],
    [['status', '--root', 'x', '--url', 'http://localhost:1'], /exclude each other/],
    [['status', '--url', 'ftp://localhost'], /--url takes an http or https address/],
    [['status', 'extra'], /too many arguments/],
    [['serve', '--url', 'http://localhost:1'], /takes no --url/],
    [['serve', '--tls-cert', 'package.json', '--tls-key', 'package.json'], /are no certificate with its key/],
    [['serve', '--idle-exit', 'soon'], /--idle-exit takes a duration or never/],
    [['serve', '--host', '0.0.0.0'], /type --insecure/],
    [['serve', '--port', '70000'], /at most 65535/],
    [['session', 'list', '--limit', 'many'], /whole number/],
    [['help', 'rnu'], /did you mean run\?/],
    [['help', 'kesy'], /did you mean keys\?/],
    [['explain', 'sesion_busy'], /did you mean session_busy/],
    [['explain'], /missing required argument 'code'/],
    [['inspect', 's1', '--kind', 'tols'], /Allowed choices are session, turn/],
    [['inspect', 's1', '--all', '--limit', '3'], /exclude each other/],
    [['completion', 'bahs'], /did you mean bash\?/],
    [['config', 'shwo'], /did you mean show\?/],
  ]

  test.each(bad)('experience 3.2 %j: stderr, exit 2, what is wrong', async (args, sentence) => {
    const leader = leaderFor({ args, operation: 'interaction.query', prepare: withPermission })
    const outcome = await callCli(args, { leader })
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toMatch(sentence)
    expect(outcome.stderr).toMatch(/\(usage\)\n/)
  })

  test.each(bad)('experience 4.1 %j --json: the envelope, exit 2', async (args, sentence) => {
    const leader = leaderFor({ args, operation: 'interaction.query', prepare: withPermission })
    const outcome = await callCli(['--json', ...args], { leader })
    const { ok, error } = envelope(outcome) as { ok: boolean; error: { code: string; message: string } }
    expect({ ok, code: error.code, exit: outcome.code }).toEqual({ ok: false, code: 'usage', exit: 2 })
    expect(error.message).toMatch(sentence)
  })

  test('experience 3.2 a wrong option of a command leads to the help of that command', async () => {
    const outcome = await callCli(['session', 'list', '--jsom'])
    expect(outcome.stderr).toMatch(/\n {2}next: headwater session list --help\n$/)
  })

  test('experience 3.1 no command: help on stderr, exit 2', async () => {
    const outcome = await callCli([])
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toMatch(/^Usage: headwater/)
  })
})

describe('experience 3.2 help', () => {
  const pages = [[], ['session'], ...COMMANDS.map(({ name: command }) => command.split(' '))]

  test.each(pages.map(words => [words]))(
    'experience 3.2 %j --help: stdout, exit 0, ends with two real examples',
    async words => {
      const outcome = await callCli([...words, '--help'])
      expect(outcome).toMatchObject({ code: 0, stderr: '' })
      const examples = outcome.stdout.split('Examples:\n')[1]?.trimEnd().split('\n') ?? []
      expect(examples.length).toBeGreaterThanOrEqual(2)
      for (const example of examples) expect(example).toContain('headwater ')
      expect(await callCli(['help', ...words])).toEqual(outcome)
    },
  )

  test('interfaces 5 help exit-codes lists every code', async () => {
    const { stdout } = await callCli(['help', 'exit-codes'])
    const listed = stdout.split('\n').map(line => line.split('\t'))
    for (const [title, code] of Object.entries(EXIT_CODES))
      expect(listed).toContainEqual([String(code), title, expect.any(String), expect.any(String)])
    for (const [wire, { exit }] of Object.entries(ERRORS)) {
      expect(listed.find(([code]) => code === String(exit))?.[3]?.split(' ')).toContain(wire)
    }
  })

  test('experience 7.2 help keys lists the keys of the table', async () => {
    const { stdout } = await callCli(['help', 'keys'])
    const listed = stdout.split('\n').map(line => line.split('\t'))
    expect(listed).toContainEqual(['composer', 'ctrl+s ctrl+enter', 'queue.steer', 'Give it to the turn that runs'])
    expect(listed).toContainEqual(['global', 'palette', 'app.leave', 'Leave; the turn keeps running'])
  })

  test('experience 3.1 only commands that exist are listed', async () => {
    const { stdout } = await callCli(['--help'])
    for (const later of ['desktop', 'acp', 'token']) {
      expect(stdout).not.toMatch(new RegExp(`^  ${later}\\b`, 'm'))
    }
  })

  test.each([['--version'], ['-V'], ['session', 'list', '-V']])(
    'experience 3.2 %s prints the version',
    async (...args) => {
      expect(await callCli(args)).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
    },
  )
})

describe('experience 3.2 flags', () => {
  const asked = async (args: string[]) => {
    const leader = new FakeLeader()
    leader.addSession('s1')
    const { code } = await callCli(args, { leader })
    expect(code).toBe(0)
    return leader
  }

  test('experience 3.2 global flags stand before or after the command, with a space or an equals sign', async () => {
    for (const args of [
      ['--root', '/r', 'status'],
      ['status', '--root', '/r'],
      ['status', '--root=/r'],
      ['--root=/r', 'status', '--json'],
    ]) {
      expect((await asked(args)).connects[0]).toMatchObject({ root: '/r', spawn: false })
    }
  })

  test('experience 3.2 a double dash ends the flags', async () => {
    const leader = await asked(['send', 's1', '--', '--json', '-x'])
    expect(leader.asked.at(-1)?.input).toMatchObject({ content: { text: '--json -x' } })
  })

  test('interfaces 5 the root: --root, else HEADWATER_ROOT, else under XDG_DATA_HOME', async () => {
    const root = async (args: string[], env: Record<string, string>) => {
      const leader = new FakeLeader()
      await callCli(args, { leader, env })
      return leader.connects[0]?.root
    }
    const env = { XDG_DATA_HOME: '/data' }
    expect(await root(['status'], env)).toBe('/data/headwater/root')
    expect(await root(['status'], { ...env, HEADWATER_ROOT: '/env' })).toBe('/env')
    expect(await root(['status', '--root', 'mine'], { ...env, HEADWATER_ROOT: '/env' })).toBe('/somewhere/mine')
  })

  test('experience 3.2 -q drops notices, never failures', async () => {
    const leader = new FakeLeader()
    expect((await callCli(['pending'], { leader })).stderr).toBe('nothing is pending\n')
    expect((await callCli(['pending', '-q'], { leader })).stderr).toBe('')
    expect((await callCli(['status', '-q'])).stderr).toMatch(/unreachable/)
  })
})

test('E3 a running leader is used without the right to start another one; only where none runs one is started', async () => {
  const leader = new FakeLeader()
  await callCli(['session', 'new'], { leader })
  expect(leader.connects.map(({ spawn }) => spawn)).toEqual([false])
  const tried: unknown[] = []
  await callCli(['session', 'new'], {
    connect: async ({ spawn }) => {
      tried.push(spawn)
      return spawn ? leader.connect({ surface: 'run' }) : { kind: 'unavailable', reason: 'none' }
    },
  })
  expect(tried).toEqual([false, true])
})

test('R1 commands that only look start no leader and make no root', async () => {
  for (const args of [['status'], ['stop'], ['pending'], ['session', 'list'], ['watch', 's1']]) {
    const tried: unknown[] = []
    const connect = async ({ spawn }: { spawn?: unknown }) => {
      tried.push(spawn)
      return { kind: 'unavailable', reason: 'none' } as const
    }
    expect((await callCli([...args, '--root', '/nowhere/root'], { connect })).code).toBe(5)
    expect(tried).toEqual([false])
  }
})

test('experience 3.1 an unknown session is refused with the nearest ones', async () => {
  const leader = new FakeLeader()
  leader.addSession('s1', { title: 'Release notes' })
  leader.addSession('s2', { title: 'Bug hunt' })
  const outcome = await callCli(['session', 'show', 'Relaese notes'], { leader })
  expect(outcome.code).toBe(3)
  expect(outcome.stderr).toContain('There is no session Relaese notes. Near it: s1 (Release notes). (not_found)')
})

test('Z6 BL-24 hostile text in titles, prompts, options and errors drives no terminal', async () => {
  const evil = '\u001b]0;evil\u0007\u001b[2J\u009b31m\u202eevil'
  const leader = new FakeLeader()
  const session = leader.addSession('s1', { title: evil, cwd: `/${evil}` })
  session.start('turn-1', evil)
  session.say(evil)
  session.ask('ask-1', { ...PERMISSION, title: evil, options: [{ optionId: 'a', label: evil, kind: 'allow_once' }] })
  leader.operations['session.archive'] = () => {
    throw refusal('session_busy', evil)
  }
  const calls = [
    ['session', 'list'],
    ['session', 'show', 's1'],
    ['pending'],
    ['session', 'archive', 's1'],
    ['run', 'x', '-s', evil],
  ]
  for (const args of calls) {
    for (const extra of [[], ['--json']]) {
      for (const isTerminal of [true, false]) {
        const { stdout, stderr } = await callCli([...args, ...extra, '--color', 'never'], { leader, isTerminal })
        expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
        expect(`${stdout}${stderr}`).toContain('evil')
      }
    }
  }
})

test('experience 4.1 a listing whose reader goes away ends quietly with 0', async () => {
  const { startCli } = await import('../support/cli/call-cli.ts')
  const leader = new FakeLeader()
  leader.addSession('s1')
  const call = startCli(['session', 'list'], { leader })
  call.closeStdout()
  expect(await call.ended).toMatchObject({ code: 0, stderr: '' })
})

test('interfaces 5 verify with faults: exit 11, each with session, revision and kind', async () => {
  const leader = new FakeLeader()
  const faults = [
    {
      code: 'session_damaged',
      kind: 'chain',
      sessionId: 's1',
      revision: 7,
      message: 'the hash of the record before differs',
    },
    { code: 'session_damaged', kind: 'document', sessionId: 's2' },
  ]
  leader.operations['root.verify'] = () => ({ sessions: 2, records: 9, documents: 2, faults })
  const plain = await callCli(['verify'], { leader })
  expect(plain).toMatchObject({ code: 11, stdout: '' })
  expect(plain.stderr).toContain(
    '2 faults found in 2 sessions, 9 records, 2 documents:\n  chain  s1 revision 7  the hash of the record before differs\n  document  s2',
  )
  const outcome = await callCli(['verify', '--json'], { leader })
  expect(outcome.code).toBe(11)
  expect(envelope(outcome)).toMatchObject({ ok: false, error: { code: 'damage_found', detail: { faults } } })
})
