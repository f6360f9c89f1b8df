import type { CatalogRow, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptPage } from '../../schema/entities/transcript.ts'
import type { DocumentEvent, ReplicatedDocument } from './document/document.ts'
import { CATALOG_PATH, sessionOfPath } from './document/shared-documents.ts'
import type { CacheSink } from './ports.ts'

/** Keeps copies of what a connection shows, where there is a place for them. Source: O1. */
export class Copies {
  readonly #sink: CacheSink | undefined
  readonly #address: string | undefined
  #rootId = ''
  #hostEpoch = ''
  #addressedRootId = ''

  /** `address` is what was asked to connect to. */
  constructor(sink: CacheSink | undefined, address: string | undefined) {
    this.#sink = sink
    this.#address = address
  }

  /** The leader is ready. */
  connected(rootId: string, hostEpoch: string): void {
    this.#rootId = rootId
    this.#hostEpoch = hostEpoch
  }

  /** Something happened to a document. What was only said of it, not shown, is no news. */
  take(path: string, document: ReplicatedDocument<unknown>, event: DocumentEvent<unknown>): void {
    const sink = this.#sink
    if (sink === undefined || event.kind === 'presence') return
    this.#noteAddress(sink)
    const { freshness } = document
    if (path === CATALOG_PATH) {
      const place = { hostEpoch: this.#hostEpoch, asOf: freshness.asOf }
      if (document.value !== undefined) sink.catalog(this.#rootId, place, document.value as readonly CatalogRow[])
      return
    }
    const projection = document.value as SessionProjection | undefined
    // Also one that was never shown by this connection: what an earlier one kept goes.
    if (event.kind === 'removed') sink.removed(this.#rootId, sessionOfPath(path))
    else if (projection !== undefined) sink.session(this.#rootId, projection, freshness)
  }

  /** A page of older history was read; `shown` is the session as it is shown here, if it is. */
  page(sessionId: string, shown: SessionProjection | undefined, page: TranscriptPage): void {
    if (page.entries.length === 0) return
    const place = { hostEpoch: this.#hostEpoch, revision: shown?.revision ?? 0, sessionId }
    this.#sink?.history(this.#rootId, place, page)
  }

  /** Once there is something to be found under it. */
  #noteAddress(sink: CacheSink): void {
    if (this.#addressedRootId === this.#rootId || this.#address === undefined) return
    this.#addressedRootId = this.#rootId
    sink.address(this.#address, this.#rootId)
  }

  async flush(): Promise<void> {
    await this.#sink?.flush()
  }
}
