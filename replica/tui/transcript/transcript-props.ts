import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'

/** What a transcript shows and where. */
export interface TranscriptProps {
  readonly sessionId: string
  /** The space it fills, in cells. */
  readonly columns: number
  readonly rows: number
  /** It takes the keys of the context `transcript`. */
  readonly isFocused: boolean
  /** Oldest first: what was read of the history, then what is live, each entry once. */
  readonly entries: readonly TranscriptEntry[]
  /** Entries older than these exist. */
  readonly hasMore: boolean
  readonly isLoadingEarlier: boolean
  /** Asked for when the oldest entries come near; a call while it loads is harmless. */
  readonly loadEarlier: () => void
  readonly rootTurn: TurnSnapshot | null
  /** The leader's time of what is shown, for the duration of a turn whose end is seen. Unit: ms. */
  readonly asOf: number | null
  /** This replica, so that its own messages are told as one's own. */
  readonly clientInstanceId?: string
}
