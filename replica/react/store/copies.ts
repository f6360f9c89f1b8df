import type { OfflineReader } from '../../cache/offline-reader.ts'

/** What was last seen of a root, where it can be read. Nothing here fails. Source: O1–O3. */
export class StoredCopies {
  readonly #open: (() => Promise<OfflineReader | null>) | undefined
  #rootId: string | null = null
  #reader: Promise<OfflineReader | null> | null = null

  constructor(open: (() => Promise<OfflineReader | null>) | undefined) {
    this.#open = open
  }

  /** The leader's root: from now on copies of another one are not read. Source: O3. */
  belongTo(rootId: string): void {
    this.#rootId = rootId
  }

  /** Reads with the reader, or null where there is nothing to read from, or it cannot be read. */
  async read<T>(use: (reader: OfflineReader) => Promise<T | null>): Promise<T | null> {
    try {
      const reader = await this.#opened()
      const isOurs = reader !== null && (this.#rootId === null || reader.rootId === this.#rootId)
      return isOurs ? await use(reader) : null
    } catch {
      return null
    }
  }

  async close(): Promise<void> {
    const reader = await this.#reader?.catch(() => null)
    await reader?.close()
  }

  #opened(): Promise<OfflineReader | null> {
    if (this.#open === undefined) return Promise.resolve(null)
    this.#reader ??= this.#open().then(
      reader => {
        // There may be something later.
        if (reader === null) this.#reader = null
        return reader
      },
      error => {
        this.#reader = null
        throw error
      },
    )
    return this.#reader
  }
}
