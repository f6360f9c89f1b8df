import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { createAcpBackend } from '../../leader/execution/acp/acp-backend.ts'
import type { AgentLimits } from '../../leader/execution/acp/agent-process.ts'
import type { Backend } from '../../leader/execution/backend.ts'
import { createDriver } from '../../leader/execution/driver.ts'
import { LIMITS } from '../../schema/limits.ts'
import { FakeArtifacts, type FakeRun, FakeRunPort } from '../support/fake-run-port.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

const AGENT = fileURLToPath(new URL('../support/acp-agent/agent.ts', import.meta.url))
const LOADER = import.meta.resolve('tsx')
const backends: Backend[] = []

afterEach(async () => {
  await Promise.all(backends.splice(0).map(backend => backend.close?.()))
})

interface Stage {
  readonly cwd: string
  readonly artifacts: FakeArtifacts
  run(run: FakeRun | string): {
    readonly port: FakeRunPort
    readonly handle: ReturnType<ReturnType<typeof createDriver>>
  }
}

/** A session on the test agent: its runs share the folder, the backend and the session id. */
function stage(traits = '', more: { idleEndMs?: number; limits?: Partial<AgentLimits> } = {}): Stage {
  const cwd = testTempDir('acp')
  const artifacts = new FakeArtifacts()
  const backend = createAcpBackend({
    kind: 'agent',
    command: [process.execPath, '--import', LOADER, AGENT],
    env: { ACP_AGENT: traits },
    limits: { cancelMs: 400, endStageMs: 400 },
    ...more,
  })
  backends.push(backend)
  const startRun = createDriver({ backends: new Map([['agent', backend]]), artifacts })
  const sessionId = `session-${cwd.slice(-6)}`
  return {
    cwd,
    artifacts,
    run(given) {
      const run = typeof given === 'string' ? { text: given } : given
      const port = new FakeRunPort({ ...run, header: { backend: 'agent', cwd, sessionId, ...run.header } })
      return { port, handle: startRun(port) }
    },
  }
}

async function finish(of: Stage, run: FakeRun | string): Promise<FakeRunPort> {
  const { port, handle } = of.run(run)
  await handle.done
  return port
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('T11 an agent streams its answer; process, session and usage are recorded', async () => {
  const port = await finish(stage(), 'stream 200')
  expect(port.ends).toEqual([{ kind: 'completed' }])
  expect(port.textOf('assistant')).toBe(Array.from({ length: 200 }, (_, i) => `${i} `).join(''))
  expect(new Set(port.effects.flatMap(effect => (effect.kind === 'text' ? [effect.messageId] : []))).size).toBe(1)
  expect(port.commands('process')[0]?.process).toMatchObject({ bootId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  expect(port.commands('agent_session')[0]?.agentSessionId).toMatch(/^ses_/)
  expect(port.commands('usage')).toEqual([
    { kind: 'usage', usage: { inputTokens: 3, outputTokens: 200, totalTokens: 203 } },
  ])
})

test('L2 thoughts, tool calls with their changes, and plans arrive in order; a call makes a new message', async () => {
  const of = stage()
  const [think, tool, plan] = [await finish(of, 'think'), await finish(of, 'tool'), await finish(of, 'plan')]
  expect([think.textOf('thinking'), think.textOf('assistant')]).toEqual(['hm', 'thought'])
  const told = tool.effects.filter(effect => effect.kind !== 'process' && effect.kind !== 'tool_update')
  expect(told).toEqual([
    { kind: 'text', block: 'assistant', messageId: expect.any(String), text: 'before' },
    {
      kind: 'tool_start',
      toolCallId: 'call_1',
      name: 'edit',
      title: 'Edit',
      status: 'pending',
      input: JSON.stringify({ path: 'a.txt' }, null, 2),
    },
    {
      kind: 'tool_end',
      toolCallId: 'call_1',
      status: 'completed',
      output: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
    },
    { kind: 'text', block: 'assistant', messageId: expect.any(String), text: 'after' },
  ])
  expect(tool.commands('tool_update')[0]).toMatchObject({ title: 'Edit a.txt', status: 'in_progress' })
  const ids = tool.effects.flatMap(effect => (effect.kind === 'text' ? [effect.messageId] : []))
  expect(new Set(ids).size).toBe(2)
  expect(plan.commands('agent_plan')[0]?.entries).toEqual([
    { content: 'first', priority: 'high', status: 'in_progress' },
  ])
  expect(plan.commands('usage')[0]?.usage).toEqual({ contextUsed: 10, contextSize: 100 })
})

test('I1 I7 a permission request becomes an interaction with the agent’s options, and its answer goes back', async () => {
  const { port, handle } = stage().run('ask')
  const pending = await waitFor(() => port.pending[0])
  expect(pending.request).toEqual({
    kind: 'permission',
    toolCallId: 'call_2',
    title: 'Delete b.txt',
    toolKind: 'delete',
    options: [
      { optionId: 'yes', label: 'Yes', kind: 'allow_once' },
      { optionId: 'always', label: 'Always', kind: 'allow_always' },
      { optionId: 'no', label: 'No', kind: 'reject_once' },
    ],
  })
  port.answer({ kind: 'permission', optionId: 'no' })
  await handle.done
  expect([port.textOf('assistant'), port.ends]).toEqual(['selected no', [{ kind: 'completed' }]])
})

test('I1 an elicitation form becomes an interaction, and its values go back', async () => {
  const { port, handle } = stage().run('form')
  const pending = await waitFor(() => port.pending[0])
  expect(pending.request).toMatchObject({ kind: 'form', message: 'Who are you?', schema: { required: ['name'] } })
  port.answer({ kind: 'form', values: { name: 'Ada', odd: { nested: true } } })
  await handle.done
  expect(JSON.parse(port.textOf('assistant'))).toEqual({ action: 'accept', content: { name: 'Ada' } })
})

test('C1 quotes go as text, files as links, and what only the leader holds is laid down as a file', async () => {
  const of = stage()
  const path = join(of.cwd, 'on disk.txt')
  writeFileSync(path, 'from the disk')
  const { hash } = await of.artifacts.put(Buffer.from('from the leader'), 'text/plain')
  const file = { kind: 'file', mimeType: 'text/plain', bytes: 15 } as const
  const attachments = [
    { ...file, name: 'on disk.txt', ref: { path } },
    { ...file, name: '../up/pasted.txt', ref: { artifact: hash } },
    { ...file, name: 'gone.txt', ref: { artifact: `sha256:${'0'.repeat(64)}` } },
  ]
  const read = await finish(of, { text: 'read', content: { attachments: attachments.slice(0, 2) } })
  expect(read.textOf('assistant')).toBe('on disk.txt: from the disk../up/pasted.txt: from the leader')
  const quotes = [{ text: 'one\ntwo', label: 'Notes' }]
  const echo = await finish(of, {
    text: 'look',
    content: { quotes, attachments: [attachments[0], attachments[2]] as never },
  })
  expect(echo.textOf('assistant')).toBe(
    `Notes:\n> one\n> twolook${JSON.stringify({
      mimeType: 'text/plain',
      name: 'on disk.txt',
      size: 15,
      uri: pathToFileURL(path).href,
      type: 'resource_link',
    })}[The attachment gone.txt is not available.]`,
  )
})

test('T9 a stop cancels the agent’s turn and its open questions; the process stays for the next turn', async () => {
  const of = stage()
  const first = of.run('pid')
  await first.handle.done
  const wait = of.run('wait')
  await waitFor(() => wait.port.textOf('assistant') === 'waiting')
  await wait.handle.stop('user_stop', LIMITS.stopCutoffMs)
  const ask = of.run('ask')
  await waitFor(() => ask.port.pending[0])
  await ask.handle.stop('user_stop', LIMITS.stopCutoffMs)
  const last = await finish(of, 'pid')
  const cancelled = [{ kind: 'cancelled', abortSource: 'user_stop' }]
  expect([wait.port.ends, ask.port.ends, wait.port.textOf('assistant'), ask.port.textOf('assistant')]).toEqual([
    cancelled,
    cancelled,
    'waiting',
    '',
  ])
  expect(last.textOf('assistant')).toBe(first.port.textOf('assistant'))
})

test('T9 an agent that ignores the cancel is gone before the stop is over, and the next turn has a new one', async () => {
  const of = stage('ignore-eof')
  const { port, handle } = of.run('hang')
  await waitFor(() => port.textOf('assistant') === 'hanging')
  const pid = port.commands('process')[0]?.process.pid ?? 0
  await handle.stop('user_stop', LIMITS.stopCutoffMs)
  expect([port.ends, isAlive(pid)]).toEqual([[{ kind: 'cancelled', abortSource: 'user_stop' }], false])
  const next = await finish(of, 'pid')
  expect([next.ends, next.textOf('assistant') === String(pid)]).toEqual([[{ kind: 'completed' }], false])
})

test('T9 BL-06 what an agent says after its turn is in no turn', async () => {
  const of = stage()
  const late = await finish(of, 'late')
  const { port, handle } = of.run('wait')
  await waitFor(() => port.textOf('assistant') !== '')
  await handle.stop('user_stop', LIMITS.stopCutoffMs)
  expect([late.textOf('assistant'), late.ends]).toEqual(['', [{ kind: 'completed' }]])
})

test('T11 an agent that crashes fails the run as backend_exited, with its last words', async () => {
  const of = stage()
  const port = await finish(of, 'crash')
  expect(port.ends).toEqual([
    {
      kind: 'failed',
      failureClass: 'backend_exited',
      failureMessage: 'The agent exited with code 3.\nfirst line\nthe last words',
    },
  ])
  expect(port.textOf('assistant')).toBe('about to crash')
  expect((await finish(of, 'pid')).ends).toEqual([{ kind: 'completed' }])
})

test.each(['mute', 'huge'])(
  'T11 an agent whose output ends or never ends (%s) fails the run, and its process is gone',
  async text => {
    const port = await finish(stage(), text)
    expect(port.ends).toMatchObject([
      { kind: 'failed', failureClass: text === 'mute' ? 'backend_exited' : 'backend_error' },
    ])
    expect(isAlive(port.commands('process')[0]?.process.pid ?? 0)).toBe(false)
  },
)

test('T11 malformed output of an agent is passed over', async () => {
  const port = await finish(stage(), 'garbage')
  expect([port.textOf('assistant'), port.ends]).toEqual(['still here', [{ kind: 'completed' }]])
})

test.each([
  ['stop refusal', { kind: 'completed' }, 'The agent refused to go on.'],
  ['stop max_tokens', { kind: 'completed' }, 'The agent reached its limit of tokens and stopped here.'],
  ['stop of_the_future', { kind: 'completed' }, 'The agent stopped for a reason that is not known here.'],
  ['stop max_turn_requests', { kind: 'failed', failureClass: 'step_cap_reached' }, undefined],
  ['stop cancelled', { kind: 'failed', failureClass: 'backend_error' }, undefined],
  ['fail', { kind: 'failed', failureMessage: 'The agent failed: Internal error (the model is gone)' }, undefined],
  ['login', { kind: 'failed', failureClass: 'auth' }, undefined],
])('T11 an agent that ends with %j', async (text, end, notice) => {
  const port = await finish(stage(), text)
  expect([port.ends, port.commands('notice')[0]?.text]).toMatchObject([[end], notice])
})

test('T11 a session that needs a login fails as auth and says how to log in', async () => {
  const port = await finish(stage('auth'), 'x')
  const [end] = port.ends
  expect(end).toMatchObject({ kind: 'failed', failureClass: 'auth' })
  expect(end?.kind === 'failed' && end.failureMessage).toContain('Log in: Run `test-agent login`')
})

test('T1 a turn with maxSteps is cancelled when the agent starts one tool call more', async () => {
  const of = stage()
  const within = await finish(of, { text: 'tools 3', maxSteps: 3 })
  const over = await finish(of, { text: 'tools 4', maxSteps: 3 })
  expect([within.ends, over.ends]).toMatchObject([
    [{ kind: 'completed' }],
    [{ kind: 'failed', failureClass: 'step_cap_reached' }],
  ])
})

test('S1 the session’s model is chosen where the agent offers it, and missed aloud where it does not', async () => {
  const of = stage('models')
  const chosen = await finish(of, { text: 'model', header: { model: 'model-b' } })
  const missed = await finish(of, { text: 'model', header: { model: 'model-z' } })
  expect([chosen.textOf('assistant'), chosen.commands('notice')]).toEqual(['model-b', []])
  expect(missed.commands('notice')[0]?.text).toContain('does not offer the model model-z')
})

test.each(['load', 'resume'])(
  'X15 a new process takes the remembered session up by session/%s, without the replay',
  async trait => {
    const before = stage(trait)
    const first = await finish(before, 'echo one')
    await Promise.all(backends.splice(0).map(backend => backend.close?.()))
    const after = stage(trait)
    const header = { cwd: before.cwd }
    const port = await finish(after, { text: 'recall', agentSession: first.agentSession, header })
    expect([port.textOf('assistant'), port.commands('notice'), port.commands('agent_session')]).toEqual([
      'earlier: echo one',
      [],
      [],
    ])
  },
)

test.each([
  ['offers neither', ''],
  ['does not know the session any more', 'load'],
])('X15 an agent that %s starts anew, and says so', async (_, traits) => {
  const port = await finish(stage(traits), { text: 'recall', agentSession: 'ses_gone' })
  expect([port.textOf('assistant'), port.commands('notice')[0]?.text, port.agentSession === 'ses_gone']).toEqual([
    'earlier: ',
    'The agent starts without memory of the earlier turns.',
    false,
  ])
})

test('Z2 nothing of Headwater but the place of the root is in an agent’s environment', async () => {
  process.env.HEADWATER_TOKEN = 'secret'
  process.env.HEADWATER_TOKEN_FILE = '/secret'
  process.env.HEADWATER_ROOT = '/root-of-data'
  const port = await finish(stage(), 'environment')
  for (const name of ['HEADWATER_TOKEN', 'HEADWATER_TOKEN_FILE', 'HEADWATER_ROOT']) delete process.env[name]
  expect(port.textOf('assistant')).toBe('HEADWATER_PROCESS_MARK HEADWATER_ROOT')
})

test('X15 an idle agent is ended, with everything it started', async () => {
  const of = stage('ignore-eof', { idleEndMs: 100 })
  const pid = Number((await finish(of, 'pid')).textOf('assistant'))
  const orphan = Number((await finish(of, 'orphan')).textOf('assistant'))
  expect([isAlive(pid), isAlive(orphan)]).toEqual([true, true])
  await waitFor(() => !isAlive(pid) && !isAlive(orphan), { what: 'agent and orphan are gone' })
  expect(Number((await finish(of, 'pid')).textOf('assistant'))).not.toBe(pid)
})

test.each([
  ['a missing command', ['/no/such/agent'], undefined, 'backend_exited', 'could not be started (ENOENT)'],
  ['a missing folder', [process.execPath], '/no/such/folder', 'backend_error', 'folder /no/such/folder does not exist'],
  [
    'a command that ends at once',
    [process.execPath, '-e', 'console.error("usage"); process.exit(2)'],
    undefined,
    'backend_exited',
    'usage',
  ],
])('T11 an agent with %s fails its run with words that help', async (_, command, folder, failureClass, words) => {
  const cwd = folder ?? testTempDir('acp')
  const backend = createAcpBackend({ kind: 'agent', command })
  backends.push(backend)
  const port = new FakeRunPort({ text: 'x', header: { backend: 'agent', cwd } })
  await createDriver({ backends: new Map([['agent', backend]]), artifacts: new FakeArtifacts() })(port).done
  const [end] = port.ends
  expect(end).toMatchObject({ kind: 'failed', failureClass })
  expect(end?.kind === 'failed' && end.failureMessage).toContain(words)
})

test('T9 a stop while the agent does not even answer its first question ends the run in time', async () => {
  const { port, handle } = stage('slow-start').run('x')
  await waitFor(() => port.commands('process')[0])
  await handle.stop('user_stop', LIMITS.stopCutoffMs)
  expect(port.ends).toEqual([{ kind: 'cancelled', abortSource: 'user_stop' }])
})

test('T11 an agent that is not ready in time fails the run as timeout', async () => {
  const port = await finish(stage('slow-start', { limits: { startMs: 700, endStageMs: 100 } }), 'x')
  expect(port.ends).toEqual([
    { kind: 'failed', failureClass: 'timeout', failureMessage: 'The agent was not ready within 0.7 s.' },
  ])
})

test('C1 attachment files of an agent go with it', async () => {
  const of = stage()
  const { hash } = await of.artifacts.put(Buffer.from('x'), 'text/plain')
  const attachment = { kind: 'file', name: 'a.txt', mimeType: 'text/plain', bytes: 1, ref: { artifact: hash } } as const
  const port = await finish(of, { text: 'echo', content: { attachments: [attachment] } })
  const link = JSON.parse(port.textOf('assistant').slice('echo'.length)) as { uri: string }
  const path = fileURLToPath(link.uri)
  expect(existsSync(path)).toBe(true)
  await Promise.all(backends.splice(0).map(backend => backend.close?.()))
  expect(existsSync(path)).toBe(false)
})
