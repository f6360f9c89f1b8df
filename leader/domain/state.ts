import type { InteractionRequest } from '../../schema/entities/interaction.ts'
import type { PlanProjection } from '../../schema/entities/projection.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { Admission, Run, TurnSnapshot } from '../../schema/entities/turn.ts'
import type { InteractionRecord, QueueRecord } from '../../schema/projection/layout.ts'

/** A transcript entry that is still in the live document; `bytes` is its size as JSON. */
export interface LiveEntry {
  readonly entry: TranscriptEntry
  readonly bytes: number
}

/** A streamed text block that is not sealed yet. Its text lives in the document only; deltas are no facts. */
export interface OpenBlock {
  readonly blockId: string
  readonly kind: 'assistant' | 'thinking'
  readonly messageId: string
  readonly offset: number
  readonly turnId: string
  readonly runId: string
  readonly startedAt: number
}

/** The newest root turn with what its commands and its recovery need. */
export interface RootTurn {
  readonly admission: Admission
  /** Ledger revision of the admission: where the turn's facts begin. */
  readonly admittedRevision: number
  /** Runs of this turn in ledger order; in a healthy session at most one. */
  readonly runs: readonly Run[]
  /** The snapshot everyone sees. It may lag behind the run's terminal event only after a crash or in a planted root. */
  readonly snapshot: TurnSnapshot
}

/**
 * Everything a session's commands are decided on: exactly what folding its ledger gives. Immutable; parts that a transition does not
 * touch keep their identity, which is how the document's writer finds what changed.
 * Open text blocks are not part of it (L4).
 */
export interface SessionState {
  readonly sessionId: string
  /** Ledger revision of the newest transition; 0 before the session exists. */
  readonly revision: number
  /** The leader's clock at the newest transition. Unit: ms. */
  readonly at: number
  /** Null before the session exists. Its `status` and `lastActivityAt` are kept up to date here too. */
  readonly header: SessionHeader | null
  readonly root: RootTurn | null
  readonly queueRevision: number
  /** In order of delivery (`order` grows). */
  readonly queue: readonly QueueRecord[]
  /** Pending ones, oldest first. */
  readonly interactions: readonly InteractionRecord[]
  readonly plan: PlanProjection
  /** Newest transcript entries, contiguous; older ones are sealed into segments. */
  readonly transcript: readonly LiveEntry[]
  /** `seq` of the next transcript entry. */
  readonly nextSeq: number
}

/** What one fold step produced beside the state: settled or sealed things that leave it for the derived rows. */
export interface Sealed {
  readonly entries: readonly TranscriptEntry[]
}

export interface PendingRequest {
  readonly interactionId: string
  readonly request: InteractionRequest
  readonly expiresInMs?: number
}
