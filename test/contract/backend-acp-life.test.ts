import { expect, test } from 'vitest'
import { createAcpBackend } from '../../leader/execution/acp/acp-backend.ts'
import { createDriver } from '../../leader/execution/driver.ts'
import { LIMITS } from '../../schema/limits.ts'
import { isAlive, openAcpStage } from '../support/acp-stage.ts'
import { FakeArtifacts, FakeRunPort } from '../support/fake-run-port.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

test('T9 a stop cancels the agent’s turn and its open questions; the process stays for the next turn', async () => {
  const of = openAcpStage()
  const first = of.run('pid')
  await first.handle.done
  const wait = of.run('wait')
  await waitFor(() => wait.port.textOf('assistant') === 'waiting')
  await wait.handle.stop('user_stop', LIMITS.stopCutoffMs)
  const ask = of.run('ask')
  await waitFor(() => ask.port.pending[0])
  await ask.handle.stop('user_stop', LIMITS.stopCutoffMs)
  const last = await of.finish('pid')
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
  const of = openAcpStage('ignore-eof')
  const { port, handle } = of.run('hang')
  await waitFor(() => port.textOf('assistant') === 'hanging')
  const pid = port.commands('process')[0]?.process.pid ?? 0
  await handle.stop('user_stop', LIMITS.stopCutoffMs)
  expect([port.ends, isAlive(pid)]).toEqual([[{ kind: 'cancelled', abortSource: 'user_stop' }], false])
  const next = await of.finish('pid')
  expect([next.ends, next.textOf('assistant') === String(pid)]).toEqual([[{ kind: 'completed' }], false])
})

test('T9 BL-06 what an agent says after its turn is in no turn', async () => {
  const of = openAcpStage()
  const late = await of.finish('late')
  const { port, handle } = of.run('wait')
  await waitFor(() => port.textOf('assistant') !== '')
  await handle.stop('user_stop', LIMITS.stopCutoffMs)
  expect([late.textOf('assistant'), late.ends]).toEqual(['', [{ kind: 'completed' }]])
})

test('T11 an agent that crashes fails the run as backend_exited, with its last words', async () => {
  const of = openAcpStage()
  const port = await of.finish('crash')
  expect(port.ends).toEqual([
    {
      kind: 'failed',
      failureClass: 'backend_exited',
      failureMessage: 'The agent exited with code 3.\nfirst line\nthe last words',
    },
  ])
  expect(port.textOf('assistant')).toBe('about to crash')
  expect((await of.finish('pid')).ends).toEqual([{ kind: 'completed' }])
})

test('T11 an agent that ends before it has said anything but an error fails the run with that error', async () => {
  const command = ['sh', '-c', 'echo no key is set >&2; exit 3']
  const backend = createAcpBackend({ kind: 'agent', command, env: {} })
  const startRun = createDriver({ backends: new Map([['agent', backend]]), artifacts: new FakeArtifacts() })
  const port = new FakeRunPort({ text: 'hello', header: { backend: 'agent', cwd: testTempDir('acp') } })
  await startRun(port).done
  const failureMessage = 'The agent exited with code 3.\nno key is set'
  expect(port.ends).toEqual([{ kind: 'failed', failureClass: 'backend_exited', failureMessage }])
})

test.each(['mute', 'huge'])(
  'T11 an agent whose output ends or never ends (%s) fails the run, and its process is gone',
  async text => {
    const port = await openAcpStage().finish(text)
    expect(port.ends).toMatchObject([
      { kind: 'failed', failureClass: text === 'mute' ? 'backend_exited' : 'backend_error' },
    ])
    expect(isAlive(port.commands('process')[0]?.process.pid ?? 0)).toBe(false)
  },
)

test.each(['load', 'resume'])(
  'X15 a new process takes the remembered session up by session/%s, without the replay',
  async trait => {
    const before = openAcpStage(trait)
    const first = await before.finish('echo one')
    await before.close()
    const after = openAcpStage(trait)
    const header = { cwd: before.cwd }
    const port = await after.finish({ text: 'recall', agentSession: first.agentSession, header })
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
  const port = await openAcpStage(traits).finish({ text: 'recall', agentSession: 'ses_gone' })
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
  const port = await openAcpStage().finish('environment')
  for (const name of ['HEADWATER_TOKEN', 'HEADWATER_TOKEN_FILE', 'HEADWATER_ROOT']) delete process.env[name]
  expect(port.textOf('assistant')).toBe('HEADWATER_PROCESS_MARK HEADWATER_ROOT')
})

test('X15 an idle agent is ended with its group, and a daemon it left outside stays', async () => {
  const of = openAcpStage('ignore-eof', { idleEndMs: 100 })
  const { port, handle } = of.run('background')
  await handle.done
  const pid = port.commands('process')[0]?.process.pid ?? 0
  const [inside = 0, outside = 0] = port.textOf('assistant').split(' ').map(Number)
  expect([pid, inside, outside].map(isAlive)).toEqual([true, true, true])
  await waitFor(() => !isAlive(pid) && !isAlive(inside), { what: 'agent and its group are gone' })
  const isLeft = isAlive(outside)
  process.kill(outside, 'SIGKILL')
  expect(isLeft).toBe(true)
  expect(Number((await of.finish('pid')).textOf('assistant'))).not.toBe(pid)
})

test('X15 of an agent that crashed in its turn nothing is left, wherever it is', async () => {
  const of = openAcpStage()
  const pids = (await of.finish('background')).textOf('assistant').split(' ').map(Number)
  await of.finish('crash')
  await waitFor(() => !pids.some(isAlive))
  expect(pids.length).toBe(2)
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
  const port = new FakeRunPort({ text: 'x', header: { backend: 'agent', cwd } })
  await createDriver({ backends: new Map([['agent', backend]]), artifacts: new FakeArtifacts() })(port).done
  const [end] = port.ends
  expect(end).toMatchObject({ kind: 'failed', failureClass })
  expect(end?.kind === 'failed' && end.failureMessage).toContain(words)
})

test('T9 a stop while the agent does not even answer its first question ends the run in time', async () => {
  const { port, handle } = openAcpStage('slow-start').run('x')
  await waitFor(() => port.commands('process')[0])
  await handle.stop('user_stop', LIMITS.stopCutoffMs)
  expect(port.ends).toEqual([{ kind: 'cancelled', abortSource: 'user_stop' }])
})

test('T11 an agent that is not ready in time fails the run as timeout', async () => {
  const port = await openAcpStage('slow-start', { limits: { startMs: 700, endStageMs: 100 } }).finish('x')
  expect(port.ends).toEqual([
    { kind: 'failed', failureClass: 'timeout', failureMessage: 'The agent was not ready within 0.7 s.' },
  ])
})
