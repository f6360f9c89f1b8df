import { hash } from 'node:crypto'
import { canonicalJson } from '../../schema/canonical.ts'
import type { DomainEvent } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import { initialState } from '../domain/state.ts'
import type { RowKind, RowWrite } from '../log/store.ts'
import type { LedgerStep } from '../session/ledger/ledger-walk.ts'
import { checkpointOf, decodeJson } from '../session/record.ts'
import { type ActiveRow, rowsOf } from '../session/rows.ts'

/** The rows that a ledger gives, one transition after the other. Source: D2. */
export class RowDerivation {
  #active: ActiveRow | null = null
  readonly #lateTurns = new Set<string>()

  /** Where recovery would start to read after the newest step. */
  get active(): ActiveRow | null {
    return this.#active
  }

  /** Turns that were settled when they were not the newest any more: their rows are recovery's. Source: X1, X2. */
  get lateTurns(): ReadonlySet<string> {
    return this.#lateTurns
  }

  /** The rows that this step writes. After a checkpoint: those that its state alone gives. */
  step({ record, previous, next, sealed }: LedgerStep): readonly RowWrite[] {
    const checkpoint = checkpointOf(record)
    if (checkpoint !== null) {
      this.#active = checkpoint.active as ActiveRow | null
      const before = initialState(next.sessionId)
      return rowsOf({ previous: before, next, events: [], sealed: [], active: this.#active }).rows
    }
    const events = record.events as unknown as readonly DomainEvent[]
    for (const event of events) {
      if (event.type !== 'turn_settled') continue
      const { turnId } = event.payload
      if (turnId !== next.root?.admission.turnId && turnId !== previous.root?.admission.turnId) {
        this.#lateTurns.add(turnId)
      }
    }
    const { rows, active } = rowsOf({ previous, next, events, sealed, active: this.#active })
    this.#active = active
    return rows
  }
}

/** Which of a session's rows are looked at: those whose key falls into part `index` of `count`. */
export interface Partition {
  readonly index: number
  readonly count: number
}

/** All of a session's rows. */
export const WHOLE: Partition = Object.freeze({ index: 0, count: 1 })

/** Memory of one entry beside key and value. Unit: bytes. */
const ENTRY_BYTES = 96

/** Rows of this kind are never written again, so that a digest is kept of them at once. */
const FINAL_KIND: RowKind = 'segment'

/** A row as it has to be. */
export interface ExpectedRow {
  readonly kind: RowKind
  readonly id: string
  /** Its value, or only a digest of it. */
  readonly value: Uint8Array | string
}

/** What is kept of rows, and how much of it. `isExact`: all values, for who is to write them. */
export interface RowMemory {
  readonly isExact?: boolean
  readonly rowBytes?: number
}

/**
 * The newest value of each row, of one part of a session's rows. Where they take more memory than they may it says so, and they have to be
 * looked at in more parts.
 */
export class ExpectedRows {
  readonly partition: Partition
  readonly #isExact: boolean
  readonly #limitBytes: number
  readonly #rows = new Map<string, ExpectedRow>()
  #bytes = 0
  #isOver = false

  constructor(partition: Partition, { isExact = false, rowBytes = LIMITS.verifyRowBytes }: RowMemory = {}) {
    this.partition = partition
    this.#isExact = isExact
    this.#limitBytes = rowBytes
  }

  /** True when the rows did not fit: what is kept is not all. */
  get isOver(): boolean {
    return this.#isOver
  }

  take(writes: readonly RowWrite[]): void {
    if (this.#isOver) return
    for (const { kind, id, value } of writes) {
      if (!this.covers(kind, id)) continue
      const key = keyOf(kind, id)
      this.#drop(key)
      if (value === null) continue
      const kept = kind === FINAL_KIND && !this.#isExact ? digestOfValue(value) : value
      this.#rows.set(key, { kind, id, value: kept })
      this.#bytes += key.length + kept.length + ENTRY_BYTES
    }
    if (this.#bytes > this.#limitBytes) this.#shrink()
  }

  /** Forgets what it was given. */
  clear(): void {
    this.#rows.clear()
    this.#bytes = 0
    this.#isOver = false
  }

  /** True for a row of this part. */
  covers(kind: RowKind, id: string): boolean {
    return this.partition.count === 1 || bucketOf(keyOf(kind, id)) % this.partition.count === this.partition.index
  }

  get(kind: RowKind, id: string): ExpectedRow | undefined {
    return this.#rows.get(keyOf(kind, id))
  }

  /** Takes a row out: it was looked at. */
  remove(kind: RowKind, id: string): void {
    this.#drop(keyOf(kind, id))
  }

  /** What is there, or is left. */
  rest(): IterableIterator<ExpectedRow> {
    return this.#rows.values()
  }

  #drop(key: string): void {
    const known = this.#rows.get(key)
    if (known === undefined) return
    this.#rows.delete(key)
    this.#bytes -= key.length + known.value.length + ENTRY_BYTES
  }

  /** Keeps digests in the place of values. Frees everything where that is not enough. */
  #shrink(): void {
    if (!this.#isExact) {
      for (const [key, row] of this.#rows) {
        if (typeof row.value === 'string') continue
        const value = digestOfValue(row.value)
        this.#rows.set(key, { ...row, value })
        this.#bytes += value.length - row.value.length
      }
    }
    // Half of it has to be free, or it would be shrunk again and again.
    if (this.#bytes <= this.#limitBytes / 2) return
    this.#isOver = true
    this.#rows.clear()
  }
}

/** True where a stored value says the same as the expected one, whatever the order of its members. Throws where it is no JSON. */
export function isSameValue(stored: Uint8Array, { value }: ExpectedRow): boolean {
  if (typeof value === 'string') return digestOfValue(stored) === value
  if (Buffer.compare(stored, value) === 0) return true
  return canonicalJson(decodeJson(stored)) === canonicalJson(decodeJson(value))
}

function digestOfValue(value: Uint8Array): string {
  return hash('sha256', canonicalJson(decodeJson(value)), 'base64url').slice(0, 22)
}

function keyOf(kind: RowKind, id: string): string {
  return `${kind} ${id}`
}

/** FNV-1a, 32 bits: spreads keys that differ in their last characters only. */
function bucketOf(key: string): number {
  let bucket = 0x811c9dc5
  for (let i = 0; i < key.length; i++) bucket = Math.imul(bucket ^ key.charCodeAt(i), 0x01000193) >>> 0
  return (bucket >>> 16) ^ (bucket & 0xffff)
}
