import * as Y from 'yjs'
import type { BlockMeta, DocumentHead } from '../../schema/projection/layout.ts'
import { META_PREFIX, readHead, section } from '../../schema/projection/layout.ts'
import { DOCUMENT_SCHEMA } from '../../schema/version.ts'
import type { OpenBlock, SessionState } from '../domain/state.ts'
import type { StoredDocument } from '../log/store.ts'
import { emptyDocument, loadDocument } from './document/load.ts'
import { plainRecord } from './document/plain-record.ts'
import { type DocumentStats, GarbageGauge } from './document/size.ts'
import { isVectorAhead } from './document/state-vector.ts'
import { deleteRecord, setRecord, stateWrites } from './document/state-writes.ts'
import { type DocumentWrite, DocumentWriter } from './document/writer.ts'
import { type DocumentState, readDocumentState } from './document-state.ts'

/** A block that opens, with the text it starts with. */
export interface OpenedBlock {
  readonly open: OpenBlock
  readonly text: string
}

/** One step of streamed text: more of an open block, or a block that opens. */
export type TextChange = { readonly blockId: string; readonly append: string } | OpenedBlock

/** Blocks that open or are sealed by a transition. A sealed block's text is in the transition's own records. */
export interface BlockChanges {
  readonly open?: readonly OpenedBlock[]
  readonly close?: readonly string[]
}

/** One update with its number in the document log. */
export interface DocumentUpdate {
  readonly number: number
  readonly bytes: Uint8Array
}

interface Block {
  readonly meta: OpenBlock
  readonly text: Y.Text
}

/**
 * A session's live document and its only writer. It may run ahead of the disk: `number` is the newest update made, durable or not.
 * After a storage error it is dropped and loaded again, which gives it new writer ids (E7, H1).
 * Whatever can fail is computed before the one Yjs transaction of a change. Source: A3, A4, architecture 4.
 */
export class SessionDocument {
  readonly doc: Y.Doc
  readonly generation: string
  readonly #writer: DocumentWriter
  readonly #gauge: GarbageGauge
  readonly #blocks = new Map<string, Block>()
  #number: number

  private constructor(doc: Y.Doc, generation: string, number: number) {
    this.doc = doc
    this.generation = generation
    this.#number = number
    this.#writer = new DocumentWriter(doc)
    this.#gauge = new GarbageGauge(doc)
    for (const block of readBlocks(doc)) this.#blocks.set(block.meta.blockId, block)
  }

  /** A document without content; the first `apply` gives it its origin. */
  static create(generation: string): SessionDocument {
    return new SessionDocument(emptyDocument(), generation, 0)
  }

  /** The document as stored. Throws HeadwaterError `session_damaged` with `{kind, number}` when it is not whole. Source: D1. */
  static load(stored: StoredDocument): SessionDocument {
    const { doc, generation, number } = loadDocument(stored)
    return new SessionDocument(doc, generation, number)
  }

  /**
   * A document of a new generation with the content of `state`, without anything dead. `number` is the log number its content stands for;
   * the update that made it is not part of the log: store `encode()` as the snapshot through `number`. Source: V7, D2.
   */
  static build(generation: string, state: SessionState, content: RebuildContent): SessionDocument {
    const built = new SessionDocument(emptyDocument(), generation, content.number)
    const { revision, at } = state
    built.#commit([
      ...originWrites(built.doc, generation),
      ...stateWrites(built.doc, null, state),
      ...built.#openWrites(content.blocks),
      headWrite(built.doc, content.head ?? { revision, delta: 0, at }),
    ])
    return built
  }

  /** Log number of the newest update; contiguous; 0 while empty. */
  get number(): number {
    return this.#number
  }

  /**
   * Writes one transition: the difference between two states (by identity), blocks that open or close, and the head (next.revision, 0).
   * `previous` is the state the document shows, null for an empty document. Blocks that are not open are ignored when closed.
   * Throws before anything is written if the states do not follow on; the document then is as it was. Source: A3.
   */
  apply(previous: SessionState | null, next: SessionState, blocks: BlockChanges = {}): DocumentUpdate {
    const head = readHead(this.doc)
    if ((previous?.revision ?? 0) !== (head?.revision ?? 0) || (head !== null && next.revision !== head.revision + 1)) {
      throw new Error(`revision ${next.revision} does not follow on from the document's ${head?.revision ?? 0}`)
    }
    const writes = head === null ? originWrites(this.doc, this.generation) : []
    writes.push(...stateWrites(this.doc, head === null ? null : previous, next))
    const closed = (blocks.close ?? []).filter(blockId => this.#blocks.has(blockId))
    for (const blockId of closed) writes.push(...this.#closeWrites(blockId))
    writes.push(...this.#openWrites(blocks.open ?? []))
    const { revision, at } = next
    writes.push(headWrite(this.doc, { revision, delta: 0, at }))
    const bytes = this.#commit(writes)
    for (const blockId of closed) this.#blocks.delete(blockId)
    this.#number += 1
    return { number: this.#number, bytes }
  }

  /**
   * Writes one flush of streamed text: no transition, head (revision, delta + 1). Text must not end inside a character: a lone half is
   * stored as U+FFFD (C3, H13). Throws before anything is written if a block is unknown, or open already. Source: L4.
   */
  flush(changes: readonly TextChange[], at: number): DocumentUpdate {
    const head = readHead(this.doc)
    if (head === null) throw new Error('an empty document takes no text')
    const opened = changes.filter(change => 'open' in change)
    const writes = this.#openWrites(opened)
    for (const change of changes) {
      if ('open' in change) continue
      const text = this.#blocks.get(change.blockId)?.text ?? openedText(writes, change.blockId)
      if (text === undefined) throw new Error(`no open block ${change.blockId}`)
      const append = change.append.toWellFormed()
      if (append !== '') writes.push({ kind: 'append', writer: 'text', text, append })
    }
    writes.push(headWrite(this.doc, { revision: head.revision, delta: head.delta + 1, at }))
    const bytes = this.#commit(writes)
    this.#number += 1
    return { number: this.#number, bytes }
  }

  /** The document as plain data, or null while it is empty. */
  readState(): DocumentState | null {
    return readDocumentState(this.doc)
  }

  /** The blocks that are open, oldest first, with their whole text. */
  openBlocks(): { readonly meta: OpenBlock; readonly text: string }[] {
    return [...this.#blocks.values()].map(({ meta, text }) => ({ meta, text: text.toString() }))
  }

  /** What the holder of `stateVector` lacks, or the whole document. */
  encode(stateVector?: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.doc, stateVector)
  }

  /** True when a replica's state vector names what this document never held; never throws. Source: V6. */
  isAhead(stateVector: Uint8Array): boolean | 'malformed' {
    return isVectorAhead(this.doc, stateVector)
  }

  /** Sizes, measured at most once per update: costs milliseconds. */
  stats(): DocumentStats {
    return this.#gauge.stats(this.#number)
  }

  /** True when the document is due for `rebuild`. Cheap unless it may really be. Source: V7. */
  isRebuildDue(isAttached: boolean): boolean {
    return this.#gauge.isDue(this.#number, isAttached)
  }

  /** The same content under a new generation: position, number and open blocks are kept, dead records are not. Source: V7. */
  rebuild(state: SessionState, generation: string): SessionDocument {
    const blocks = this.openBlocks().map(({ meta, text }) => ({ open: meta, text }))
    return SessionDocument.build(generation, state, {
      number: this.#number,
      blocks,
      head: readHead(this.doc) ?? undefined,
    })
  }

  #openWrites(opened: readonly OpenedBlock[]): DocumentWrite[] {
    const writes: DocumentWrite[] = []
    const seen = new Set<string>()
    for (const { open, text } of opened) {
      if (this.#blocks.has(open.blockId) || seen.has(open.blockId)) throw new Error(`block ${open.blockId} is open`)
      seen.add(open.blockId)
      writes.push(setRecord(this.doc, 'text', META_PREFIX + open.blockId, metaOf(open)), {
        kind: 'set',
        writer: 'text',
        map: section(this.doc, 'text'),
        key: open.blockId,
        value: newText(text),
      })
    }
    return writes
  }

  #closeWrites(blockId: string): DocumentWrite[] {
    return [deleteRecord(this.doc, 'text', META_PREFIX + blockId), deleteRecord(this.doc, 'text', blockId)]
  }

  #commit(writes: readonly DocumentWrite[]): Uint8Array {
    const bytes = this.#writer.commit(writes)
    let records = 0
    for (const write of writes) {
      if (write.kind !== 'append' && write.writer !== 'head') records += 1
      if (write.kind !== 'set' || !(write.value instanceof Y.Text)) continue
      const meta = section(this.doc, 'text').get(META_PREFIX + write.key) as BlockMeta
      this.#blocks.set(write.key, { meta, text: write.value })
    }
    this.#gauge.note(records)
    return bytes
  }
}

/** What a document that is built anew takes over beside the state. `head` defaults to the state's own position. */
export interface RebuildContent {
  readonly number: number
  readonly blocks: readonly OpenedBlock[]
  readonly head?: DocumentHead | undefined
}

function headWrite(doc: Y.Doc, head: DocumentHead): DocumentWrite {
  return { kind: 'set', writer: 'head', map: section(doc, 'head'), key: 'head', value: head }
}

function originWrites(doc: Y.Doc, generation: string): DocumentWrite[] {
  return [setRecord(doc, 'origin', 'origin', { schema: DOCUMENT_SCHEMA, generation })]
}

/** The text of a block that opens with these very writes. */
function openedText(writes: readonly DocumentWrite[], blockId: string): Y.Text | undefined {
  for (const write of writes) {
    if (write.kind === 'set' && write.key === blockId && write.value instanceof Y.Text) return write.value
  }
  return undefined
}

function newText(text: string): Y.Text {
  return new Y.Text(text.toWellFormed())
}

function metaOf({ blockId, kind, messageId, offset, turnId, runId, startedAt }: OpenBlock): BlockMeta {
  return plainRecord({ blockId, kind, messageId, offset, turnId, runId, startedAt }) as BlockMeta
}

function readBlocks(doc: Y.Doc): Block[] {
  const map = section(doc, 'text')
  const blocks: Block[] = []
  for (const [key, meta] of map) {
    if (!key.startsWith(META_PREFIX)) continue
    const text = map.get(key.slice(META_PREFIX.length))
    if (text instanceof Y.Text) blocks.push({ meta: meta as BlockMeta, text })
  }
  return blocks.sort((a, b) => a.meta.startedAt - b.meta.startedAt || a.meta.offset - b.meta.offset)
}
