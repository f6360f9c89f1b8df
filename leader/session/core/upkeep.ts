import { LIMITS } from '../../../schema/limits.ts'
import type { AppendOutcome } from '../../log/store.ts'
import type { SessionDocument } from '../../projection/session-document.ts'
import type { SessionEnvironment } from '../environment.ts'
import type { LogSize } from '../load.ts'
import type { Standing } from './commit.ts'
import { newGeneration } from './generation.ts'

/** The session whose document is kept small. */
export interface UpkeepTarget {
  readonly env: SessionEnvironment
  readonly sessionId: string
  standing(): Pick<Standing, 'document' | 'fence' | 'state'>
  /** True when everything decided is durable. */
  isQuiet(): boolean
  /** False while steps fail, and for good when the session cannot be written any more. */
  isWell(): boolean
  /** True while a socket is in the session's room. */
  isAttached(): boolean
  /** Nothing decides and no text is flushed until `resume`. */
  pause(): void
  resume(): void
  /** True when everything decided so far is durable, false when it was lost. */
  whenDurable(): Promise<boolean>
  adopt(document: SessionDocument): void
  /** What the disk holds is not certain any more: the session is loaded again. */
  reload(): void
}

/** A busy session is looked at once in so many updates; one that came to rest, each time. */
const LOOK_EVERY_UPDATES = 64

/** A session that never comes to rest is held up for its upkeep when its log is so many times as long as it should get. */
const OVERDUE_FACTOR = 2

/** A snapshot is written when the updates after the last one take so many times its bytes: what it costs stays a fraction of the log. */
const SNAPSHOT_FACTOR = 2

/**
 * The chores of one session, one at a time: a long document log is replaced by a snapshot, a document with too much garbage is built anew.
 * Source: V7, A7.
 */
export class Upkeep {
  readonly #target: UpkeepTarget
  #log: LogSize
  #isBusy = false
  #isRebuildAsked = false

  constructor(target: UpkeepTarget, log: LogSize) {
    this.#target = target
    this.#log = log
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  /** The document was loaded again. */
  restart(log: LogSize): void {
    this.#log = log
  }

  /** One more update is in the log. */
  note(updateBytes: number): void {
    const { updates, bytes, snapshotBytes } = this.#log
    this.#log = { updates: updates + 1, bytes: bytes + updateBytes, snapshotBytes }
    if (this.#target.isQuiet() || updates % LOOK_EVERY_UPDATES === 0) this.look()
  }

  /** Builds the document anew as soon as nothing else is being done. Source: V6. */
  askRebuild(): void {
    this.#isRebuildAsked = true
    this.look()
  }

  /** Starts what is due. */
  look(): void {
    const target = this.#target
    if (this.#isBusy || !target.isWell()) return
    const isDue = this.#isRebuildAsked || target.standing().document.isRebuildDue(target.isAttached())
    if (isDue) void this.#work(() => this.#rebuild())
    else if (this.#isLong(target.isQuiet() ? 1 : OVERDUE_FACTOR)) void this.#work(() => this.#shorten())
  }

  #isLong(factor: number): boolean {
    const { updates, bytes, snapshotBytes } = this.#log
    if (updates < LIMITS.updatesPerSnapshot * factor) return false
    return bytes >= SNAPSHOT_FACTOR * snapshotBytes || updates >= LIMITS.updatesPerLog * factor
  }

  async #work(chore: () => Promise<AppendOutcome | null>): Promise<void> {
    const { env, sessionId } = this.#target
    let outcome: AppendOutcome | null = null
    this.#isBusy = true
    try {
      outcome = await chore()
      if (outcome !== null && outcome.kind !== 'committed') {
        env.log.warn({ session_id: sessionId, code: outcome.kind }, 'the upkeep of a document was not stored')
      }
    } catch (error) {
      env.log.error({ session_id: sessionId, err: error }, 'the upkeep of a document failed')
    }
    this.#isBusy = false
    // What came up meanwhile; after a failure the next update, or the end of the trouble, gives the next occasion.
    if (outcome?.kind === 'committed') this.look()
  }

  /** Replaces the log's updates by one snapshot of the same generation: loading stays short. */
  async #shorten(): Promise<AppendOutcome | null> {
    const { env, sessionId } = this.#target
    const snapshot = await this.#whilePaused(async () => {
      const { document } = this.#target.standing()
      return { through: document.number, generation: document.generation, bytes: document.encode() }
    })
    if (snapshot === null) return null
    this.#log = { updates: 0, bytes: 0, snapshotBytes: snapshot.bytes.length }
    const outcome = await env.store.compact(sessionId, this.#target.standing().fence, snapshot)
    this.#reloadUnlessKnown(outcome)
    return outcome
  }

  /**
   * Stores a fresh build of the document and takes it on. Nothing is decided and no text is flushed while it is being stored, so the
   * build stays whole; if it is not stored, the old one stays.
   */
  async #rebuild(): Promise<AppendOutcome | null> {
    const { env, sessionId } = this.#target
    const isAsked = this.#isRebuildAsked
    this.#isRebuildAsked = false
    const outcome = await this.#whilePaused(async () => {
      const standing = this.#target.standing()
      const document = standing.document.rebuild(standing.state, newGeneration(env))
      const { number, generation } = document
      env.crash('mid_compaction')
      const snapshot = { through: number, generation, bytes: document.encode() }
      const outcome = await env.store.compact(sessionId, this.#target.standing().fence, snapshot)
      env.crash('mid_compaction')
      this.#reloadUnlessKnown(outcome)
      if (outcome.kind === 'committed') {
        this.#log = { updates: 0, bytes: 0, snapshotBytes: snapshot.bytes.length }
        this.#target.adopt(document)
      }
      return outcome
    })
    // Asked for again when the session is well again.
    if (outcome?.kind !== 'committed') this.#isRebuildAsked ||= isAsked
    return outcome
  }

  /** Where it is not certain which build is on disk, nothing may be written on top of the one in memory. */
  #reloadUnlessKnown({ kind }: AppendOutcome): void {
    if (kind !== 'committed' && kind !== 'failed' && kind !== 'full') this.#target.reload()
  }

  /** Null when what was under way was lost, or the session cannot be written any more. */
  async #whilePaused<T>(work: () => Promise<T>): Promise<T | null> {
    const target = this.#target
    target.pause()
    try {
      const isDurable = await target.whenDurable()
      return isDurable && target.isWell() ? await work() : null
    } finally {
      target.resume()
    }
  }
}
