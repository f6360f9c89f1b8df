import type { Result } from '../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { TranscriptPage } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import type { LedgerRecord } from '../../../schema/events.ts'

/** A proposal or an execution of a plan. */
export type PlanItem = Extract<Result<'plan.query'>, { kind: 'page' }>['items'][number]

/** An artifact that is being read. */
export interface SourceArtifact {
  readonly bytes: number
  readonly mimeType: string
  readonly pieces: AsyncIterable<Uint8Array>
}

/** One session to read, at a leader or in a root that has none. */
export interface SessionSource {
  readonly sessionId: string
  readonly rootId: string
  readonly by: 'leader' | 'view'
  /** Its newest revision now, and the hash of that record. */
  head(): Promise<{ readonly revision: number; readonly hash: string }>
  header(): Promise<SessionHeader>
  /** Records in order from the first one that is there through `revision`. */
  records(revision: number): AsyncIterable<LedgerRecord>
  transcript(options: { readonly before?: number; readonly limit: number }): Promise<TranscriptPage>
  turn(turnId: string): Promise<TurnSnapshot | null>
  plans(): AsyncIterable<PlanItem>
  /** Undefined: it is missing. */
  artifact(hash: string): Promise<SourceArtifact | undefined>
}
