import type { SessionState } from '../domain/state.ts'
import type { ProcessIdentity } from '../execution/backend.ts'
import type { Store } from '../log/store.ts'
import type { ProjectionClock } from '../projection/clock.ts'
import type { ChildSessions } from './children/child-sessions.ts'
import type { ClientPresence } from './commands/holds.ts'
import type { CrashPoint } from './crash-points.ts'
import type { ArtifactGate } from './removal/artifact-gate.ts'
import type { StartRun } from './run-port.ts'
import type { DeltaTicker } from './runs/delta-ticker.ts'
import type { RunSlots } from './runs/run-slots.ts'

/** What a session logs to. Never given text of users or agents. */
export interface SessionLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What sessions count. */
export interface SessionMetrics {
  /** A command waited so long in its lane. */
  commandQueued(seconds: number): void
  commandCommitted(seconds: number): void
  /** A transition was written into its document. */
  projected(seconds: number): void
  ledgerAppended(bytes: number): void
  /** A person answered, or circumstances did. */
  interactionSettled(seconds: number): void
  turnEnded(outcome: string): void
  recovered(recoveryCase: string): void
  recoveryTook(seconds: number): void
  wentBack(): void
}

/** Counts nothing. */
export const silentMetrics: SessionMetrics = {
  commandQueued() {},
  commandCommitted() {},
  projected() {},
  ledgerAppended() {},
  interactionSettled() {},
  turnEnded() {},
  recovered() {},
  recoveryTook() {},
  wentBack() {},
}

/** What every loaded session of a root shares. */
export interface SessionEnvironment {
  readonly store: Store
  readonly artifacts: ArtifactGate
  readonly hostEpoch: string
  readonly epochNumber: number
  /** The root's history; '' is its first one. Documents of another one are built anew when they are loaded. Source: V7. */
  readonly lineage?: string
  /** Processes recorded in epochs up to this one are not ours: the root is a copy. Source: R2. */
  readonly foreignThrough?: number
  /** What processes of this root's runs are marked with where they are recorded: those with another mark are not ours. Source: X15, D5. */
  readonly rootMark?: string
  readonly clock: ProjectionClock
  readonly newId: () => string
  readonly backends: ReadonlySet<string>
  readonly startRun: StartRun
  readonly slots: RunSlots
  readonly ticker: DeltaTicker
  readonly isDraining: () => boolean
  /** Called with every state that became durable. */
  readonly onDurable: (state: SessionState) => void
  /** Called when a session's deletion is durable; resolves when its linked children have gone too. Source: S5. */
  readonly onDeleted?: (sessionId: string) => Promise<void>
  /** Called when a session turns out to be damaged. Source: A9. */
  readonly onDamaged?: (sessionId: string) => void
  /** The clients that are here; absent where there is no transport. Source: Q6. */
  readonly presence?: ClientPresence
  /** Where runs have their child sessions; absent where nothing runs. Source: T13. */
  readonly children?: ChildSessions
  /** Ends what is left of a former epoch's agent, where it is provably that; resolves when it is gone. Source: X15. */
  readonly endProcess?: (process: ProcessIdentity) => Promise<unknown>
  readonly log: SessionLog
  readonly metrics: SessionMetrics
  readonly crash: (point: CrashPoint) => void
}
