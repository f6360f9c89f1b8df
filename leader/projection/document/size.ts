import * as Y from 'yjs'
import { LIMITS } from '../../../schema/limits.ts'
import { type DocumentWrite, DocumentWriter } from './writer.ts'

/** Sizes of a document. `garbageBytes` = encoded − live; `liveBytes` is the size of a fresh document with the same content. Source: V7. */
export interface DocumentStats {
  readonly encodedBytes: number
  readonly liveBytes: number
  readonly garbageBytes: number
  readonly writerIds: number
}

/** Measures a document by building it anew: costs a few milliseconds for a full one. */
export function measureDocument(doc: Y.Doc): DocumentStats {
  const encodedBytes = Y.encodeStateAsUpdate(doc).length
  const liveBytes = freshBytes(doc)
  return { encodedBytes, liveBytes, garbageBytes: Math.max(0, encodedBytes - liveBytes), writerIds: writerIds(doc) }
}

function writerIds(doc: Y.Doc): number {
  return doc.store.clients.size
}

function freshBytes(doc: Y.Doc): number {
  const fresh = new Y.Doc()
  const writes: DocumentWrite[] = []
  for (const [name, type] of doc.share) {
    if (!(type instanceof Y.Map)) continue
    const map = fresh.getMap(name)
    for (const [key, value] of type) {
      const copy = value instanceof Y.Text ? new Y.Text(value.toString()) : value
      writes.push({ kind: 'set', writer: name, map, key, value: copy })
    }
  }
  const bytes = writes.length === 0 ? 0 : new DocumentWriter(fresh).commit(writes).length
  fresh.destroy()
  return bytes
}

/** No dead record of a document takes more: ids, section name, key of ≤ 133 bytes, and its place in the delete set. Unit: bytes. */
const DEAD_RECORD_BYTES = 192

/** Documents of fewer structs are left alone: they are a few kilobytes at most. */
const SMALL_STRUCTS = 64

/**
 * Says when a document is due for being built anew. Measuring is costly, so it is put off for as many record writes as it takes at least
 * to reach the threshold. Source: V7.
 */
export class GarbageGauge {
  readonly #doc: Y.Doc
  readonly #due: Record<'attached' | 'alone', number> = { attached: 0, alone: 0 }
  #recordWrites = 0
  #measured: { readonly at: number; readonly stats: DocumentStats } | null = null

  constructor(doc: Y.Doc) {
    this.#doc = doc
  }

  /** Notes that records were written or deleted; `count` of them may be dead now. */
  note(count: number): void {
    this.#recordWrites += count
  }

  /** The document's sizes at `number`, measured at most once per number. */
  stats(number: number): DocumentStats {
    if (this.#measured?.at !== number) this.#measured = { at: number, stats: measureDocument(this.#doc) }
    return this.#measured.stats
  }

  /** True at 256 writer ids, at 1 MiB of garbage, and while nobody is attached also when more than half of the document is garbage. */
  isDue(number: number, isAttached: boolean): boolean {
    if (writerIds(this.#doc) >= LIMITS.documentWriterIds) return true
    const situation = isAttached ? 'attached' : 'alone'
    if (this.#recordWrites < this.#due[situation] || this.#isSmall()) return false
    const { garbageBytes, liveBytes } = this.stats(number)
    const threshold = isAttached ? LIMITS.documentGarbageBytes : Math.min(liveBytes, LIMITS.documentGarbageBytes)
    if (garbageBytes > threshold) return true
    this.#due[situation] = this.#recordWrites + Math.ceil((threshold - garbageBytes) / DEAD_RECORD_BYTES) + 1
    return false
  }

  #isSmall(): boolean {
    let structs = 0
    for (const list of this.#doc.store.clients.values()) structs += list.length
    return structs <= SMALL_STRUCTS
  }
}
