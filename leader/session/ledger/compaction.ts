import type { WireErrorCode } from '../../../schema/errors.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import type { DomainEvent, LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { CompactedBytes } from '../../domain/decision.ts'
import type { SessionState } from '../../domain/state.ts'
import type { AppendOutcome, StoreReader } from '../../log/store.ts'
import type { SessionEnvironment } from '../environment.ts'
import { checkpointOf, decodeJson, encodeCheckpoint } from '../record.ts'
import { type ActiveRow, rowsOf, type TurnRow } from '../rows.ts'
import { type LedgerStep, walkLedger } from './ledger-walk.ts'

const PAGE_RECORDS = 256

/** The session whose ledger is made shorter, as it is at any moment. */
export interface CompactionTarget {
  readonly env: Pick<SessionEnvironment, 'store' | 'log' | 'crash'>
  readonly sessionId: string
  readonly fence: number
  readonly durable: SessionState
  /** Nobody knows whether a write of this session is stored, so its claim has ended. Source: E7. */
  claimLost(): void
}

/**
 * Puts one checkpoint in the place of a session's older ledger records, one compaction at a time. First the checkpoint, in one batch; then
 * the records before it go, the newest first, a few at a time; their space is given back afterwards. Wherever it is cut off, the ledger can
 * be read, and the next load goes on. Source: L6.
 */
export class Compaction {
  readonly #target: CompactionTarget
  #running: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(target: CompactionTarget) {
    this.#target = target
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /**
   * Compacts what is before `before`, or before the newest settled turn, but never what unfinished work needs. Gives the bytes of the ledger.
   * Rejects with the code of what went wrong; what was done stays done.
   */
  run(before: number | null): Promise<CompactedBytes> {
    return this.#enter(async () => {
      const { env, sessionId } = this.#target
      const bytesBefore = await ledgerBytes(env.store, sessionId)
      await this.#trim()
      await this.#putCheckpoint(before)
      await this.#trim()
      return { bytesBefore, bytesAfter: await ledgerBytes(env.store, sessionId) }
    })
  }

  /** Goes on with what a former leader, or a failed write, left undone. */
  resume(): void {
    this.#enter(() => this.#trim()).catch(error => this.#warn(error, 'a ledger could not be trimmed'))
  }

  #enter<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1
    const run = this.#running.then(work).finally(() => {
      this.#waiting -= 1
    })
    this.#running = run.catch(() => {})
    return run
  }

  async #putCheckpoint(before: number | null): Promise<void> {
    const { env, sessionId, fence } = this.#target
    const { store } = env
    const through = await lastCompactable(this.#target, before)
    if (through < 1) return
    const [first] = await store.ledger(sessionId, 0, 1)
    if (first === undefined || first.revision >= through) return
    const checkpoint = await foldThrough(store, sessionId, through).finally(() => this.#assertThere())
    if (checkpoint === null) return
    this.#assertCommitted(await store.putCheckpoint(sessionId, fence, checkpoint))
    env.crash('mid_compaction')
  }

  /** Throws where the session was deleted meanwhile: its purge may be over, and what is written now would stay. Source: S5. */
  #assertThere(): void {
    if (this.#target.durable.isDeleted === true) throw new HeadwaterError('not_found', 'there is no such session')
  }

  async #trim(): Promise<void> {
    const { env, sessionId } = this.#target
    if ((await env.store.untrimmed(sessionId)) === undefined) return
    for (let isOver = false; !isOver; ) {
      const { outcome, isDone } = await env.store.trimLedger(
        sessionId,
        this.#target.fence,
        LIMITS.compactionBatchRecords,
      )
      this.#assertCommitted(outcome)
      env.crash('mid_compaction')
      isOver = isDone
    }
    // Nobody waits for it: as long as somebody reads an older state the space is not free.
    env.store.squeeze(sessionId).catch(error => this.#warn(error, 'the space of a ledger could not be given back'))
  }

  #assertCommitted(outcome: AppendOutcome): void {
    if (outcome.kind === 'unknown') this.#target.claimLost()
    assertCommitted(outcome)
  }

  #warn(error: unknown, message: string): void {
    const { env, sessionId } = this.#target
    env.log.warn({ session_id: sessionId, err: error }, message)
  }
}

/** The newest revision whose record nothing needs any more. Source: L6, X. */
async function lastCompactable(target: CompactionTarget, before: number | null): Promise<number> {
  const { durable, env } = target
  // As it is on the disk: that is where recovery would read.
  const row = await env.store.row('active', '', durable.sessionId)
  const active = row === undefined ? null : decodeJson<ActiveRow>(row)
  const unfinished = active === null ? durable.revision : active.since
  const allowed = Math.min(durable.revision, unfinished) - 1
  if (before !== null) return Math.min(allowed, before - 1)
  const { root } = durable
  if (root === null) return allowed
  if (active === null || root.admittedRevision < active.since) return Math.min(allowed, root.admittedRevision - 1)
  const previous = await env.store.row('turn', durable.sessionId, active.previousRootTurnId ?? '-')
  const settled = previous === undefined ? null : decodeJson<TurnRow>(previous)
  return settled === null ? allowed : Math.min(allowed, settled.admittedRevision - 1)
}

/** The checkpoint of this revision; null where the record is one already. Throws `session_damaged` where the chain does not hold. */
async function foldThrough(
  store: StoreReader,
  sessionId: string,
  through: number,
): Promise<{ readonly revision: number; readonly bytes: Uint8Array } | null> {
  let active: ActiveRow | null = null
  let newest: LedgerRecord | null = null
  let damage: { readonly kind: string; readonly revision: number } | null = null
  const end = await walkLedger(store, sessionId, {
    through,
    note: (kind, revision) => {
      damage = { kind, revision }
    },
    onStep: step => {
      active = activeAfter(step, active)
      newest = step.record
    },
  })
  if (damage !== null) throw new HeadwaterError('session_damaged', undefined, damage)
  const record = newest as LedgerRecord | null
  if (record === null || record.revision !== through || checkpointOf(record) !== null) return null
  return { revision: through, bytes: encodeCheckpoint(record, { state: end.state, active }) }
}

function activeAfter({ record, previous, next, sealed }: LedgerStep, active: ActiveRow | null): ActiveRow | null {
  const checkpoint = checkpointOf(record)
  if (checkpoint !== null) return checkpoint.active as ActiveRow | null
  const events = record.events as unknown as readonly DomainEvent[]
  return rowsOf({ previous, next, events, sealed, active }).active
}

/** The bytes of all records of a ledger. */
async function ledgerBytes(store: StoreReader, sessionId: string): Promise<number> {
  let bytes = 0
  for (let after = 0; ; ) {
    const page = await store.ledger(sessionId, after, PAGE_RECORDS)
    for (const row of page) bytes += row.bytes.length
    const last = page.at(-1)
    if (last === undefined) return bytes
    after = last.revision
  }
}

const CODES: { readonly [K in Exclude<AppendOutcome['kind'], 'committed' | 'failed'>]: WireErrorCode } = {
  full: 'storage_full',
  fenced: 'persistence_failed',
  conflict: 'persistence_failed',
  unknown: 'outcome_unknown',
}

function assertCommitted(outcome: AppendOutcome): void {
  if (outcome.kind === 'committed') return
  if (outcome.kind === 'failed') throw new HeadwaterError(outcome.code, outcome.message)
  throw new HeadwaterError(CODES[outcome.kind])
}
