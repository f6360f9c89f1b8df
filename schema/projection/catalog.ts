import type * as Y from 'yjs'
import type { CatalogRow } from '../entities/projection.ts'
import { deepFreeze } from '../frozen.ts'
import { CATALOG_ROWS, readHead } from './layout.ts'

/**
 * Turns the catalog document into frozen rows, most recently active first. It reads again only the rows a transaction touched; rows that
 * did not change keep their identity. One reader a document. Source: S7.
 */
export class CatalogReader {
  readonly #doc: Y.Doc
  readonly #map: Y.Map<unknown>
  readonly #rows = new Map<string, CatalogRow>()
  #last: readonly CatalogRow[] | undefined
  readonly #onEvent = (event: Y.YMapEvent<unknown>): void => this.#read(event.keysChanged)

  constructor(doc: Y.Doc) {
    this.#doc = doc
    this.#map = doc.getMap(CATALOG_ROWS)
    this.#read(this.#map.keys())
    this.#map.observe(this.#onEvent)
  }

  /** Stops listening. */
  close(): void {
    this.#map.unobserve(this.#onEvent)
  }

  /** The rows of the document's present state, or null while the document is empty. Same value as before if nothing changed. */
  read(): readonly CatalogRow[] | null {
    if (readHead(this.#doc) === null) return null
    this.#last ??= Object.freeze([...this.#rows.values()].sort(byActivity))
    return this.#last
  }

  #read(keys: Iterable<string>): void {
    for (const key of keys) {
      const row = this.#map.get(key) as CatalogRow | undefined
      if (row === undefined) this.#rows.delete(key)
      else this.#rows.set(key, deepFreeze(row))
      this.#last = undefined
    }
  }
}

function byActivity(a: CatalogRow, b: CatalogRow): number {
  return b.lastActivityAt - a.lastActivityAt || (a.sessionId < b.sessionId ? -1 : 1)
}
