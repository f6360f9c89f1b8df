import { randomInt } from 'node:crypto'
import type * as Y from 'yjs'

/**
 * One change of a document. `writer` names the writer id it is made under: records that replace each other and nothing else share one,
 * so that their dead versions merge away.
 */
export type DocumentWrite =
  | {
      readonly kind: 'set'
      readonly writer: string
      readonly map: Y.Map<unknown>
      readonly key: string
      readonly value: unknown
    }
  | { readonly kind: 'delete'; readonly writer: string; readonly map: Y.Map<unknown>; readonly key: string }
  | { readonly kind: 'append'; readonly writer: string; readonly text: Y.Text; readonly append: string }

/** A random 32-bit Yjs client id. */
export function randomWriterId(): number {
  return randomInt(0, 2 ** 32)
}

const WRITER_ID_TRIES = 64

/**
 * The only way to write a document: one call, one Yjs transaction, one update. Every section goes under a writer id of its own that the
 * document has never seen (H1, H3). Values must be ready to be stored: nothing in the transaction can throw (H4). Source: A3, architecture 4.
 */
export class DocumentWriter {
  readonly #doc: Y.Doc
  readonly #nextId: () => number
  readonly #ids = new Map<string, number>()
  #update: Uint8Array | null = null
  #updateCount = 0

  constructor(doc: Y.Doc, nextId: () => number = randomWriterId) {
    this.#doc = doc
    this.#nextId = nextId
    doc.on('update', update => {
      this.#update = update
      this.#updateCount += 1
    })
  }

  /** Applies the writes in order and returns the one update they make. Throws if they make none or several: a broken invariant. */
  commit(writes: readonly DocumentWrite[]): Uint8Array {
    const doc = this.#doc
    for (const { writer } of writes) if (!this.#ids.has(writer)) this.#ids.set(writer, this.#freshId())
    this.#updateCount = 0
    doc.transact(() => {
      for (const write of writes) {
        doc.clientID = this.#ids.get(write.writer) as number
        if (write.kind === 'set') write.map.set(write.key, write.value)
        else if (write.kind === 'delete') write.map.delete(write.key)
        else write.text.insert(write.text.length, write.append)
      }
    })
    const update = this.#update
    this.#update = null
    if (this.#updateCount !== 1 || update === null) {
      throw new Error(`one transition must make exactly one update, not ${this.#updateCount}`)
    }
    return update
  }

  #freshId(): number {
    const used = new Set(this.#ids.values())
    for (let i = 0; i < WRITER_ID_TRIES; i++) {
      const id = this.#nextId()
      if (!used.has(id) && !this.#doc.store.clients.has(id)) return id
    }
    throw new Error(`no unused writer id in ${WRITER_ID_TRIES} tries`)
  }
}
