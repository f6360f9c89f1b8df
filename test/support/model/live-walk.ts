import type { LeaderConnection, SessionSubscription } from '../../../replica/client/types.ts'
import { connectLeader, ReplicaOperationError } from '../../../replica/index.ts'
import type { OperationName } from '../../../schema/commands/index.ts'
import type { RefCommand } from '../../model/reference/commands.ts'
import type { Given, Observed } from '../../model/reference/explore.ts'
import type { RefActor } from '../../model/reference/state.ts'
import type { ReadyLeader, TestRoot } from '../live/test-root.ts'
import type { SeededRandom } from '../random.ts'
import { waitFor, within } from '../wait-for.ts'
import { CommandChoice } from './choose-command.ts'
import { CutProxy } from './cut-proxy.ts'
import { Judge } from './judge.ts'
import { observedView, sharedView } from './observe.ts'

const SURFACES = ['ada', 'bob', 'cyd'] as const
/** What needs no run that does more than wait to be stopped: the scripted backend steps by itself. */
const LEFT_OUT = /^(interaction\.|plan\.|queue\.hold|queue\.promote)/
const HOLD = '/hold'
const ANSWER_MS = 20_000

interface Replica {
  readonly connection: LeaderConnection
  readonly actor: RefActor
  readonly sessions: Map<string, SessionSubscription>
}

/** A leader process with replicas behind a proxy that cuts their links, and the reference, taken through the same commands. */
export class LiveWalk {
  readonly judge = new Judge(HOLD)
  readonly #root: TestRoot
  readonly #random: SeededRandom
  readonly #choice: CommandChoice
  readonly #proxy = new CutProxy()
  readonly #replicas: Replica[] = []
  #leader: ReadyLeader | null = null

  constructor(root: TestRoot, random: SeededRandom) {
    this.#root = root
    this.#random = random
    this.#choice = new CommandChoice(random, operation => !LEFT_OUT.test(operation), HOLD)
  }

  async open(): Promise<void> {
    await this.#start()
    for (const surface of SURFACES) {
      const actor = { surface, clientInstanceId: `${surface}-1` }
      const reached = await connectLeader({ root: this.#root.path, ...actor, cache: false })
      if (reached.kind !== 'connected') throw new Error(`${surface} is not connected: ${reached.kind}`)
      this.#replicas.push({ connection: reached.connection, actor, sessions: new Map() })
    }
  }

  /** Commands of several replicas at once, while links are cut or the leader is killed; then every check. */
  async step(): Promise<void> {
    const dice = this.#random.next()
    const commands = Array.from({ length: this.#random.between(1, 3) }, () => this.#choose())
    const answers = commands.map(command => this.#give(command))
    if (dice < 0.35) this.judge.say(`${this.#proxy.cut(this.#random)} links are cut`)
    const isKilled = dice > 0.85
    if (isKilled) await this.#kill()
    const given = await Promise.all(answers)
    this.judge.told(given, isKilled ? 'killed meanwhile' : 'gave')
    if (dice < 0.35) this.judge.count('cut')
    if (isKilled) this.judge.count('killed')
    const roots = this.judge.after({
      given,
      isOrdered: false,
      deaths: isKilled ? 1 : 0,
      isResent: true,
      hasFault: false,
    })
    await this.#agree(roots)
    await this.#checkReplicas()
  }

  async close(): Promise<void> {
    for (const { connection } of this.#replicas) await connection.close()
    await this.#proxy.close()
    await this.#leader?.kill()
  }

  #choose(): RefCommand {
    const command = this.#choice.next(this.judge.root, this.#random.pick(this.#replicas).actor)
    // A steer is taken by the run at a moment of its own.
    return command.input.placement === undefined
      ? command
      : { ...command, input: { ...command.input, placement: 'next_turn' } }
  }

  async #give(command: RefCommand): Promise<Given> {
    const { connection } = this.#replicas.find(({ actor }) => actor === command.actor) as Replica
    const { operation, input } = command
    for (;;) {
      const observed = await this.#ask(connection, operation, input)
      // Nothing was sent, or nobody served yet: it is given again, under the same identity.
      const isAgain = observed.kind === 'refused' && /^(offline|host_not_ready)$/.test(observed.code)
      if (!isAgain) return { command, observed }
      await waitFor(() => connection.freshness.state === 'live', { what: 'a live connection' })
    }
  }

  async #ask(connection: LeaderConnection, operation: string, input: RefCommand['input']): Promise<Observed> {
    const answer = connection.request(operation as OperationName, input as never)
    return await within(answer, ANSWER_MS, `an answer to ${operation}`).then(
      result => ({ kind: 'ok', result }),
      (error: unknown) => {
        if (!(error instanceof ReplicaOperationError)) throw error
        return { kind: 'refused', code: error.code }
      },
    )
  }

  async #start(): Promise<void> {
    this.#leader = await this.#root.start()
    await this.#proxy.takeOver(this.#leader.line.socketPath)
    for (const { connection } of this.#replicas) connection.retryNow()
  }

  /** While nobody leads nobody is live. Source: A10. */
  async #kill(): Promise<void> {
    await new Promise(resolve => setTimeout(resolve, this.#random.between(0, 25)))
    await this.#leader?.kill()
    const isStale = (): boolean =>
      this.#replicas.some(
        ({ connection, sessions }) =>
          connection.freshness.state === 'live' || [...sessions.values()].some(one => one.freshness.state === 'live'),
      )
    await waitFor(() => !isStale(), { what: 'A10 no view is live while there is no leader', deadlineMs: 2_000 })
    await this.#proxy.close()
    await this.#start()
  }

  /** Runs end and follow each other by themselves: what is seen must come to be what the reference says. */
  async #agree(roots: ReturnType<Judge['after']>): Promise<void> {
    const reader = await this.#root.connect('reader')
    let why: string | null = ''
    try {
      await waitFor(
        async () => {
          why = this.judge.keep(roots, await this.#look(reader, roots))
          return why === null
        },
        { what: 'agreement', deadlineMs: 6_000, everyMs: 40 },
      )
    } catch (error) {
      this.judge.fail(why ?? String(error))
    } finally {
      await reader.close()
    }
  }

  async #look(reader: LeaderConnection, roots: ReturnType<Judge['after']>): Promise<Map<string, unknown>> {
    const views = new Map<string, unknown>()
    for (const sessionId of new Set(roots.flatMap(root => Object.keys(root.sessions)))) {
      try {
        const opened = await reader.openSessionSubscription({ sessionId })
        views.set(sessionId, observedView(opened.snapshot))
        await opened.close()
      } catch (error) {
        if (!isGone(error)) throw error
      }
    }
    return views
  }

  /** Every replica that says it is live sees what a fresh one sees. */
  async #checkReplicas(): Promise<void> {
    const reader = await this.#root.connect('reader')
    try {
      for (const { sessionId, isDeleted } of Object.values(this.judge.root.sessions)) {
        if (isDeleted) continue
        const fresh = (await reader.openSessionSubscription({ sessionId })).snapshot
        for (const replica of this.#replicas) await this.#checkReplica(replica, sessionId, sharedView(fresh))
      }
      const { faults } = await reader.request('root.verify', {})
      if (faults.length > 0) this.judge.fail(`A8 verify: ${JSON.stringify(faults)}`)
    } finally {
      await reader.close()
    }
  }

  async #checkReplica({ connection, actor, sessions }: Replica, sessionId: string, fresh: string): Promise<void> {
    const known = sessions.get(sessionId) ?? (await connection.openSessionSubscription({ sessionId }))
    sessions.set(sessionId, known)
    const what = `${actor.surface} sees ${sessionId} as a fresh replica does`
    await waitFor(() => known.freshness.state === 'live' && sharedView(known.current) === fresh, { what })
  }
}

function isGone(error: unknown): boolean {
  const { code, reason } = error as { code?: string; reason?: string }
  return code === 'not_found' || reason === 'session_removed' || reason === 'not_found'
}
