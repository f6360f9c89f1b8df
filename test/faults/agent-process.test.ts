import { expect, test } from 'vitest'
import type { LeaderConnection } from '../../replica/client/types.ts'
import { isTerminal } from '../../schema/entities/turn.ts'
import { agentRoot, textOf } from '../support/live/agent-root.ts'
import { eventsOf, readLedger } from '../support/live/ledger.ts'
import { isRunning } from '../support/live/processes.ts'
import { waitFor } from '../support/wait-for.ts'

const TURN_MS = 20_000

/** The processes that the session's runs had, oldest first. */
async function agentPids(connection: LeaderConnection): Promise<readonly number[]> {
  const started = eventsOf(await readLedger(connection, 's'), 'process_started')
  return started.map(event => (event.payload.process as { pid: number }).pid)
}

test.runIf(process.platform === 'linux')(
  'X15 X13 an agent that ignores the end of its input is ended by the recovery that succeeds, before a new turn starts',
  { timeout: 60_000 },
  async () => {
    const root = agentRoot({ agent: 'ignore-eof' })
    let leader = await root.start()
    const a = await root.connect()
    await a.createSession({ sessionId: 's', cwd: root.cwd, backend: 'agent' })
    const seen = await a.openSessionSubscription({ sessionId: 's' })
    const start = (turnId: string, text: string) => a.startTurn({ sessionId: 's', turnId, content: { text } })
    await start('t1', 'wait')
    await waitFor(() => textOf(seen, 't1') === 'waiting', { deadlineMs: TURN_MS })
    const [pid = 0] = await agentPids(a)
    await leader.kill()
    expect(isRunning(pid)).toBe(true)

    for (const point of ['mid_recovery:1', 'mid_recovery:2']) {
      const dying = root.spawn({ env: { HEADWATER_CRASH_AT: point } })
      await expect(dying.ready).rejects.toThrow('SIGKILL')
    }
    // The first one that gets through its recovery has ended the agent; it dies when the next turn has its run.
    leader = await root.start({ env: { HEADWATER_CRASH_AT: 'after_run_started:1' } })
    expect(isRunning(pid)).toBe(false)
    a.retryNow()
    await waitFor(() => a.freshness.state === 'live', { deadlineMs: TURN_MS })
    const lost = start('t2', 'echo two')
    expect(await leader.exited).toMatchObject({ signal: 'SIGKILL' })

    await root.start()
    a.retryNow()
    expect((await lost).turn).toMatchObject({ turnId: 't2', status: 'failed', failureClass: 'app_restarted' })
    await start('t3', `running ${pid}`)
    const ended = await waitFor(
      async () => {
        const turn = await a.queryTurn({ sessionId: 's', turnId: 't3' })
        return isTerminal(turn.status) ? turn : undefined
      },
      { deadlineMs: TURN_MS },
    )
    expect(ended).toMatchObject({ status: 'completed' })
    expect(textOf(seen, 't3')).toContain('0 of 1 run')
    expect(isRunning(pid)).toBe(false)
    expect((await agentPids(a)).length).toBe(2)
    expect((await a.request('root.verify', {})).faults).toEqual([])
  },
)
