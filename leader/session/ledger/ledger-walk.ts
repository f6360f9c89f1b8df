import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { LedgerRecord } from '../../../schema/events.ts'
import { GENESIS_HASH } from '../../../schema/ids.ts'
import { fold } from '../../domain/evolve/fold.ts'
import { initialState, type SessionState } from '../../domain/state.ts'
import type { StoreReader } from '../../log/store.ts'
import { checkpointOf, decodeRecord, isGenuine } from '../record.ts'

const PAGE_RECORDS = 256

/** Tells of a fault: one word for the check that failed, where, and a sentence. */
export type Note = (kind: string, revision: number, message: string) => void

/** One record of a ledger that holds, and what folding it did. */
export interface LedgerStep {
  readonly record: LedgerRecord
  readonly bytes: Uint8Array
  readonly previous: SessionState
  readonly next: SessionState
  readonly sealed: readonly TranscriptEntry[]
}

/** Where a walk ended. */
export interface WalkEnd {
  /** The session as far as its chain holds. */
  readonly state: SessionState
  readonly lastHash: string
  readonly records: number
  /** True where the walk had to stop before its end. */
  readonly isBroken: boolean
  /** Revision of the newest checkpoint; 0: every record since the first is there. Source: L6. */
  readonly checkpoint: number
}

/** What a walk is about: it goes through revision `through`, and tells each step before it takes the next. */
export interface WalkOptions {
  readonly through: number
  readonly note: Note
  readonly onStep?: (step: LedgerStep) => void
  /** Waited for after each page. */
  readonly onPage?: () => Promise<void> | void
}

/** Walks the chain of a ledger from its first record, folding it. A checkpoint may stand in the place of all before it. Source: A8, L6. */
export async function walkLedger(store: StoreReader, sessionId: string, options: WalkOptions): Promise<WalkEnd> {
  const walk = new Walk(sessionId, options)
  while (!walk.isOver) {
    for (const row of await readPage(store, sessionId, walk)) {
      // A page that begins with a checkpoint reaches further.
      if (walk.isOver || !walk.take(row)) break
    }
    await options.onPage?.()
  }
  return walk.end
}

interface StoredRecord {
  readonly revision: number
  /** Null: it is missing. */
  readonly bytes: Uint8Array | Error | null
}

class Walk {
  readonly #options: WalkOptions
  #state: SessionState
  #lastHash: string = GENESIS_HASH
  #records = 0
  #checkpoint = 0
  #isBroken = false

  constructor(sessionId: string, options: WalkOptions) {
    this.#options = options
    this.#state = initialState(sessionId)
  }

  get after(): number {
    return this.#state.revision
  }

  get left(): number {
    return this.#options.through - this.after
  }

  get isOver(): boolean {
    return this.#isBroken || this.left <= 0
  }

  get end(): WalkEnd {
    return {
      state: this.#state,
      lastHash: this.#lastHash,
      records: this.#records,
      isBroken: this.#isBroken,
      checkpoint: this.#checkpoint,
    }
  }

  /** True when the record follows on from the one before. */
  take(row: StoredRecord): boolean {
    const expected = this.after + 1
    const read = this.#read(row)
    if ('kind' in read) {
      this.#isBroken = true
      this.#options.note(read.kind, expected, read.message)
      return false
    }
    const { record, bytes } = read
    const previous = this.#state
    const { state: next, sealed } = fold(previous, record.events, record)
    if (checkpointOf(record) !== null) this.#checkpoint = record.revision
    this.#state = next
    this.#lastHash = record.hash
    this.#records += 1
    this.#options.onStep?.({ record, bytes, previous, next, sealed })
    return true
  }

  #read({ revision, bytes }: StoredRecord): { record: LedgerRecord; bytes: Uint8Array } | BrokenLink {
    const expected = this.after + 1
    if (bytes === null) return { kind: 'ledger_gap', message: `record ${expected} is missing` }
    if (bytes instanceof Error) return { kind: 'record_unreadable', message: bytes.message }
    const record = readRecord(bytes)
    const isCheckpoint = record !== null && checkpointOf(record) !== null
    if (revision !== expected && !isCheckpoint) {
      return { kind: 'ledger_gap', message: `record ${expected} is missing` }
    }
    if (record === null) return { kind: 'record_unreadable', message: 'the record cannot be read' }
    if (record.revision !== revision) {
      return { kind: 'record_misplaced', message: `the record says that it is number ${record.revision}` }
    }
    if (revision === expected && record.prevHash !== this.#lastHash) {
      return { kind: 'chain_broken', message: 'the record does not follow on from the one before' }
    }
    return isGenuine(record, bytes)
      ? { record, bytes }
      : { kind: 'hash_mismatch', message: 'the record is not what its hash says' }
  }
}

/** Why a chain ends. */
interface BrokenLink {
  readonly kind: string
  readonly message: string
}

/** What comes next; where the page as a whole cannot be read, as far as it can, and then the record that cannot. */
async function readPage(store: StoreReader, sessionId: string, walk: Walk): Promise<readonly StoredRecord[]> {
  const { after } = walk
  const limit = Math.min(PAGE_RECORDS, walk.left)
  try {
    const page = await store.ledger(sessionId, after, limit)
    return page.length > 0 ? page : [{ revision: after + 1, bytes: null }]
  } catch {
    return await readSingly(store, sessionId, { after, limit })
  }
}

async function readSingly(
  store: StoreReader,
  sessionId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly StoredRecord[]> {
  const read: StoredRecord[] = []
  for (let at = after; at < after + limit; ) {
    try {
      const [row] = await store.ledger(sessionId, at, 1)
      if (row === undefined) return [...read, { revision: at + 1, bytes: null }]
      read.push(row)
      at = row.revision
    } catch (error) {
      read.push({ revision: at + 1, bytes: error instanceof Error ? error : new Error(String(error)) })
      return read
    }
  }
  return read
}

function readRecord(bytes: Uint8Array): LedgerRecord | null {
  try {
    const record = decodeRecord(bytes)
    return Array.isArray(record.events) && typeof record.revision === 'number' ? record : null
  } catch {
    return null
  }
}
