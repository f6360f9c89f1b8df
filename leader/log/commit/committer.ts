import { LIMITS } from '../../../schema/limits.ts'
import { BATCH_KEY, headKey, ringKey } from '../keys.ts'
import type { AppendOutcome, SessionHead } from '../store.ts'
import type { Op } from '../table.ts'
import { encodeHead, encodeNumber } from '../values.ts'
import type { Claim, Claims } from './claims.ts'
import { everyPart, type Fate, outcomesOf, ownershipLost, type Refusal, refusedOutcomes } from './outcomes.ts'
import type { Part, Write } from './stage.ts'

/** A batch whose write failed: its number, and where it would have taken each session it moved. */
export interface FailedBatch {
  readonly error: unknown
  readonly number: number
  readonly moves: readonly { readonly session: string; readonly before: SessionHead; readonly after: SessionHead }[]
}

/** What a committer stands on: the claims it checks, a way to write, and the search for the truth when a write failed. */
export interface CommitterPorts {
  readonly claims: Claims
  /** Number of the newest batch on disk. */
  readonly batchNumber: number
  /** Writes operations whole and synced; rejects if that is not certain. */
  write(ops: readonly Op[], bytes: number): Promise<void>
  /** Throws if this process may not write any more; called once before each batch. Source: R5. */
  prove?(): void | Promise<void>
  /** Finds out what became of a batch; never rejects. Nothing is written until it resolves. Source: E7. */
  settle(failed: FailedBatch): Promise<Fate>
  /** The batch of this number is on disk; called before anything is answered. Must not throw. Source: D4. */
  reached?(number: number): void
  /** Called when `prove` threw, before the batch is settled. */
  lost(error: unknown): void
}

interface Job {
  readonly write: Write
  readonly refusals: Refusal[] | null
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void
}

interface Batch {
  readonly jobs: readonly Checked[]
  readonly number: number
  readonly ops: Op[]
  readonly bytes: number
  readonly moved: ReadonlySet<Claim>
}

interface Checked {
  readonly job: Job
  readonly refusals: readonly Refusal[] | null
}

const COMMITTED: Fate = { kind: 'committed' }

/**
 * One batch in flight, the next one filling: what arrives while a batch is written goes into the next one together. Writes are
 * settled in the order in which they came. Fence and expected head are checked when a batch is built, when all before is settled.
 *
 *   idle ──submit──▶ scheduled ──next turn of the loop──▶ writing ──done──▶ settled ──more waits──▶ writing …
 *                                                            └──failed──▶ ports.settle ──fate──▶ settled
 */
export class Committer {
  readonly #ports: CommitterPorts
  #number: number
  #waiting: Job[] = []
  #waitingBytes = 0
  #isRunning = false
  #refusal: AppendOutcome | null = null
  #idle: (() => void)[] = []

  constructor(ports: CommitterPorts) {
    this.#ports = ports
    this.#number = ports.batchNumber
  }

  /** Number of the newest batch known to be on disk. */
  get batchNumber(): number {
    return this.#number
  }

  /** Stores a write with what else waits; one outcome for each of its parts, or one alone if it has none. Never rejects. */
  submit(write: Write): Promise<readonly AppendOutcome[]> {
    if (this.#refusal !== null && !this.#isRunning) return Promise.resolve(everyPart(write, this.#refusal))
    return new Promise(resolve => {
      const isOver =
        this.#waitingBytes + write.bytes > LIMITS.commitQueueBytes || this.#waiting.length >= LIMITS.commitQueueWrites
      const kept = isOver ? { ...write, ops: [], rows: [], bytes: 0 } : write
      this.#waiting.push({ write: kept, refusals: isOver ? ['overflow'] : null, resolve })
      this.#waitingBytes += kept.bytes
      if (this.#isRunning) return
      this.#isRunning = true
      setImmediate(() => void this.#run())
    })
  }

  /** From now on everything is answered with this; null ends that. What waits is answered too, after the batch in flight. */
  refuse(outcome: AppendOutcome | null): void {
    this.#refusal = outcome
  }

  /** A failed batch of unknown fate turned out to be on disk. */
  adopt(failed: FailedBatch): void {
    this.#number = failed.number
  }

  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void> {
    if (!this.#isRunning) return Promise.resolve()
    return new Promise(resolve => this.#idle.push(resolve))
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#refusal !== null) {
        this.#answerAll(this.#refusal)
        break
      }
      const batch = this.#fill()
      const fate = await this.#write(batch)
      this.#settle(batch, fate)
    }
    this.#isRunning = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #fill(): Batch {
    const jobs: Checked[] = []
    const ops: Op[] = []
    const rowAt = new Map<string, number>()
    const moved = new Set<Claim>()
    let bytes = 0
    let transitions = 0
    for (const job of this.#waiting) {
      const { write } = job
      const isOver =
        bytes + write.bytes > LIMITS.batchBytes || transitions + write.transitions > LIMITS.batchTransitions
      if (isOver && jobs.length > 0) break
      const refusals = job.refusals ?? this.#check(write.parts)
      jobs.push({ job, refusals })
      this.#waitingBytes -= write.bytes
      if (refusals !== null) continue
      bytes += write.bytes
      transitions += write.transitions
      for (const op of write.ops) ops.push(op)
      for (const row of write.rows) putLast(ops, rowAt, row)
      this.#stage(write.parts, moved)
    }
    this.#waiting.splice(0, jobs.length)
    for (const claim of moved) ops.push({ key: headKey(claim.session), value: encodeHead(claim.staged) })
    return { jobs, number: this.#number + 1, ops, bytes, moved }
  }

  #check(parts: readonly Part[]): readonly Refusal[] | null {
    let refusals: Refusal[] | null = null
    for (const [index, part] of parts.entries()) {
      const claim = this.#ports.claims.get(part.session)
      let refusal: Refusal = null
      if (claim === undefined || claim.fence !== part.fence) refusal = 'fenced'
      else if (part.expected !== null && !isSameHead(part.expected, claim.staged)) refusal = 'conflict'
      if (refusal === null) continue
      refusals ??= parts.map(() => null)
      refusals[index] = refusal
    }
    return refusals
  }

  #stage(parts: readonly Part[], moved: Set<Claim>): void {
    for (const part of parts) {
      const claim = this.#ports.claims.get(part.session)
      if (claim === undefined || part.next === null) continue
      claim.staged = part.next
      moved.add(claim)
    }
  }

  async #write(batch: Batch): Promise<Fate> {
    if (batch.ops.length === 0) return COMMITTED
    try {
      await this.#ports.prove?.()
    } catch (error) {
      this.#ports.lost(error)
      return { kind: 'absent', outcome: ownershipLost(error) }
    }
    const number = encodeNumber(batch.number)
    batch.ops.push({ key: BATCH_KEY, value: number }, { key: ringKey(batch.number), value: number })
    try {
      await this.#ports.write(batch.ops, batch.bytes)
    } catch (error) {
      const moves = [...batch.moved].map(claim => ({
        session: claim.session,
        before: claim.head,
        after: claim.staged,
      }))
      return await this.#findFate({ error, number: batch.number, moves })
    }
    return COMMITTED
  }

  /** A search that breaks must not leave its callers waiting for ever, and nothing may be written after it. */
  async #findFate(failed: FailedBatch): Promise<Fate> {
    try {
      return await this.#ports.settle(failed)
    } catch (error) {
      const message = error instanceof Error ? error.message : 'the outcome of a write could not be found'
      this.#refusal = { kind: 'failed', code: 'storage_fault', message }
      return { kind: 'unknown' }
    }
  }

  #settle(batch: Batch, fate: Fate): void {
    const { claims } = this.#ports
    if (fate.kind === 'committed') {
      if (batch.ops.length > 0) {
        this.#number = batch.number
        this.#ports.reached?.(batch.number)
      }
      for (const claim of batch.moved) claim.head = claim.staged
    } else {
      for (const claim of batch.moved) claim.staged = claim.head
    }
    for (const { job, refusals } of batch.jobs) {
      job.resolve(
        refusals === null ? outcomesOf(job.write, fate, claims) : refusedOutcomes(job.write, refusals, claims),
      )
    }
    if (fate.kind !== 'committed') this.#failDependents(batch, fate)
  }

  /**
   * What was decided on top of a lost batch falls with it, and is told why: not that its head is another one. Where the fate is
   * unknown, the claims end, and the store refuses what waits. Source: E7.
   */
  #failDependents(batch: Batch, fate: Exclude<Fate, { kind: 'committed' }>): void {
    const lost = new Set<string>()
    for (const { job, refusals } of batch.jobs) {
      if (refusals === null) for (const part of job.write.parts) lost.add(part.session)
    }
    if (fate.kind === 'unknown') {
      for (const session of lost) this.#ports.claims.drop(session)
      return
    }
    const isLost = (job: Job): boolean => job.write.parts.some(part => lost.has(part.session))
    const failed = this.#waiting.filter(isLost)
    this.#waiting = this.#waiting.filter(job => !isLost(job))
    for (const job of failed) {
      this.#waitingBytes -= job.write.bytes
      job.resolve(everyPart(job.write, fate.outcome))
    }
  }

  #answerAll(outcome: AppendOutcome): void {
    const jobs = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    for (const job of jobs) job.resolve(everyPart(job.write, outcome))
  }
}

function putLast(ops: Op[], rowAt: Map<string, number>, row: Op): void {
  const at = rowAt.get(row.key)
  if (at !== undefined) {
    ops[at] = row
    return
  }
  rowAt.set(row.key, ops.length)
  ops.push(row)
}

function isSameHead(a: SessionHead, b: SessionHead): boolean {
  return a.revision === b.revision && a.update === b.update
}
