import { Artifacts } from '../../../leader/host/artifacts.ts'
import { Catalog } from '../../../leader/host/catalog.ts'
import { LeaderHost } from '../../../leader/host/leader-host.ts'
import { type MemoryStore, openMemoryStore } from '../../../leader/log/memory-store.ts'
import type { Store } from '../../../leader/log/store.ts'
import { recoverSessions } from '../../../leader/recovery.ts'
import { LinkedChildren } from '../../../leader/session/children/linked-children.ts'
import { type SessionEnvironment, silentMetrics } from '../../../leader/session/environment.ts'
import { loadSession } from '../../../leader/session/load.ts'
import { type RegistryLimits, SessionRegistry } from '../../../leader/session/registry.ts'
import { ArtifactGate } from '../../../leader/session/removal/artifact-gate.ts'
import { Purges } from '../../../leader/session/removal/purges.ts'
import { DeltaTicker } from '../../../leader/session/runs/delta-ticker.ts'
import { RunSlots } from '../../../leader/session/runs/run-slots.ts'
import type { SessionLoop } from '../../../leader/session/session-loop.ts'
import type { Caller, Reply } from '../../../leader/transport/host-port.ts'
import { verifySession } from '../../../leader/verify/verify-session.ts'
import type { Input, OperationName, Result } from '../../../schema/commands/index.ts'
import type { LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { WireError } from '../../../schema/wire/frames.ts'
import { RoomSocket } from '../room-socket.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { type PuppetRun, PuppetRuns } from './puppet-runs.ts'

/** A line that was logged. */
export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** What a world is made of; everything has a default. */
export interface WorldOptions<S extends Store> {
  readonly store: S
  readonly clock?: VirtualClock
  readonly epochNumber?: number
  readonly places?: number
  readonly limits?: Partial<RegistryLimits>
  /** Replaces parts of the sessions' environment. */
  readonly env?: Partial<SessionEnvironment>
}

/** Who sends a world's commands. */
export const CALLER: Caller = {
  actor: { surface: 'test', clientInstanceId: 'client-1' },
  connectionId: 'connection-1',
  scope: 'full',
}

/** Lets everything go on that needs neither time nor a held write. */
export function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(() => setImmediate(() => setImmediate(resolve))))
}

/** The sessions of a leader without its transport: real parts over a store, runs by hand, time by hand. */
export class SessionWorld<S extends Store = MemoryStore> {
  readonly store: S
  readonly clock: VirtualClock
  readonly runs = new PuppetRuns()
  readonly logged: LoggedLine[] = []
  readonly sessions: SessionRegistry
  readonly catalog: Catalog
  readonly purges: Purges
  readonly host: LeaderHost
  readonly slots: RunSlots
  readonly hostEpoch: string
  isDraining = false
  #ids = 0
  #sockets = 0

  constructor(options: WorldOptions<S>) {
    const { store, clock = new VirtualClock(), epochNumber = 1, places = 32 } = options
    this.store = store
    this.clock = clock
    this.hostEpoch = `epoch-${epochNumber}`
    this.slots = new RunSlots(places)
    const { hostEpoch } = this
    const log = this.#log()
    this.catalog = new Catalog({ hostEpoch, clock, store, log })
    const env: SessionEnvironment = {
      store,
      artifacts: new ArtifactGate(store),
      hostEpoch,
      epochNumber,
      clock,
      newId: () => `id-${epochNumber}-${++this.#ids}`,
      backends: new Set(['scripted']),
      startRun: this.runs.start,
      slots: this.slots,
      ticker: new DeltaTicker(clock),
      isDraining: () => this.isDraining,
      onDurable: state => this.catalog.show(state),
      children: new LinkedChildren(() => this.sessions),
      onDeleted: sessionId => this.purges.add(sessionId),
      onDamaged: sessionId => this.catalog.showDamaged(sessionId),
      log,
      metrics: silentMetrics,
      crash: () => {},
      ...options.env,
    }
    this.purges = new Purges(() => this.sessions)
    this.sessions = new SessionRegistry(env, { ...LIMITS, ...options.limits })
    this.host = new LeaderHost({
      rootId: 'root',
      rootPath: '/nowhere',
      hostEpoch,
      store,
      sessions: this.sessions,
      artifacts: new Artifacts(store, env.artifacts, () => clock.now()),
      catalog: this.catalog,
      connections: () => 0,
      activeTurns: () => 0,
      shutdown: () => {},
      newId: env.newId,
      log,
    })
    this.host.moveTo('ready')
  }

  /** A world over a store in memory. */
  static async inMemory(options: Omit<WorldOptions<MemoryStore>, 'store'> = {}): Promise<SessionWorld> {
    return new SessionWorld({ ...options, store: await openMemoryStore() })
  }

  /** Another leader's tenure over the same disk. */
  static async after(
    world: SessionWorld,
    options: Omit<WorldOptions<MemoryStore>, 'store'> = {},
  ): Promise<SessionWorld> {
    const store = await openMemoryStore({ disk: world.store.disk })
    const next = new SessionWorld({ epochNumber: 2, ...options, store })
    await next.catalog.load()
    await recoverSessions(next.sessions, () => {})
    return next
  }

  call<Op extends OperationName>(operation: Op, input: Input<Op>, caller: Caller = CALLER): Promise<Reply> {
    return this.host.execute(operation, input, caller)
  }

  /** The result of an operation that must succeed. */
  async ok<Op extends OperationName>(operation: Op, input: Input<Op>): Promise<Result<Op>> {
    const reply = await this.call(operation, input)
    if (!reply.ok) throw new Error(`${operation} was refused: ${JSON.stringify(reply.error)}`)
    return reply.result as Result<Op>
  }

  /** The error of an operation that must be refused. */
  async refused<Op extends OperationName>(operation: Op, input: Input<Op>): Promise<WireError> {
    const reply = await this.call(operation, input)
    if (reply.ok) throw new Error(`${operation} was not refused: ${JSON.stringify(reply.result)}`)
    return reply.error
  }

  async create(sessionId: string): Promise<void> {
    await this.ok('session.create', { sessionId, cwd: '/', backend: 'scripted' })
  }

  /** Starts a turn whose run is played by hand. */
  async start(sessionId: string, turnId: string): Promise<PuppetRun> {
    await this.ok('turn.start', { sessionId, turnId, content: { text: `prompt of ${turnId}` } })
    return this.runs.of(turnId)
  }

  submit(sessionId: string, messageId: string, placement: 'current_turn' | 'next_turn' = 'next_turn'): Promise<Reply> {
    const { hostEpoch: originHostEpoch } = this
    return this.call('turn.message.submit', {
      originHostEpoch,
      sessionId,
      messageId,
      content: { text: `text of ${messageId}` },
      placement,
    })
  }

  async loop(sessionId: string): Promise<SessionLoop> {
    const loop = await this.sessions.find(sessionId)
    if (loop === undefined) throw new Error(`no session ${sessionId}`)
    return loop
  }

  /** A socket in the session's room that asked for what it lacks. */
  async join(sessionId: string, generation?: string): Promise<RoomSocket> {
    const socket = new RoomSocket(`socket-${++this.#sockets}`)
    const outcome = await this.host.joinSession(sessionId, generation === undefined ? {} : { generation }, socket)
    if (outcome.kind === 'refused') socket.close(outcome.closeCode, outcome.reason)
    else {
      socket.membership = outcome.membership
      socket.ask()
    }
    return socket
  }

  /** Lets time pass, and what is due with all that follows from it. */
  async advance(byMs: number): Promise<void> {
    for (let left = byMs; left > 0; left -= 33) {
      this.clock.advance(Math.min(33, left))
      await settle()
    }
  }

  /** Resolves with the promise's value; time passes meanwhile, at most a minute of it. */
  async during<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const watched = promise.finally(() => {
      isSettled = true
    })
    watched.catch(() => {})
    for (let passedMs = 0; !isSettled && passedMs < 60_000; passedMs += 33) await this.advance(33)
    if (!isSettled) throw new Error('not settled within a minute of the virtual clock')
    return await watched
  }

  /** The session as it is on disk, and whether all of it holds together. */
  async onDisk(sessionId: string): Promise<NonNullable<Awaited<ReturnType<typeof loadSession>>>> {
    const frozen = await this.store.freeze()
    const check = await verifySession(frozen, sessionId).finally(() => frozen.close())
    if (check.faults.length > 0) throw new Error(`the disk is damaged: ${JSON.stringify(check.faults)}`)
    const loaded = await loadSession(this.store, sessionId)
    if (loaded === null) throw new Error(`no session ${sessionId} on disk`)
    return loaded
  }

  async ledger(sessionId: string): Promise<readonly LedgerRecord[]> {
    const records: LedgerRecord[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: Result<'ledger.page'> = await this.ok('ledger.page', { sessionId, after, limit: 200 })
      records.push(...(page.records as LedgerRecord[]))
      after = page.nextAfter
    }
    return records
  }

  #log(): SessionEnvironment['log'] {
    const at =
      (level: LoggedLine['level']) =>
      (fields: object, message: string): void =>
        void this.logged.push({ level, message, fields: fields as Readonly<Record<string, unknown>> })
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  }
}
