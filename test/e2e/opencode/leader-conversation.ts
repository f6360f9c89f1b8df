import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LeaderConnection, SessionSubscription } from '../../../replica/client/types.ts'
import { connectLeader } from '../../../replica/index.ts'
import { type CliProcess, startCliProcess, typeCli } from '../../support/cli/cli-process.ts'
import { isolatedEnvironment, useEnvironment } from '../../support/environment.ts'
import { type LeaderProcess, startLeaderProcess } from '../../support/leader-process.ts'
import { eventsOf, readLedger } from '../../support/live/ledger.ts'
import { isRunning, killProcessesWith, processesWith } from '../../support/live/processes.ts'
import { runCliJson } from '../../support/run-cli.ts'
import { waitFor } from '../../support/wait-for.ts'
import type { Conversation, StartedTurn } from './conversation.ts'
import type { InstalledAgent } from './install.ts'
import { LeaderTurn } from './leader-turn.ts'

/** Who follows the session: two people in terminals, and a program that reads lines. */
export interface Watchers {
  readonly first: CliProcess
  readonly second: CliProcess
  readonly lines: CliProcess
}

/**
 * A conversation through a leader in a process of its own, with the agent named in the configuration and nothing else. All that is typed,
 * answered and watched goes through the command line in terminals; this process's own replica only reads. All files are in `directory`.
 */
export async function openLeaderConversation(
  agent: InstalledAgent,
  cwd: string,
  directory: string,
): Promise<Conversation> {
  const root = join(directory, 'root')
  const isolated = isolatedEnvironment(directory)
  useEnvironment({ ...isolated, HEADWATER_ROOT: root })
  const settings = join(isolated.XDG_CONFIG_HOME ?? '', 'headwater')
  mkdirSync(settings)
  const config = { backends: { opencode: { acp: [agent.program, 'acp'], env: agent.env } } }
  writeFileSync(join(settings, 'config.jsonc'), `// An agent of somebody else.\n${JSON.stringify(config, null, 2)}\n`)
  const leader = await startLeaderProcess({ root })
  const sessionId = (await typeCli('session', 'new', '--backend', 'opencode', '--cwd', cwd)).trim()
  const connected = await connectLeader({ root, surface: 'desktop', cache: false })
  if (connected.kind !== 'connected') throw new Error(`not connected: ${JSON.stringify(connected)}`)
  const seen = await connected.connection.openSessionSubscription({ sessionId })
  const watchers = {
    first: startCliProcess(['watch', sessionId], { isTerminal: true }),
    second: startCliProcess(['watch', sessionId], { isTerminal: true }),
    lines: startCliProcess(['watch', sessionId, '--format', 'jsonl'], { isTerminal: false }),
  }
  for (const watcher of [watchers.first, watchers.second]) await watcher.seen('following')
  await watchers.lines.seen('"type":"session.opened"')
  return new LeaderConversation({ root, directory, leader, seen, connection: connected.connection, watchers })
}

interface Opened {
  readonly root: string
  readonly directory: string
  readonly leader: LeaderProcess
  readonly connection: LeaderConnection
  readonly seen: SessionSubscription
  readonly watchers: Watchers
}

class LeaderConversation implements Conversation {
  readonly killedTurn = { status: 'failed', failureClass: 'app_restarted' } as const
  readonly #opened: Opened
  readonly #sessionId: string
  #leader: LeaderProcess
  #turn: LeaderTurn | undefined

  constructor(opened: Opened) {
    this.#opened = opened
    this.#leader = opened.leader
    this.#sessionId = opened.seen.current.session.sessionId
  }

  async start(text: string): Promise<StartedTurn> {
    this.#turn = await LeaderTurn.send(this.#opened, text)
    return this.#turn
  }

  /** SIGKILL while all three watch; they come back by themselves, to the same truth. */
  async kill(): Promise<void> {
    const turn = this.#turn
    if (turn === undefined) throw new Error('no turn was started')
    const { first, second, lines } = this.#opened.watchers
    const shown = [first, second].map(watcher => turn.shownOn(watcher))
    await this.#leader.kill()
    await Promise.all(
      [first, second].map(watcher => watcher.seen('is lost, trying again', { from: turn.from(watcher) })),
    )
    this.#leader = await startLeaderProcess({ root: this.#opened.root })
    assert.deepEqual(await turn.ended(), this.killedTurn)
    assert.deepEqual(
      [first, second, lines].map(watcher => watcher.hasEnded()),
      [false, false, false],
    )
    const kept = turn.text()
    for (const text of shown) assert.equal(kept.slice(0, text.length), text)
    assert.ok(shown.every(text => text.includes('sentence 3.')))
    const told = await typeCli('session', 'show', this.#sessionId)
    assert.ok(told.includes(`${kept.trimEnd()}`), 'session show has all that was kept')
    assert.match(told, /— turn failed: the leader ended while it ran\s*$/)
    await expectClean('leader')
  }

  async agentProcesses(): Promise<readonly number[]> {
    const records = await readLedger(this.#opened.connection, this.#sessionId)
    const started = eventsOf(records, 'process_started').map(event => (event.payload.process as { pid: number }).pid)
    return [...new Set(started)].filter(isRunning)
  }

  async close(): Promise<void> {
    const { watchers, directory } = this.#opened
    await expectClean('leader')
    await typeCli('stop')
    assert.deepEqual(await this.#leader.exited, { code: 0, signal: null })
    await this.#opened.connection.close()
    for (const watcher of Object.values(watchers) as CliProcess[]) assert.equal(await watcher.interrupt(), 130)
    await waitFor(() => processesWith(directory).length === 0, { what: 'no process is left' })
    await expectClean('reader')
  }

  async dispose(): Promise<void> {
    await this.#opened.connection.close()
    killProcessesWith(this.#opened.directory)
  }
}

async function expectClean(by: 'leader' | 'reader'): Promise<void> {
  const { ok, result } = (await runCliJson(['verify'])) as { ok: boolean; result: { by: string; faults: unknown[] } }
  assert.deepEqual({ ok, by: result.by, faults: result.faults }, { ok: true, by, faults: [] })
}
