import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { ChildTools } from '../../execution/backend.ts'

/** The run that has children, and the session it is of. */
export interface ParentRun {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly header: SessionHeader
  /** True once its end is decided: from now on it starts nothing. Source: T9. */
  readonly hasEnded: boolean
}

/** The child sessions of one run. Source: T13. */
export interface RunChildren extends ChildTools {
  /**
   * Stops every child that has not ended, and theirs; from now on none starts. Resolves when their terminal events are durable, or when
   * the time in which a run must end is over. Never rejects; asked again, it is the same stop.
   */
  stop(abortSource: string): Promise<void>
}

/** Where the runs of a root have their child sessions. Source: T13. */
export interface ChildSessions {
  of(run: ParentRun): RunChildren
}
