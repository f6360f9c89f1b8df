import type { InteractionSnapshot } from './interaction.ts'
import type { PlanExecution, PlanProposal } from './plan.ts'
import type { QueueProjection } from './queue.ts'
import type { SessionHeader } from './session.ts'
import type { Task } from './task.ts'
import type { TranscriptPage } from './transcript.ts'
import type { TurnSnapshot } from './turn.ts'

/** How true a view is; `asOf` is the leader's time of the last proof of freshness, null if there never was one. Source: A10. */
export interface Freshness {
  readonly state: 'live' | 'syncing' | 'offline'
  readonly asOf: number | null
}

/** A client subscribed to a session. */
export interface PresenceRow {
  readonly connectionId: string
  readonly surface: string
  readonly clientInstanceId: string
  readonly since: number
}

/**
 * The plan section. `storeVersion` is the number of plan events; `lastExecution` is the execution that changed last while none is active.
 * Source: section P of SPEC.md.
 */
export interface PlanProjection {
  readonly storeVersion: number
  readonly latestProposal: PlanProposal | null
  readonly activeExecution: PlanExecution | null
  readonly lastExecution: PlanExecution | null
  readonly agentPlan: AgentPlan | null
}

/** A plan the agent reported by itself: shown, never executable. */
export interface AgentPlan {
  readonly entries: readonly { readonly content: string; readonly priority: string; readonly status: string }[]
  readonly at: number
}

/** The task section, in order of keys; `revision` is the canonical digest of `items`. Source: K1, K3. */
export interface TasksProjection {
  readonly revision: string
  readonly items: readonly Task[]
}

/** The digest of an empty task list. */
export const EMPTY_TASKS_REVISION = 'sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'

/**
 * What a replica sees of a session: frozen plain data; parts that did not change keep their identity from one snapshot to the next.
 * `revision` is the durable ledger revision, `projectionRevision` counts from 1 at the state an epoch starts from.
 * Source: section V of SPEC.md.
 */
export interface SessionProjection {
  readonly session: SessionHeader
  readonly hostEpoch: string
  readonly generation: string
  readonly revision: number
  readonly projectionRevision: number
  readonly rootTurn: TurnSnapshot | null
  readonly queue: QueueProjection
  readonly interactions: { readonly pending: readonly InteractionSnapshot[] }
  readonly plan: PlanProjection
  readonly tasks: TasksProjection
  readonly transcript: TranscriptPage
  readonly presence: readonly PresenceRow[]
  readonly presenceCount: number
}

/** A session in the catalog. Source: S7. */
export interface CatalogRow {
  readonly sessionId: string
  readonly title: string
  readonly status: SessionHeader['status']
  readonly isArchived: boolean
  readonly lastActivityAt: number
  readonly queueCount: number
  readonly pendingCount: number
  readonly plan?: { readonly done: number; readonly total: number }
  readonly tasks?: { readonly open: number; readonly total: number }
  readonly parent?: SessionHeader['parent']
  readonly revision: number
}
