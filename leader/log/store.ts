import type { ErrorCode } from '../../schema/errors.ts'

/**
 * Kinds of derived rows: a closed list. Rows of scope `session` are keyed by (session, id), rows of scope `root` by id alone.
 * Values are opaque bytes. Every row can be rebuilt from the ledger.
 *
 *   session      root     sessionId            → header and what the catalog shows
 *   activity     root     order key            → sessionId: the order of `session.list`
 *   active       root     sessionId            → session has unfinished work: all that recovery reads
 *   pending      root     order key            → interaction snapshot, oldest first over all sessions
 *   interaction  root     interactionId        → interaction snapshot, settled or not
 *   admission    session  turnId               → Admission
 *   turn         session  turnId               → TurnRow
 *   entry        session  entryId              → what became of a queue entry that left the queue
 *   segment      session  first seq, 12 digits → sealed transcript entries
 *   proposal     session  proposalId           → PlanProposal; ids sort in order of submission
 *   execution    session  executionId          → PlanExecution; ids sort in order of approval
 *   child        root     parentId.childId     → session → its linked child sessions
 *   fork         root     sourceId.forkId      → session → sessions that refer to its segments
 *   tombstone    root     sessionId            → a session that was deleted, and how far its purge is
 *   artifact_use root     hash.sessionId       → artifact → sessions that name it
 */
export const ROW_KINDS = {
  session: 'root',
  activity: 'root',
  active: 'root',
  pending: 'root',
  interaction: 'root',
  admission: 'session',
  turn: 'session',
  entry: 'session',
  segment: 'session',
  proposal: 'session',
  execution: 'session',
  child: 'root',
  fork: 'root',
  tombstone: 'root',
  artifact_use: 'root',
} as const
/** The kind of a derived row. */
export type RowKind = keyof typeof ROW_KINDS

/** A row to put, or to delete where `value` is null. */
export interface RowWrite {
  readonly kind: RowKind
  readonly id: string
  readonly value: Uint8Array | null
}

/** The stored outcome of a command. `digest` is of the canonical payload, `body` the result as JSON bytes. Source: A5. */
export interface Receipt {
  readonly operation: string
  readonly id: string
  readonly body: Uint8Array
}

/**
 * One lane step as it is stored, whole inside one database batch.
 * `record` is the ledger record of `revision` (absent for a delta and for a command that changes nothing);
 * `update` the Yjs update with its contiguous number in the document log (absent for a command that changes nothing).
 */
export interface StoredTransition {
  readonly record?: { readonly revision: number; readonly bytes: Uint8Array }
  readonly update?: { readonly number: number; readonly bytes: Uint8Array }
  readonly receipt?: Receipt
  readonly rows?: readonly RowWrite[]
}

/** Where a session stands on disk: newest ledger revision and document log number; both 0 for a session that is not there. */
export interface SessionHead {
  readonly revision: number
  readonly update: number
}

/**
 * Transitions of one session, atomic together. `expectedHead` is the head they were decided on; `fence` says who may write.
 * The transitions' revisions and numbers follow on from it without a gap.
 */
export interface AppendItem {
  readonly session: string
  readonly fence: number
  readonly expectedHead: SessionHead
  readonly transitions: readonly StoredTransition[]
}

/**
 * What became of an item. `unknown`: it may or may not be stored; after it only `acquire` is legal for the session.
 * `full`: the disk is full, the item is proved absent. `failed`: proved absent for another reason.
 */
export type AppendOutcome =
  | { readonly kind: 'committed'; readonly head: SessionHead }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'conflict'; readonly head: SessionHead }
  | { readonly kind: 'full' }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'unknown' }

/** A claim on a session. `held`: another leader serves it. */
export type Acquired =
  | { readonly kind: 'held'; readonly by: string; readonly url: string }
  | { readonly kind: 'owned'; readonly fence: number; readonly head: SessionHead }

/** A session's document on disk: the newest snapshot, if any, and every update after it in order. */
export interface StoredDocument {
  readonly snapshot: { readonly through: number; readonly generation: string; readonly bytes: Uint8Array } | null
  readonly updates: readonly { readonly number: number; readonly bytes: Uint8Array }[]
}

/**
 * How well the store is: `full` and `recovering` are temporary, `fault` lasts until restart; `regressed`: the database is older than what was
 * acknowledged, and is only read. Source: E7, E8, D4.
 */
export type StoreHealth = 'ok' | 'full' | 'recovering' | 'fault' | 'regressed'

/** Which rows of a kind to read, in order of their ids; at most `limit` of them. */
export interface RangeOptions {
  /** Only ids greater than this one (less, when reversed). */
  readonly after?: string
  readonly limit?: number
  readonly reverse?: boolean
}

/** A row as it is stored. */
export interface Row {
  readonly id: string
  readonly value: Uint8Array
}

/** Reading a root: owners and readers have it. Reads see only what is durable. */
export interface StoreReader {
  receipt(session: string, operation: string, id: string): Promise<Uint8Array | undefined>
  head(session: string): Promise<SessionHead>
  document(session: string): Promise<StoredDocument>
  /** The greatest revision and update number that are stored, whatever the head says; 0 for none. */
  lastNumbers(session: string): Promise<SessionHead>
  /** The revision of a checkpoint below which there still are records to be deleted. Source: L6. */
  untrimmed(session: string): Promise<number | undefined>
  /** Ledger records as bytes, in order of revision, from `after` + 1 on; at most `limit`. */
  ledger(session: string, after: number, limit: number): Promise<readonly { revision: number; bytes: Uint8Array }[]>
  /** A row of scope `root` is read with session ''. */
  row(kind: RowKind, session: string, id: string): Promise<Uint8Array | undefined>
  rows(kind: RowKind, session: string, options?: RangeOptions): Promise<readonly Row[]>
  /** Ids of all sessions that have a ledger, in order, after `cursor`. */
  sessions(cursor: string | undefined, limit: number): Promise<readonly string[]>
  artifact(hash: string): Promise<{ bytes: number; mimeType: string } | undefined>
  artifactPiece(hash: string, index: number): Promise<Uint8Array | undefined>
  /** Root-wide records, such as epochs; not part of any session. */
  rootRecord(key: string): Promise<Uint8Array | undefined>
  /** As `rows`, without values: also those are named that cannot be read. */
  rowIds(kind: RowKind, session: string, options: RangeOptions & { readonly limit: number }): Promise<readonly string[]>
  /** What names a session's receipts, in order of their keys, after `cursor`. */
  receiptKeys(session: string, cursor: ReceiptKey | undefined, limit: number): Promise<readonly ReceiptKey[]>
  /** Hashes of all artifacts, in order, after `cursor`. */
  artifacts(cursor: string | undefined, limit: number): Promise<readonly string[]>
  /** About how many bytes a session takes on the disk; what was written last may not be counted yet. Source: L6. */
  sizeOf(session: string): Promise<number>
}

/** What stays of a deleted session. `segmentsThrough`: sealed entries up to this `seq`, for forks; null: none. Source: S5, S6. */
export interface PurgeKeep {
  readonly receipts: readonly ReceiptKey[]
  readonly segmentsThrough: string | null
}

/** What names a receipt within its session. */
export type ReceiptKey = Pick<Receipt, 'operation' | 'id'>

/** A session in a new place. Source: D2. */
export interface SessionRewrite {
  readonly head: SessionHead
  /** Takes the place of the whole document log. */
  readonly snapshot: NonNullable<StoredDocument['snapshot']>
  /** Ledger records behind the new head and document updates up to these go, also those that cannot be read. */
  readonly recordsThrough: number
  readonly updatesThrough: number
  readonly droppedReceipts: readonly ReceiptKey[]
}

/** A reader of one state of a root, kept while others write. Close it. */
export interface FrozenReader extends StoreReader {
  /** False once the store was closed, or opened anew after a failure: what cannot be read from then on is not damaged. Source: E7, A9. */
  readonly isOpen: boolean
  /** All entries in order, or those of a range, as they are stored: what a backup copies. Source: D3. */
  entries(range?: {
    readonly gte: string
    readonly lt: string
  }): AsyncIterable<readonly (readonly [key: string, stored: Uint8Array])[]>
  close(): Promise<void>
}

/**
 * Where sessions live. Implemented by LevelDB and in memory; one suite checks both. `append` groups what it is given
 * with what waits: one synced batch in flight, the next filling. Outcomes come back in order per session.
 */
export interface Store extends StoreReader {
  readonly health: StoreHealth
  /** Called when `health` changes, and when a session's claim is lost. */
  on(event: 'health', listener: (health: StoreHealth) => void): () => void
  on(event: 'lost', listener: (session: string) => void): () => void
  acquire(session: string): Promise<Acquired>
  release(session: string): Promise<void>
  /** With `atomic` all items are committed or none: create, fork, child start and delete only. */
  append(items: readonly AppendItem[], options?: { readonly atomic?: boolean }): Promise<readonly AppendOutcome[]>
  /** Replaces the document log through number `through` by one snapshot of a new generation; synced. */
  compact(
    session: string,
    fence: number,
    snapshot: { readonly through: number; readonly generation: string; readonly bytes: Uint8Array },
  ): Promise<AppendOutcome>
  /** One state of everything, as it is durable now. Source: D2, D3. */
  freeze(): Promise<FrozenReader>
  /**
   * Puts a checkpoint in the place of the ledger record of its revision, which is below the head, and notes that the records before it
   * are to be deleted; synced. Source: L6.
   */
  putCheckpoint(
    session: string,
    fence: number,
    record: { readonly revision: number; readonly bytes: Uint8Array },
  ): Promise<AppendOutcome>
  /**
   * Deletes the newest ledger records before the checkpoint, at most `limit` of them, so that what is left is contiguous from the first one
   * on; synced. `isDone`: nothing is left, and the note is gone. Source: L6.
   */
  trimLedger(
    session: string,
    fence: number,
    limit: number,
  ): Promise<{ readonly outcome: AppendOutcome; readonly isDone: boolean }>
  /** Puts a session in another place, whatever stands there, in one synced batch; the claim ends with it. For repair only. Source: D2. */
  rewrite(session: string, fence: number, rewrite: SessionRewrite): Promise<AppendOutcome>
  /** Gives the disk space of what was deleted from a session back: its bytes are not on the disk any more. */
  squeeze(session: string): Promise<void>
  /** As `squeeze`, for what belongs to no session alone: rows of scope root, and these artifacts; null: all artifacts. */
  squeezeShared(artifacts: readonly string[] | null): Promise<void>
  /**
   * Writes ledger records of a session that is not there yet; synced. Nobody sees them before `found` gives the session its head, and
   * `purge` removes them. Source: A8.
   */
  putRecords(
    session: string,
    fence: number,
    records: readonly { readonly revision: number; readonly bytes: Uint8Array }[],
  ): Promise<AppendOutcome>
  /**
   * Gives a session that is not there yet its head at `revision`, whose record was put, the snapshot of its document and these rows, in one
   * synced batch. Source: A3.
   */
  found(
    session: string,
    fence: number,
    start: {
      readonly revision: number
      readonly snapshot: { readonly through: number; readonly generation: string; readonly bytes: Uint8Array }
      readonly rows: readonly RowWrite[]
    },
  ): Promise<AppendOutcome>
  /** Writes rows outside of any transition, in one synced batch; rejects if they are not stored. */
  putRows(session: string, rows: readonly RowWrite[]): Promise<void>
  /** Puts another body in the place of a deleted session's receipt; synced. Source: S5. */
  putReceipt(session: string, receipt: Receipt): Promise<void>
  /**
   * Removes what a deleted session left, but for what `keep` names: at most `limit` records of it in one synced batch, its head with the
   * last of them. True when nothing else is left. Nobody may have a claim on the session. Source: S5.
   */
  purge(session: string, keep: PurgeKeep, limit: number): Promise<boolean>
  /** Removes an artifact with all its pieces and writes these rows, in one synced batch. Source: L5. */
  removeArtifact(hash: string, rows: readonly RowWrite[]): Promise<void>
  /** About how many bytes each part of the database takes on the disk. Source: L6. */
  sizes(): Promise<Readonly<Record<string, number>>>
  /** Stores an artifact's piece; not visible until `putArtifact` names its hash. Synced before it resolves. */
  putArtifactPiece(hash: string, index: number, bytes: Uint8Array): Promise<void>
  putArtifact(hash: string, meta: { readonly bytes: number; readonly mimeType: string }): Promise<void>
  putRootRecord(key: string, bytes: Uint8Array): Promise<void>
  /** Waits for what is in flight, then closes. */
  close(): Promise<void>
}
