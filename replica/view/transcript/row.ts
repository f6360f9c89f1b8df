import type { TextEntry, ToolEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot, TurnStatus } from '../../../schema/entities/turn.ts'

type Entry<K extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: K }>

/**
 * What every row has. `id` tells rows of a session apart; rows are in order of `seq`. `lastSeq` is that of its last entry; `at` the time of its
 * first one, ms.
 */
interface RowKeys {
  readonly id: string
  readonly seq: number
  readonly lastSeq: number
  readonly turnId: string
  readonly at: number
}

/** How long a turn took. Where its end was not seen it is at least this, by what its last entry tells. Unit: ms. */
export interface TurnDuration {
  readonly ms: number
  readonly isExact: boolean
}

/** The head of a turn. `by` is who sent its first message, null where none did; `status` null where it is not known here. */
export interface TurnRow extends RowKeys {
  readonly kind: 'turn'
  readonly by: string | null
  readonly status: TurnStatus | null
  readonly duration: TurnDuration | null
  /** No earlier head says this day. */
  readonly isNewDay: boolean
}

/** A message of a person. `by` is null where the head of its turn says it. */
export interface UserRow extends RowKeys {
  readonly kind: 'user'
  readonly entry: Entry<'user'>
  readonly by: string | null
}

/** A message of the assistant, or a thought: the entries it came in, which follow each other without a gap. */
export interface TextRow extends RowKeys {
  readonly kind: 'assistant' | 'thinking'
  readonly pieces: readonly TextEntry[]
  readonly isStreaming: boolean
}

/** What one entry tells. */
export type EntryRow =
  | (RowKeys & { readonly kind: 'tool'; readonly entry: ToolEntry })
  | (RowKeys & { readonly kind: 'interaction'; readonly entry: Entry<'interaction'> })
  | (RowKeys & { readonly kind: 'plan'; readonly entry: Entry<'plan'> })
  | (RowKeys & { readonly kind: 'notice'; readonly entry: Entry<'notice'> })

/** A turn that did not come to its own end. */
export type BrokenTurn = Extract<TurnSnapshot, { status: 'failed' | 'cancelled' }>

/** Behind the last entry of such a turn: why, and what can be done next. */
export interface EndRow extends RowKeys {
  readonly kind: 'end'
  readonly turn: BrokenTurn
}

/** A row of a transcript. */
export type TranscriptRow = TurnRow | UserRow | TextRow | EntryRow | EndRow

/** Where rows of one `seq` stand: the head before it, the end behind it. */
export function placeOf(row: Pick<TranscriptRow, 'kind'>): 0 | 1 | 2 {
  return row.kind === 'turn' ? 0 : row.kind === 'end' ? 2 : 1
}
