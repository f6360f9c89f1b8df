import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { DecideContext } from '../../domain/decision.ts'
import type { SessionCore } from '../core/session-core.ts'
import type { Lane } from '../lane.ts'

/** What a session's runs need of it. */
export interface RunDeskSession {
  readonly core: SessionCore
  readonly lane: Lane
  context(): DecideContext
  /** The turn's standing changed in a way that replies may wait for. */
  turnMoved(): void
  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]>
}
