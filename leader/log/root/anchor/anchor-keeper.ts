import { LIMITS } from '../../../../schema/limits.ts'
import type { LevelStore } from '../../level-store.ts'
import type { RootOwner } from '../owner.ts'
import { databaseFiles, writeAnchor } from './anchor.ts'

/** What the keeper tells of what went wrong. */
export interface AnchorLog {
  warn(fields: object, message: string): void
}

/**
 * Keeps a root's anchor behind its database: written when the database is opened, while batches come every few seconds, and at the end. A
 * failed write of the anchor harms nothing: it is told and tried again. Source: D4.
 */
export class AnchorKeeper {
  readonly #owner: RootOwner
  readonly #store: LevelStore
  readonly #log: AnchorLog | undefined
  #timer: NodeJS.Timeout | null = null
  #written = -1
  /** One write after the other. */
  #writing: Promise<boolean> = Promise.resolve(true)

  constructor(owner: RootOwner, store: LevelStore, log?: AnchorLog) {
    this.#owner = owner
    this.#store = store
    this.#log = log
  }

  /** Writes the first anchor and goes on from then on. */
  async start(intervalMs: number = LIMITS.anchorIntervalMs): Promise<void> {
    await this.write()
    this.#timer = setInterval(() => {
      if (this.#store.batchNumber !== this.#written) void this.write()
    }, intervalMs)
    this.#timer.unref()
  }

  /** Writes where the database is now; false where that failed. */
  write(): Promise<boolean> {
    this.#writing = this.#writing.then(() => this.#write(false))
    return this.#writing
  }

  /** The last anchor, once the database is closed. */
  async finish(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    await this.#writing
    if (this.#store.health === 'ok' || this.#store.health === 'full') await this.#write(true)
  }

  async #write(isClean: boolean): Promise<boolean> {
    const { databaseId, batchNumber: batch } = this.#store
    const { path } = this.#owner.capability
    try {
      const files = isClean ? await databaseFiles(this.#owner.databasePath) : null
      this.#owner.prove()
      await writeAnchor(path, { databaseId, batch, isClean, files, writtenAt: Date.now() })
      await this.#owner.noteDatabase(databaseId)
      this.#written = batch
      return true
    } catch (error) {
      this.#log?.warn({ err: error }, 'the anchor of the data root could not be written')
      return false
    }
  }
}
