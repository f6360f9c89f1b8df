import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { LeaderConnection } from '../../replica/client/types.ts'
import { connectLeader } from '../../replica/index.ts'
import { killProcessesWith, processesWith } from '../support/live/processes.ts'
import { testRoot } from '../support/live/test-root.ts'
import { waitFor } from '../support/wait-for.ts'

/** Processes are told apart by /proc. */
const isLinux = process.platform === 'linux'
const CLIENTS = 10
const IDLE_MS = 2_000

/** Ten clients that come at once, each of which may start a leader. */
async function tenClients(root: string): Promise<readonly LeaderConnection[]> {
  const outcomes = await Promise.all(
    Array.from({ length: CLIENTS }, (_, i) =>
      connectLeader({ root, surface: `client-${i}`, cache: false, spawn: { idleGraceMs: IDLE_MS } }),
    ),
  )
  return outcomes.map(outcome => {
    if (outcome.kind !== 'connected') throw new Error(JSON.stringify(outcome))
    return outcome.connection
  })
}

test.runIf(isLinux)(
  'E3 A1 E4 ten clients at once on a cold root end on exactly one epoch; the leader ends when they are gone',
  {
    timeout: 60_000,
  },
  async () => {
    const { path } = testRoot()
    const directory = dirname(path)
    onTestFinished(() => killProcessesWith(directory))
    const clients = await tenClients(path)
    const [first] = clients as [LeaderConnection]
    expect(new Set(clients.map(client => client.hostEpoch)).size).toBe(1)
    expect(new Set(clients.map(client => client.rootId)).size).toBe(1)
    expect(await first.status()).toMatchObject({ state: 'ready', connections: CLIENTS, faults: [] })
    // The losers' candidates end by themselves.
    await waitFor(() => processesWith(directory).length === 1, { deadlineMs: 20_000, what: 'one process of this root' })
    await first.createSession({ sessionId: 's', cwd: '/tmp', backend: 'scripted' })
    for (const client of clients) expect((await client.request('session.list', {})).sessions.length).toBe(1)
    await Promise.all(clients.map(client => client.close()))
    await waitFor(() => processesWith(directory).length === 0, {
      deadlineMs: IDLE_MS + 10_000,
      what: 'the leader idle and gone',
    })
  },
)

test.runIf(isLinux)(
  'E3 X1 ten clients whose leader is killed under them end on exactly one new epoch, with every session',
  {
    timeout: 60_000,
  },
  async () => {
    const { path } = testRoot()
    const directory = dirname(path)
    onTestFinished(() => killProcessesWith(directory))
    const clients = await tenClients(path)
    const [first] = clients as [LeaderConnection]
    const killed = first.hostEpoch
    await first.createSession({ sessionId: 's', cwd: '/tmp', backend: 'scripted' })
    await first.startTurn({ sessionId: 's', turnId: 't', content: { text: '/hold' } })
    await waitFor(() => processesWith(directory).length === 1, { deadlineMs: 20_000 })
    for (const pid of processesWith(directory)) process.kill(pid, 'SIGKILL')
    await waitFor(() => clients.every(c => c.freshness.state === 'live' && c.hostEpoch !== killed), {
      deadlineMs: 30_000,
    })
    expect(new Set(clients.map(client => client.hostEpoch)).size).toBe(1)
    await waitFor(() => processesWith(directory).length === 1, { deadlineMs: 20_000 })
    const turns = await Promise.all(clients.map(client => client.queryTurn({ sessionId: 's', turnId: 't' })))
    expect(turns[0]).toMatchObject({ status: 'failed', failureClass: 'app_restarted' })
    expect(new Set(turns.map(turn => JSON.stringify(turn))).size).toBe(1)
    await Promise.all(clients.map(client => client.close()))
  },
)
