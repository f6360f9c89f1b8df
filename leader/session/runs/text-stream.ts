import { LIMITS } from '../../../schema/limits.ts'
import { truncateBytes, utf8Bytes } from '../../../schema/text.ts'
import type { OpenBlock } from '../../domain/state.ts'
import type { TextChange } from '../../projection/session-document.ts'

/** What a stream asks of its session. */
export interface TextSink {
  /** A fresh id for a block. */
  newId(): string
  now(): number
  /** Makes these changes one delta; `durable` is called when it is on disk, `lost` when it failed. */
  flush(changes: readonly TextChange[], durable: () => void, lost: () => void): void
  /** Seals the open block in a transition of its own. */
  seal(): void
  /** Resolves when everything decided so far is durable, or lost. */
  whenDurable(): Promise<void>
  /** Asks for a flush on the next tick. */
  requestTick(): void
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

interface Block {
  readonly meta: OpenBlock
  text: string
  bytes: number
  /** How much of `text` is in the document; -1 while the block is not there at all. Unit: UTF-16 units. */
  flushed: number
}

/** Who streams, what kind of text, into which message. */
export interface StreamTarget {
  readonly turnId: string
  readonly runId: string
  readonly kind: 'assistant' | 'thinking'
  readonly messageId: string
}

/** The error of a piece of text whose flush was lost with a failed batch. */
export class TextLost extends Error {
  constructor() {
    super('streamed text could not be stored')
    this.name = 'TextLost'
  }
}

/**
 * The open text block of a session's run. Text gathers here and reaches the document in flushes; a block is sealed at its end or at
 * 16 KiB. A trailing half of a surrogate pair waits for its other half. Source: L4, C3, H13.
 */
export class TextStream {
  readonly #sink: TextSink
  #block: Block | null = null
  #held = ''
  #offsets = new Map<string, number>()
  #waiters: Waiter[] = []

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  /** The open block with all its text, flushed or not. */
  get open(): readonly { readonly meta: OpenBlock; readonly text: string }[] {
    const block = this.#block
    return block === null ? [] : [{ meta: block.meta, text: block.text + this.#held.toWellFormed() }]
  }

  /** Takes the blocks that a loaded document holds open; there is at most one. */
  restore(blocks: readonly { readonly meta: OpenBlock; readonly text: string }[]): void {
    const last = blocks.at(-1)
    this.#held = ''
    this.#block =
      last === undefined
        ? null
        : { meta: last.meta, text: last.text, bytes: utf8Bytes(last.text), flushed: last.text.length }
    const lost = this.#waiters
    this.#waiters = []
    for (const waiter of lost) waiter.reject(new TextLost())
  }

  /** A new run begins: its messages start at offset 0. */
  reset(): void {
    this.#offsets.clear()
  }

  /** Adds text; resolves when it is durable. */
  append(target: StreamTarget, raw: string): Promise<void> {
    const open = this.#block?.meta
    if (open !== undefined && (open.kind !== target.kind || open.messageId !== target.messageId)) this.#sink.seal()
    const joined = this.#held + raw
    const isSplit = joined !== '' && (joined.charCodeAt(joined.length - 1) & 0xfc00) === 0xd800
    this.#held = isSplit ? joined.slice(-1) : ''
    this.#gather(target, (isSplit ? joined.slice(0, -1) : joined).toWellFormed())
    if (!this.#isDirty) return this.#sink.whenDurable()
    const done = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }))
    this.#sink.requestTick()
    return done
  }

  /** Writes what gathered since the last flush. */
  flush(): void {
    const block = this.#block
    if (block === null || !this.#isDirty) return
    const change: TextChange =
      block.flushed < 0
        ? { open: block.meta, text: block.text }
        : { blockId: block.meta.blockId, append: block.text.slice(block.flushed) }
    block.flushed = block.text.length
    const waiters = this.#waiters
    this.#waiters = []
    this.#sink.flush(
      [change],
      () => {
        for (const waiter of waiters) waiter.resolve()
      },
      () => {
        for (const waiter of waiters) waiter.reject(new TextLost())
      },
    )
  }

  /** Before a block is sealed: everything is in the document but a held half of a character, which becomes U+FFFD. */
  finish(): void {
    if (this.#held !== '' && this.#block !== null) {
      this.#block.text += this.#held.toWellFormed()
      this.#held = ''
    }
    this.flush()
  }

  /** The block was sealed; gives its id, or null if none was open. */
  close(): string | null {
    const block = this.#block
    if (block === null) return null
    const { messageId, offset, blockId } = block.meta
    if (this.#offsets.size >= LIMITS.streamedMessages) this.#offsets.clear()
    this.#offsets.set(messageId, offset + block.text.length)
    this.#block = null
    return blockId
  }

  get #isDirty(): boolean {
    return this.#block !== null && this.#block.flushed < this.#block.text.length
  }

  #gather(target: StreamTarget, text: string): void {
    let rest = text
    while (rest !== '') {
      const block = this.#block ?? this.#openBlock(target)
      const piece = truncateBytes(rest, LIMITS.textBlockBytes - block.bytes)
      block.text += piece
      block.bytes += utf8Bytes(piece)
      rest = rest.slice(piece.length)
      // The next character does not fit: the block is full.
      if (rest !== '' || block.bytes >= LIMITS.textBlockBytes) this.#sink.seal()
    }
  }

  #openBlock(target: StreamTarget): Block {
    const { turnId, runId, kind, messageId } = target
    const offset = this.#offsets.get(messageId) ?? 0
    const meta = { blockId: this.#sink.newId(), kind, messageId, offset, turnId, runId, startedAt: this.#sink.now() }
    this.#block = { meta, text: '', bytes: 0, flushed: -1 }
    return this.#block
  }
}
