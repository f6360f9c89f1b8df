import { LIMITS } from '../../../schema/limits.ts'
import type { FailedBatch } from '../commit/committer.ts'
import type { Fate } from '../commit/outcomes.ts'
import type { AppendOutcome, StoreHealth } from '../store.ts'
import type { DiskRoom } from './disk-room.ts'
import { storageErrorKind } from './storage-error.ts'

/** What the disk shows of a failed batch; `neither`: what is there is neither the state before it nor the one after. */
export type DiskState = 'before' | 'after' | 'neither'

/** What the guard watches over, and whom it tells. */
export interface GuardPorts {
  readonly room: DiskRoom
  /** At most what a reopen writes. */
  reopenBytes(): number
  /** Closes the database and opens it again. */
  reopen(): Promise<void>
  /** False after a reopen that failed. */
  isOpen(): boolean
  /** Lets readers that wait for a reopen know that there will be none. */
  abandon(): void
  /** Looks at a newly opened database: null asks whether it stands at the last acknowledged batch. */
  compare(failed: FailedBatch | null): Promise<DiskState>
  /** `refusal` is what writes are answered with in this state; null where they are stored. */
  onHealth(health: StoreHealth, refusal: AppendOutcome | null): void
  /** The fate of a batch whose items were told `unknown` is known now. */
  onLateFate(failed: FailedBatch, fate: 'committed' | 'absent'): void
}

const FULL: AppendOutcome = { kind: 'full' }
const FAULT: AppendOutcome = { kind: 'failed', code: 'storage_fault', message: 'the storage failed' }

function failure(error: unknown): AppendOutcome {
  const message = error instanceof Error ? error.message : 'the batch was not stored'
  return { kind: 'failed', code: 'persistence_failed', message }
}

/**
 * Finds the truth after a failed write, and the way back. After a failed write LevelDB acknowledges later ones and loses them, so
 * the database is only read until it was closed and opened again.
 *
 *   ok ──write failed──▶ recovering ──reopened──▶ ok, or full where the disk was full
 *                            │ no I/O yet: items get `unknown`; again every storageProbeIntervalMs
 *   full ──room for ballast and reserve──▶ reopened ──▶ ok
 *   any ──disk shows neither state──▶ fault, for good
 *
 * Source: E7, E8.
 */
export class StorageGuard {
  readonly #ports: GuardPorts
  #pending: FailedBatch | null = null
  #isFull = false
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(ports: GuardPorts) {
    this.#ports = ports
  }

  /** The fate of a failed batch, as far as one try can tell. Never rejects. */
  async settle(failed: FailedBatch): Promise<Fate> {
    this.#ports.onHealth('recovering', null)
    this.#pending = failed
    if (storageErrorKind(failed.error) === 'full') await this.#becomeFull()
    const state = await this.#lookAgain()
    if (state === 'neither') return { kind: 'unknown' }
    this.#goOn(failure(failed.error))
    if (state === null) return { kind: 'unknown' }
    if (state === 'after') return { kind: 'committed' }
    return { kind: 'absent', outcome: this.#isFull ? FULL : failure(failed.error) }
  }

  /** Starts in the state `full`: the database could be opened only because the ballast was freed. */
  startFull(): void {
    this.#isFull = true
    this.#goOn(FULL)
  }

  /** Stops looking for room. Resolves when a look in progress is over. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#looking
  }

  async #becomeFull(): Promise<void> {
    this.#isFull = true
    await this.#ports.room.freeBallast()
  }

  /** Null: cannot be known yet. The database is closed only when a reopen has the room it needs, so that reading goes on. */
  async #lookAgain(): Promise<DiskState | null> {
    const { room } = this.#ports
    const probe = await room.probe(LIMITS.storageProbeBytes)
    if (probe === 'full' && !this.#isFull) await this.#becomeFull()
    if (probe !== 'ok' || !(await room.hasRoom(this.#ports.reopenBytes()))) return null
    const state = await this.#reopenAndCompare(this.#pending)
    if (state === 'neither') this.#fail()
    else if (state !== null) this.#pending = null
    return state
  }

  async #reopenAndCompare(failed: FailedBatch | null): Promise<DiskState | null> {
    try {
      await this.#ports.reopen()
      return await this.#ports.compare(failed)
    } catch (error) {
      const kind = storageErrorKind(error)
      if (kind === 'full') await this.#becomeFull()
      return kind === 'full' || kind === 'io' ? null : 'neither'
    }
  }

  #fail(): void {
    this.#isStopped = true
    this.#ports.abandon()
    this.#ports.onHealth('fault', FAULT)
  }

  /** `ok`, or a state that refuses everything and looks again soon. */
  #goOn(refusal: AppendOutcome): void {
    if (this.#isStopped) return
    if (this.#isFull) this.#ports.onHealth('full', FULL)
    else if (this.#pending !== null) this.#ports.onHealth('recovering', refusal)
    else this.#ports.onHealth('ok', null)
    if (!this.#isFull && this.#pending === null) return
    this.#timer = setTimeout(() => {
      this.#looking = this.#look(refusal)
    }, LIMITS.storageProbeIntervalMs)
    this.#timer.unref()
  }

  async #look(refusal: AppendOutcome): Promise<void> {
    const failed = this.#pending
    if (failed !== null || !this.#ports.isOpen()) {
      const state = await this.#lookAgain()
      if (failed !== null && (state === 'before' || state === 'after')) {
        this.#ports.onLateFate(failed, state === 'after' ? 'committed' : 'absent')
      }
    } else if (this.#isFull && (await this.#hasRecovered())) {
      this.#isFull = false
    }
    this.#goOn(refusal)
  }

  /**
   * Room for the ballast and a reserve, proved by writing them. The database is opened anew in between: a compaction of its own may
   * have failed meanwhile, and then it would refuse every write.
   */
  async #hasRecovered(): Promise<boolean> {
    const { room } = this.#ports
    const ballastBytes = await room.missingBallastBytes()
    const reserveBytes = LIMITS.storageReserveBytes
    if (!(await room.hasRoom(ballastBytes + reserveBytes + this.#ports.reopenBytes()))) return false
    const state = await this.#reopenAndCompare(null)
    if (state === 'neither') this.#fail()
    if (state !== 'before') return false
    if ((await room.restoreBallast()) && (await room.probe(reserveBytes)) === 'ok') return true
    await room.freeBallast()
    return false
  }
}
