import type { InteractionRequest } from '../../schema/entities/interaction.ts'
import { EMPTY_TASKS_REVISION, type PlanProjection, type TasksProjection } from '../../schema/entities/projection.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { type Admission, isTerminal, type Run, type TurnSnapshot } from '../../schema/entities/turn.ts'
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
  /** `seq` of the last transcript entry there was when the turn ended; absent before. Source: S6. */
  readonly endSeq?: number
  /** Tool calls of its run that have no outcome and whose entry was sealed; absent where there are none. Source: X11, L3. */
  readonly sealedCalls?: readonly string[]
}

/**
 * By what name the agent can take the conversation up again (null: it cannot), and the child process that did its work last, as
 * recorded when it started in epoch `processEpoch`. Source: X15.
 */
export interface AgentSession {
  readonly backend: string
  readonly agentSessionId: string | null
  readonly process: Readonly<Record<string, unknown>> | null
  readonly processEpoch: number
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
  /** In order of keys. */
  readonly tasks: TasksProjection
  /** The agent behind the session, as far as a later epoch needs to know it; kept in the document's `root` section under 'agent'. */
  readonly agentSession: AgentSession | null
  /** Newest transcript entries, contiguous; older ones are sealed into segments. */
  readonly transcript: readonly LiveEntry[]
  /** `seq` of the next transcript entry. */
  readonly nextSeq: number
  /** True once the session was deleted: nothing of it is there any more, and its id is used up. Source: S5. */
  readonly isDeleted?: boolean
}

/** A wait for a person that a run asks for. */
export interface PendingRequest {
  readonly interactionId: string
  readonly request: InteractionRequest
  /** Running time after which it closes as `expired`; absent: never. Unit: ms. */
  readonly expiresInMs?: number
}

/** A session before its first transition. */
export function initialState(sessionId: string): SessionState {
  return {
    sessionId,
    revision: 0,
    at: 0,
    header: null,
    root: null,
    queueRevision: 0,
    queue: [],
    interactions: [],
    plan: { storeVersion: 0, latestProposal: null, activeExecution: null, lastExecution: null, agentPlan: null },
    tasks: { revision: EMPTY_TASKS_REVISION, items: [] },
    agentSession: null,
    transcript: [],
    nextSeq: 1,
  }
}

/** The root turn that has not ended, or null. */
export function activeTurn(state: SessionState): RootTurn | null {
  return state.root !== null && !isTerminal(state.root.snapshot.status) ? state.root : null
}

/** True while recovery would have something to do for this session. Source: X. */
export function hasUnfinishedWork(state: SessionState): boolean {
  return isAtWork(state) || (state.isDeleted !== true && state.plan.activeExecution !== null)
}

/**
 * True while something goes on in the session, or will by itself: a turn, a wait for a person, an entry that is to be handed on or whose hold
 * ends. A plan that is being carried out waits for the next turn, and needs nobody to do so.
 */
export function isAtWork(state: SessionState): boolean {
  if (state.isDeleted === true) return false
  if (activeTurn(state) !== null || state.interactions.length > 0) return true
  return state.queue.some(record => record.entry.state !== 'parked' || record.entry.heldBy !== undefined)
}
