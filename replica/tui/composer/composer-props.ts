import type { KeyLayer } from '../keys/key-router.ts'
import type { DraftStore, SendMode } from './draft-store.ts'
import type { HistoryFile } from './history-file.ts'

/** What the composer of a session works with. */
export interface ComposerProps {
  readonly sessionId: string
  /** Under which name the draft is kept; default: the session's id. One that is not made yet has none to come back to. */
  readonly draftKey?: string
  readonly drafts: DraftStore
  readonly history: HistoryFile
  readonly columns: number
  /** At most so many rows are drawn, with all that belongs to it. */
  readonly maxRows: number
  readonly isFocused: boolean
  readonly isRunning: boolean
  /** Something waits for an answer: Tab leads there, whatever is written. */
  readonly isWaiting?: boolean
  /** `false`: nothing is sent now, and `reason` says why. */
  readonly canSend: boolean
  readonly reason?: string
  /**
   * Gives a text to the leader. Resolves `true` when the leader has it, `false` when it has it not (the text comes back into the draft); saying
   * why is for the one who sends.
   */
  readonly onSend: (text: string, mode: SendMode) => Promise<boolean>
  /** Takes back this person's newest waiting message. `false`: there is none. */
  readonly onRecall: () => boolean
  /** `/` was typed first. `false`: it is text like any other. */
  readonly onSlash?: () => boolean
}

/** Under which name the draft of this composer is kept. */
export function draftKeyOf({ draftKey, sessionId }: ComposerProps): string {
  return draftKey ?? sessionId
}

/** Takes keys, letters and pastes. */
export type TypingLayer = KeyLayer & Required<Pick<KeyLayer, 'onText' | 'onPaste'>>
