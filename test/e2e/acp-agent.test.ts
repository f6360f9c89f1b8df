import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LeaderConnection } from '../../replica/client/types.ts'
import { isTerminal, type TurnSnapshot } from '../../schema/entities/turn.ts'
import { BIN } from '../support/leader-process.ts'
import { type AgentRoot, agentRoot, textOf } from '../support/live/agent-root.ts'
import { eventsOf, readLedger } from '../support/live/ledger.ts'
import { isRunning, processesWith } from '../support/live/processes.ts'
import { runCli } from '../support/run-cli.ts'
import { waitFor } from '../support/wait-for.ts'

const TURN_MS = 20_000
const CLEAN = { sessions: 1, records: expect.any(Number), documents: 1, faults: [] }

/** A root with a ready leader, two replicas, and one session `s` on the agent that both follow. */
async function opened(traits: string) {
  const root = agentRoot({ agent: traits })
  const leader = await root.start()
  const [a, b] = [await root.connect('tui'), await root.connect('desktop')]
  await a.createSession({ sessionId: 's', cwd: root.cwd, backend: 'agent' })
  const seenByA = await a.openSessionSubscription({ sessionId: 's' })
  const seenByB = await b.openSessionSubscription({ sessionId: 's' })
  const both = [seenByA, seenByB] as const
  const start = (turnId: string, text: string) => a.startTurn({ sessionId: 's', turnId, content: { text } })
  const said = (turnId: string, text: string) =>
    waitFor(() => both.every(seen => textOf(seen, turnId).includes(text)), {
      what: `"${text}" at both replicas`,
      deadlineMs: TURN_MS,
    })
  return { root, leader, a, b, both, start, said, ended: (turnId: string) => endOf(a, turnId) }
}

function endOf(connection: LeaderConnection, turnId: string): Promise<TurnSnapshot> {
  const look = async () => {
    const turn = await connection.queryTurn({ sessionId: 's', turnId })
    return isTerminal(turn.status) ? turn : undefined
  }
  return waitFor(look, { what: `the end of ${turnId}`, deadlineMs: TURN_MS })
}

/** The processes that the session's runs had, oldest first. */
async function agentPids(connection: LeaderConnection): Promise<readonly number[]> {
  const started = eventsOf(await readLedger(connection, 's'), 'process_started')
  return started.map(event => (event.payload.process as { pid: number }).pid)
}

async function pendingId(root: AgentRoot): Promise<string> {
  const { stdout } = await root.cli('pending', '--json')
  const { result } = JSON.parse(stdout) as { result: { interactions: { interactionId: string }[] } }
  expect(result.interactions.length).toBe(1)
  return result.interactions[0]?.interactionId ?? ''
}

describe('an agent that the configuration names, through a real leader', () => {
  test('T11 V3 L2 it streams to both replicas and calls a tool; run prints its answer', async () => {
    const { root, a, both, start, ended } = await opened('load')
    expect(await root.cli('run', '-s', 's', 'stream', '5')).toMatchObject({ code: 0, stdout: '0 1 2 3 4 \n' })
    await start('t2', 'tool')
    expect(await ended('t2')).toMatchObject({ status: 'completed' })
    await waitFor(() => both[0].current.revision === both[1].current.revision)
    const shown = both.map(({ current }) => current.transcript.entries.filter(entry => entry.turnId === 't2'))
    expect(shown[0]).toEqual(shown[1])
    expect(shown[0]?.map(entry => entry.kind)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    const tool = { name: 'edit', title: 'Edit a.txt', status: 'completed', output: expect.stringContaining('+2') }
    expect(shown[0]?.[2]).toMatchObject(tool)
    const ends = eventsOf(await readLedger(a, 's'), 'run_completed', 'run_failed', 'run_cancelled')
    expect(ends.map(event => event.type)).toEqual(['run_completed', 'run_completed'])
  })

  test('I3 I4 it asks for permission; a second client answers, and the first valid answer wins', async () => {
    const { root, a, b, both, start, said, ended } = await opened('')
    await start('t1', 'ask')
    await waitFor(() => both.every(({ current }) => current.rootTurn?.status === 'waiting_for_user'), {
      deadlineMs: TURN_MS,
    })
    const interactionId = await pendingId(root)
    const answered = await root.cli('answer', interactionId, '--choose', '1')
    expect(answered).toMatchObject({ code: 0, stderr: expect.stringContaining('Yes') })
    await said('t1', 'selected yes')
    expect(await ended('t1')).toMatchObject({ status: 'completed' })
    const again = (optionId: string) => ({ interactionId, answer: { kind: 'permission' as const, optionId } })
    expect(await b.answerInteraction(again('yes'))).toMatchObject({ status: 'answered', revision: 2 })
    await expect(a.answerInteraction(again('no'))).rejects.toMatchObject({ code: 'already_resolved' })
    expect((await root.cli('answer', interactionId, '--deny')).code).toBe(3)
  })

  test('I1 I4 it asks to fill in a form; a wrong answer is refused, a right one reaches it', async () => {
    const { root, start, said, ended } = await opened('')
    await start('t1', 'form')
    const interactionId = await waitFor(() => pendingId(root), { deadlineMs: TURN_MS })
    const wrong = await root.cli('answer', interactionId, '--text', '{"name":7}', '--json')
    expect(wrong.code).toBe(3)
    expect(JSON.parse(wrong.stdout)).toMatchObject({ error: { code: 'invalid_request' } })
    expect((await root.cli('answer', interactionId, '--text', 'Ada')).code).toBe(0)
    await said('t1', '{"action":"accept","content":{"name":"Ada"}}')
    expect(await ended('t1')).toMatchObject({ status: 'completed' })
  })

  test('V2 Q8 T8 T9 it streams while it runs, is interrupted from a terminal, and goes on with the next turn', async () => {
    const { root, a, both, start, said, ended } = await opened('')
    await start('t1', 'wait')
    await said('t1', 'waiting')
    expect(both.map(({ current }) => current.rootTurn?.status)).toEqual(['running', 'running'])
    const interrupted = await root.cli('interrupt', 's')
    expect(interrupted).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('turn cancelled: somebody stopped it'),
    })
    expect(await ended('t1')).toMatchObject({ status: 'cancelled', abortSource: 'user_stop' })
    await start('t2', 'pid')
    const [pid = 0] = await agentPids(a)
    await said('t2', String(pid))
    expect(both.map(seen => textOf(seen, 't1'))).toEqual(['waiting', 'waiting'])
  })

  test('T9 it hangs and ignores the cancel: cut off within 5 s, cancelled, and gone', async () => {
    const { root, a, start, said, ended } = await opened('ignore-eof')
    await start('t1', 'hang')
    await said('t1', 'hanging')
    const [pid = 0] = await agentPids(a)
    const startMs = performance.now()
    expect((await root.cli('interrupt', 's')).code).toBe(0)
    expect(await ended('t1')).toMatchObject({ status: 'cancelled', abortSource: 'user_stop' })
    expect(performance.now() - startMs).toBeLessThan(8_000)
    expect(isRunning(pid)).toBe(false)
    expect(await root.cli('run', '-s', 's', 'echo', 'and', 'on')).toMatchObject({ code: 0, stdout: 'echo and on\n' })
  })

  test('T11 it crashes: backend_exited with its last words, exit code 8 of run; the next turn has a new process', async () => {
    const { root, a, both } = await opened('load')
    const { code, stdout, stderr } = await root.cli('run', '-s', 's', 'crash')
    expect({ code, stdout }).toEqual({ code: 8, stdout: 'about to crash\n' })
    expect(stderr).toMatch(/the agent's process ended.*exited with code 3.*the last words/s)
    await waitFor(() => both.every(({ current }) => current.rootTurn?.status === 'failed'))
    expect(await root.cli('run', '-s', 's', 'recall')).toMatchObject({ code: 0, stdout: 'earlier: crash\n' })
    const pids = await agentPids(a)
    expect([pids.length, new Set(pids).size, isRunning(pids[0] ?? 0)]).toEqual([2, 2, false])
  })

  test('T11 A9 garbage on its output harms nothing', async () => {
    const { root, a } = await opened('')
    expect(await root.cli('run', '-s', 's', 'garbage')).toMatchObject({ code: 0, stdout: 'still here\n' })
    expect(await a.request('root.verify', {})).toEqual(CLEAN)
  })
})

test('X1 X15 A2 the leader is killed in the middle: both replicas see the turn failed, and the agent takes its session up again', async () => {
  const { root, leader, a, both, start, said, ended } = await opened('load')
  await start('t1', 'echo one')
  await ended('t1')
  await start('t2', 'wait')
  await said('t2', 'waiting')
  await leader.kill()
  await waitFor(() => both.every(({ freshness }) => freshness.state !== 'live'))
  await root.start()
  const failed = { turnId: 't2', status: 'failed', failureClass: 'app_restarted' }
  await waitFor(
    () => both.every(seen => seen.freshness.state === 'live' && seen.current.rootTurn?.status === 'failed'),
    {
      deadlineMs: TURN_MS,
    },
  )
  expect(both.map(({ current }) => current.rootTurn)).toMatchObject([failed, failed])
  expect(both.map(seen => textOf(seen, 't2'))).toEqual(['waiting', 'waiting'])
  expect((await root.cli('session', 'show', 's')).stdout).toMatch(
    /waiting\n\n— turn failed: the leader ended while it ran/,
  )
  await start('t3', 'recall')
  await said('t3', 'earlier: echo one, wait')
  expect(await ended('t3')).toMatchObject({ status: 'completed' })
  expect(both[0].current.transcript.entries.filter(entry => entry.kind === 'notice')).toEqual([])
  expect(await a.request('root.verify', {})).toEqual(CLEAN)
})

test.skipIf(process.platform !== 'linux')(
  'X15 E6 X14 an agent that outlives its killed leader is ended before the next turn, and a stop leaves no process',
  async () => {
    const { root, leader, a, start, said, ended } = await opened('load,ignore-eof')
    await start('t1', 'wait')
    await said('t1', 'waiting')
    const [pid = 0] = await agentPids(a)
    await leader.kill()
    expect(isRunning(pid)).toBe(true)
    const next = await root.start()
    await waitFor(() => a.freshness.state === 'live', { deadlineMs: TURN_MS })
    await start('t2', `running ${pid}`)
    await said('t2', '0 of 1 run')
    await ended('t2')
    await start('t3', 'wait')
    await said('t3', 'waiting')
    expect((await root.cli('stop', '--yes')).code).toBe(0)
    expect(await next.exited).toEqual({ code: 0, signal: null })
    expect(processesWith(root.directory)).toEqual([])
    expect(JSON.parse((await root.cli('verify', '--json')).stdout)).toMatchObject({ result: { faults: [] } })
    const turn = await root.offline(store => store.readTurn('s', 't3'))
    expect(turn.terminalEvents.map(event => event.type)).toEqual(['run_cancelled'])
  },
)

test('X15 E3 a leader that was started from inside an agent outlives the crash of that agent', async () => {
  const { root } = await opened('')
  const other = join(root.directory, 'other')
  const launched = await root.cli('run', '-s', 's', `execute ${process.execPath} ${BIN} --root ${other} run hello`)
  expect(launched).toMatchObject({ code: 0, stdout: 'hello\n' })
  expect((await root.cli('run', '-s', 's', 'crash')).code).toBe(8)
  expect(await runCli(['--root', other, 'stop'])).toMatchObject({ code: 0 })
})
