import { randomUUID } from 'node:crypto'
import type { Fault } from '../schema/commands/host.ts'
import { LIMITS } from '../schema/limits.ts'
import { activeTurn } from './domain/state.ts'
import { beginEpoch, type Epoch, readEpoch, unstoredEpoch } from './epoch.ts'
import type { Backend } from './execution/backend.ts'
import { createDriver } from './execution/driver.ts'
import { endProcessGroup } from './execution/process-identity.ts'
import { createScriptedBackend } from './execution/scripted/scripted.ts'
import { Artifacts } from './host/artifacts.ts'
import { Catalog } from './host/catalog.ts'
import { LeaderHost } from './host/leader-host.ts'
import { readLineage } from './lineage.ts'
import type { RootOwner } from './log/root/owner.ts'
import { readRootToken } from './log/root/token.ts'
import type { RootStore } from './open-root-store.ts'
import { systemClock } from './projection/clock.ts'
import { KeptCheck, noteSince } from './root-care/kept-check.ts'
import { LinkedChildren } from './session/children/linked-children.ts'
import { crashPoints } from './session/crash-points.ts'
import type { SessionEnvironment } from './session/environment.ts'
import { SessionRegistry } from './session/registry.ts'
import { ArtifactGate } from './session/removal/artifact-gate.ts'
import { Purges } from './session/removal/purges.ts'
import { DeltaTicker } from './session/runs/delta-ticker.ts'
import { RunSlots } from './session/runs/run-slots.ts'
import type { SessionLoop } from './session/session-loop.ts'
import { executionMetrics, sessionMetrics } from './telemetry/adapters.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { CredentialTable } from './transport/auth.ts'
import { ConnectionRoster } from './transport/roster.ts'

/** The parts of a running leader, wired and not yet listening. */
export interface LeaderParts {
  readonly owner: RootOwner
  readonly store: RootStore
  readonly epoch: Epoch
  readonly keptCheck: KeptCheck
  readonly sessions: SessionRegistry
  readonly catalog: Catalog
  /** Deleted sessions that are being removed. Source: S5. */
  readonly purges: Purges
  readonly host: LeaderHost
  readonly roster: ConnectionRoster
  readonly credentials: CredentialTable
  readonly metrics: Metrics
  readonly logger: Logger
  readonly backends: ReadonlyMap<string, Backend>
  /** Whatever keeps an idle leader alive, counted. Source: E4. */
  readonly busy: () => number
}

/** What the graph is built from. `shutdown` is called after the reply to `host.shutdown`. */
export interface ComposeOptions {
  readonly owner: RootOwner
  readonly store: RootStore
  readonly backends: readonly Backend[]
  readonly logger: Logger
  readonly metrics: Metrics
  readonly isDraining: () => boolean
  readonly shutdown: (now: boolean) => void
}

/** Builds the object graph of one leader under a new epoch. Source: architecture 3. */
export async function composeLeader(options: ComposeOptions): Promise<LeaderParts> {
  const { owner, store, shutdown, metrics } = options
  const epoch = await beginTenure(options)
  const lineage = await readLineage(store)
  const { hostEpoch } = epoch
  const { rootId } = owner.capability
  const rootMark = rootId.slice(0, 16)
  const logger = options.logger.child({ epoch: hostEpoch, root: rootMark })
  const backends = backendTable(options.backends)
  const gate = new ArtifactGate(store)
  const artifacts = new Artifacts(store, gate)
  const catalog = new Catalog({ hostEpoch, clock: systemClock, store, log: logger })
  const roster = new ConnectionRoster()
  const env: SessionEnvironment = {
    store,
    artifacts: gate,
    hostEpoch,
    epochNumber: epoch.number,
    lineage: lineage.id,
    foreignThrough: lineage.foreignThrough,
    rootMark,
    clock: systemClock,
    newId: randomUUID,
    backends: new Set(backends.keys()),
    startRun: createDriver({ backends, artifacts, log: logger, metrics: executionMetrics(metrics) }),
    slots: new RunSlots(LIMITS.maxActiveTurns),
    ticker: new DeltaTicker(systemClock),
    isDraining: options.isDraining,
    onDurable: state => catalog.show(state),
    presence: roster,
    children: new LinkedChildren(() => sessions),
    onDeleted: sessionId => purges.add(sessionId),
    onDamaged: sessionId => catalog.showDamaged(sessionId),
    endProcess: process => endProcessGroup(process),
    log: logger,
    metrics: sessionMetrics(metrics),
    crash: crashPoints(process.env),
  }
  const sessions: SessionRegistry = new SessionRegistry(env)
  const purges = new Purges(() => sessions)
  const keptCheck = new KeptCheck({ root: owner.capability.path, store, sessions, log: logger })
  // Of what is only read nothing runs, whatever is stored.
  const activeTurns = (): number => (store.regression === null ? [...sessions.loaded].filter(isRunning).length : 0)
  const host = new LeaderHost({
    rootId,
    rootPath: owner.capability.path,
    hostEpoch,
    store,
    sessions,
    artifacts,
    catalog,
    connections: () => roster.count,
    activeTurns,
    rootFaults: () => [...rootFaults(store), ...keptCheck.faults],
    readOnly: store.regression?.message ?? null,
    shutdown,
    newId: randomUUID,
    log: logger,
  })
  const watchers = (): number =>
    [...sessions.loaded].reduce((sum, loop) => sum + loop.core.room.subscribers, catalog.room.subscribers)
  const busy = (): number => roster.count + host.inFlight + activeTurns() + watchers() + purges.length
  observe(metrics, { epoch, sessions, store })
  const credentials = CredentialTable.ofRootToken(await readRootToken(owner.capability), systemClock.now())
  const parts = { owner, store, epoch, keptCheck, sessions, purges, catalog, host }
  return { ...parts, roster, credentials, metrics, logger, backends, busy }
}

/** The epoch of this leader; one that only reads leaves no trace of it. Source: E1, D1, D4. */
async function beginTenure({ owner, store, logger }: ComposeOptions): Promise<Epoch> {
  const now = systemClock.now()
  if (store.regression !== null) return await unstoredEpoch(store, now)
  await noteSince(owner.capability.path, (await readEpoch(store)).startedAt, logger)
  return await beginEpoch(store, now)
}

function isRunning({ core }: SessionLoop): boolean {
  return core.quarantine === null && activeTurn(core.durable) !== null
}

/** What is wrong with the root as a whole. Source: D4. */
function rootFaults({ regression }: RootStore): readonly Fault[] {
  if (regression === null) return []
  return [{ code: 'root_regressed', kind: regression.kind, message: regression.message }]
}

/** The built-in backends and those that were given; the same kind replaces. */
function backendTable(given: readonly Backend[]): ReadonlyMap<string, Backend> {
  return new Map([createScriptedBackend(), ...given].map(backend => [backend.kind, backend]))
}

function observe(
  metrics: Metrics,
  { epoch, sessions, store }: Pick<LeaderParts, 'epoch' | 'sessions' | 'store'>,
): void {
  store.on('health', health => {
    if (health !== 'ok') metrics.storageErrorsTotal.add(health)
  })
  metrics.readGauge('leaderEpoch', () => epoch.number)
  metrics.readGauge('projectionLagEntries', () => [...sessions.loaded].reduce((sum, loop) => sum + loop.core.lag, 0))
  // While the database is being opened again nobody waits for it.
  metrics.readGauge('databaseBytes', () => (store.health === 'ok' ? store.sizes() : {}))
  metrics.readGauge('sessions', () => {
    const counts: Record<string, number> = { idle: 0, running: 0, waiting_for_user: 0, damaged: 0 }
    for (const loop of sessions.loaded) counts[loop.core.durable.header?.status ?? 'idle']! += 1
    counts.damaged = sessions.faults.length
    return counts
  })
  metrics.readGauge('queueEntries', () => {
    const counts: Record<string, number> = { current_turn: 0, next_turn: 0 }
    for (const loop of sessions.loaded) for (const { entry } of loop.core.durable.queue) counts[entry.placement]! += 1
    return counts
  })
  metrics.readGauge('interactionsOpen', () => {
    const counts: Record<string, number> = { question: 0, permission: 0, form: 0 }
    for (const loop of sessions.loaded) {
      for (const { snapshot } of loop.core.durable.interactions) counts[snapshot.request.kind]! += 1
    }
    return counts
  })
}
