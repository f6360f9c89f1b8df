import type { Input } from '../../schema/commands/index.ts'
import type { Content } from '../../schema/entities/content.ts'
import type { PlanContent, PlanProposal } from '../../schema/entities/plan.ts'
import type { SessionHeader, SessionParent } from '../../schema/entities/session.ts'
import type { Admission, Run, UserMessage } from '../../schema/entities/turn.ts'
import type { RunEvent } from '../../schema/events.ts'
import type { Imported, ImportHead, ImportItem } from './import/import-item.ts'
import type { OfflineReader } from './offline-reader.ts'

/**
 * A root without a running leader, for import, repair and tests. Writers need an owner; each is one synced batch and keeps the indexes that recovery
 * reads. Shapes are checked, states are not: it plants exactly what it is told. Source: interfaces 3.
 */
export interface OfflineStore extends Omit<OfflineReader, 'reader' | 'factsOf'> {
  createSession(input: Input<'session.create'>): Promise<SessionHeader>
  /** A session that a run of another one has: as a leader writes it, whatever became of the parent. Source: T13. */
  createChildSession(input: PlantedChild): Promise<SessionHeader>
  archiveSession(input: { readonly sessionId: string }): Promise<SessionHeader>
  /** Idempotent by `operationId`: the same again gives the first result, another one under it is `operation_conflict`. Source: P1. */
  submitPlanProposal(input: PlantedProposal): Promise<ProposalResult>
  admitTurn(input: { readonly sessionId: string } & Admission): Promise<Admission>
  createRun(input: PlantedRun): Promise<Run>
  appendUserMessage(input: PlantedMessage): Promise<UserMessage>
  appendRunEvent(input: PlantedEvent): Promise<RunEvent>
  /**
   * Takes over a whole session, or nothing of it. Errors: `operation_conflict` where another one has its id, `invalid_request` for what does
   * not fit together, `too_large`. Source: D5.
   */
  importSession(head: ImportHead, items: AsyncIterable<ImportItem>): Promise<Imported>
  /** Does not release the owner or reader. */
  close(): Promise<void>
}

/** A child session to write, and whose it is. */
export type PlantedChild = Input<'session.create'> & { readonly parent: SessionParent }

/** A proposal to write as a run of this turn would submit it. */
export type PlantedProposal = PlanContent & {
  readonly operationId: string
  readonly sessionId: string
  readonly turnId: string
}

/** What a proposal became. */
export interface ProposalResult {
  readonly sessionId: string
  readonly storeVersion: number
  readonly eventType: 'plan_submitted'
  readonly proposal: PlanProposal
}

/** A run to write as it is given, not ended. */
export interface PlantedRun {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly agentId?: string
  readonly agentName?: string
  readonly resumedFromRunId?: string
  readonly retriedFromRunId?: string
}

/** A user's message to write; it is not compared with the admission. `at` is now where it is absent. */
export interface PlantedMessage {
  readonly sessionId: string
  readonly turnId: string
  readonly messageId: string
  readonly content: Content
  readonly at?: number
}

/** An event of a run to write, also a terminal one; the turn's snapshot is left alone. */
export interface PlantedEvent {
  readonly sessionId: string
  readonly runId: string
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}
