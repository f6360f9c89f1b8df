import { randomUUID } from 'node:crypto'
import * as Y from 'yjs'
import { isCanonicallyEqual } from '../../schema/canonical.ts'
import type { CatalogRow } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import { CATALOG_ROWS, newDocument, section } from '../../schema/projection/layout.ts'
import { DOCUMENT_SCHEMA } from '../../schema/version.ts'
import type { ProjectionClock } from './clock.ts'
import { plainRecord } from './document/plain-record.ts'
import { type DocumentStats, GarbageGauge } from './document/size.ts'
import { isVectorAhead } from './document/state-vector.ts'
import { type DocumentWrite, DocumentWriter } from './document/writer.ts'
import type { RoomDocument } from './room-document.ts'

/** What a catalog tells its surroundings, and when. */
export interface CatalogOptions {
  readonly clock: ProjectionClock
  /** Sends an update to all that follow the catalog. */
  readonly publish: (number: number, update: Uint8Array) => void
  /** True while a socket is in the catalog's room. */
  readonly isAttached: () => boolean
  /** The catalog was built anew under a new `generation`: its room must close the sockets of the old one. */
  readonly onRebuilt: () => void
  /** Fewer rows than fit are left, and sessions beyond the bound were forgotten before: give the most recent ones again. */
  readonly onShort?: () => void
}

interface ShownRow {
  readonly row: CatalogRow
  readonly writtenAtMs: number
}

interface Build {
  readonly doc: Y.Doc
  readonly writer: DocumentWriter
  readonly gauge: GarbageGauge
  readonly generation: string
}

/**
 * The catalog: a document derived from the sessions' durable rows, in memory only, under a random generation. It shows the 500 most recently
 * active sessions that are not archived. Changes are gathered: one transaction a tick, a row at most four times a second.
 * `head.revision` counts its updates. Call `setRow` only with what is durable. Source: S7, A2.
 */
export class CatalogDocument implements RoomDocument {
  readonly #options: CatalogOptions
  /** The sessions that may be shown: those given, up to a bound beyond which the least active are forgotten. */
  readonly #candidates = new Map<string, CatalogRow>()
  readonly #shown = new Map<string, ShownRow>()
  #hasForgotten = false
  #build: Build
  #number = 0
  #flushedAtMs = Number.NEGATIVE_INFINITY
  #flush: { readonly atMs: number; readonly cancel: () => void } | null = null

  constructor(options: CatalogOptions) {
    this.#options = options
    this.#number = 1
    this.#build = this.#newBuild()
  }

  /** Number of the newest update; equal to its revision. */
  get number(): number {
    return this.#number
  }

  get generation(): string {
    return this.#build.generation
  }

  /** The document; for reading only. */
  get doc(): Y.Doc {
    return this.#build.doc
  }

  /** A session as it is now; an archived one goes. Shown with the next tick. */
  setRow(row: CatalogRow): void {
    if (row.isArchived) {
      this.removeRow(row.sessionId)
      return
    }
    const known = this.#candidates.get(row.sessionId)
    if (known !== undefined && isCanonicallyEqual(known, row)) return
    this.#candidates.set(row.sessionId, plainRecord(row) as CatalogRow)
    if (this.#candidates.size >= 2 * LIMITS.catalogCandidates) this.#forgetLeastActive()
    this.#schedule(0)
  }

  /** The session is no longer shown: archived or removed. */
  removeRow(sessionId: string): void {
    if (this.#candidates.delete(sessionId)) this.#schedule(0)
  }

  encode(stateVector?: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.#build.doc, stateVector)
  }

  isAhead(stateVector: Uint8Array): boolean | 'malformed' {
    return isVectorAhead(this.#build.doc, stateVector)
  }

  stats(): DocumentStats {
    return this.#build.gauge.stats(this.#number)
  }

  /** Nothing is written or scheduled any more. */
  close(): void {
    this.#flush?.cancel()
    this.#flush = null
    this.#candidates.clear()
  }

  /** Flushes are at least a tick apart; an earlier one that is due already serves this call too. */
  #schedule(delayMs: number): void {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    const atMs = Math.max(nowMs + delayMs, this.#flushedAtMs + LIMITS.catalogTickMs)
    if (this.#flush !== null) {
      if (this.#flush.atMs <= atMs) return
      this.#flush.cancel()
    }
    this.#flush = { atMs, cancel: clock.schedule(Math.max(0, atMs - nowMs), () => this.#flushNow()) }
  }

  #flushNow(): void {
    this.#flush = null
    const nowMs = this.#options.clock.monotonicMs()
    this.#flushedAtMs = nowMs
    const { writes, waitMs } = this.#changes(nowMs)
    if (writes.length > 0) {
      this.#number += 1
      const { writer, gauge } = this.#build
      const update = writer.commit([...writes, this.#headWrite(this.#build.doc)])
      gauge.note(writes.length)
      this.#options.publish(this.#number, update)
      this.#rebuildIfDue()
    }
    if (waitMs !== null) this.#schedule(waitMs)
    if (this.#hasForgotten && this.#candidates.size < LIMITS.catalogRows) {
      this.#hasForgotten = false
      this.#options.onShort?.()
    }
  }

  /** The writes that are due, noted as shown, and how long until the first of those that are not. */
  #changes(nowMs: number): { readonly writes: DocumentWrite[]; readonly waitMs: number | null } {
    const rows = mostActive(this.#candidates, LIMITS.catalogRows)
    const map = this.#build.doc.getMap(CATALOG_ROWS)
    const writes: DocumentWrite[] = []
    let waitMs: number | null = null
    const isDue = (shown: ShownRow | undefined): boolean => {
      const restMs = shown === undefined ? 0 : shown.writtenAtMs + LIMITS.catalogRowIntervalMs - nowMs
      if (restMs > 0) waitMs = Math.min(restMs, waitMs ?? restMs)
      return restMs <= 0
    }
    for (const [key, shown] of this.#shown) {
      if (rows.has(key) || !isDue(shown)) continue
      this.#shown.delete(key)
      writes.push({ kind: 'delete', writer: CATALOG_ROWS, map, key })
    }
    for (const [key, row] of rows) {
      const shown = this.#shown.get(key)
      if (shown?.row === row || !isDue(shown)) continue
      this.#shown.set(key, { row, writtenAtMs: nowMs })
      writes.push({ kind: 'set', writer: CATALOG_ROWS, map, key, value: row })
    }
    return { writes, waitMs }
  }

  #forgetLeastActive(): void {
    const kept = mostActive(this.#candidates, LIMITS.catalogCandidates)
    this.#candidates.clear()
    for (const [sessionId, row] of kept) this.#candidates.set(sessionId, row)
    this.#hasForgotten = true
  }

  #rebuildIfDue(): void {
    if (!this.#build.gauge.isDue(this.#number, this.#options.isAttached())) return
    this.#build.doc.destroy()
    this.#build = this.#newBuild()
    this.#options.onRebuilt()
  }

  /** A small document with the rows that are shown, at the number the catalog is at. */
  #newBuild(): Build {
    const doc = newDocument()
    const generation = randomUUID()
    const map = doc.getMap(CATALOG_ROWS)
    const writer = new DocumentWriter(doc)
    const origin = { schema: DOCUMENT_SCHEMA, generation }
    const writes: DocumentWrite[] = [
      { kind: 'set', writer: 'origin', map: section(doc, 'origin'), key: 'origin', value: origin },
      this.#headWrite(doc),
    ]
    for (const [key, { row }] of this.#shown) writes.push({ kind: 'set', writer: CATALOG_ROWS, map, key, value: row })
    writer.commit(writes)
    return { doc, writer, gauge: new GarbageGauge(doc), generation }
  }

  #headWrite(doc: Y.Doc): DocumentWrite {
    const value = { revision: this.#number, delta: 0, at: this.#options.clock.now() }
    return { kind: 'set', writer: 'head', map: section(doc, 'head'), key: 'head', value }
  }
}

/** The `count` most recently active sessions. */
function mostActive(rows: ReadonlyMap<string, CatalogRow>, count: number): ReadonlyMap<string, CatalogRow> {
  if (rows.size <= count) return rows
  const sorted = [...rows].sort(
    ([idA, a], [idB, b]) => b.lastActivityAt - a.lastActivityAt || (idA < idB ? 1 : idA > idB ? -1 : 0),
  )
  return new Map(sorted.slice(0, count))
}
