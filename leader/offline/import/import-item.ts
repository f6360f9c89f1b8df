import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { LedgerRecord } from '../../../schema/events.ts'

/** The session to take over: its id, its newest revision and the hash of that record. */
export interface ImportHead {
  readonly sessionId: string
  readonly revision: number
  readonly hash: string
}

/**
 * What a session consists of, in this order: records of its ledger from the first one (or from a checkpoint) on, transcript entries that a
 * checkpoint does not hold any more, and pieces of artifacts, those of one together.
 */
export type ImportItem =
  | { readonly kind: 'record'; readonly record: LedgerRecord }
  | { readonly kind: 'entries'; readonly entries: readonly TranscriptEntry[] }
  | {
      readonly kind: 'piece'
      readonly artifact: string
      readonly bytes: number
      readonly mimeType: string
      readonly index: number
      readonly piece: Uint8Array
    }

/** What an import did. `present`: the very same session was there already; nothing was written. */
export interface Imported {
  readonly kind: 'imported' | 'present'
  readonly sessionId: string
  readonly revision: number
  readonly records: number
  readonly artifacts: number
}
