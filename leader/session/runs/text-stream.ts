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
  /** Calls back when everything decided so far is durable (true), or lost (false). */
  afterPending(call: (isDurable: boolean) => void): void
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

/** An open block with its text. */
export interface OpenText {
  readonly meta: OpenBlock
  readonly text: string
}

/** Who streams, what kind of text, into which message. */
export interface StreamTarget {
  readonly turnId: string
  readonly runId: string
  readonly kind: 'assistant' | 'thinking'
  readonly messageId: string
}

/** The most that half a character can become. */
const CHARACTER_BYTES = 4

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
  /** The first half of a character that goes on the end of the open block, or ''. There is a block whenever there is such a half. */
  #held = ''
  #offsets = new Map<string, number>()
  #waiters: Waiter[] = []

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  /** The open block with all its text, flushed or not. */
  get open(): readonly OpenText[] {
    const block = this.#block
    return block === null ? [] : [{ meta: block.meta, text: block.text + this.#held.toWellFormed() }]
  }

  /** True while there is text that is not in the document yet. */
  get isDirty(): boolean {
    return this.#block !== null && this.#block.flushed < this.#block.text.length && this.#block.text !== ''
  }

  /**
   * Takes the blocks that a loaded document holds open; there is at most one. Text that was not flushed yet stays where the document is
   * what this stream believed it to be; otherwise it is lost, and so are the pieces that wait for it. True when nothing was lost.
   */
  restore(blocks: readonly OpenText[]): boolean {
    const last = blocks.at(-1)
    const block = this.#block
    const shown = block === null || block.flushed < 0 ? undefined : block
    if (last?.meta.blockId === shown?.meta.blockId && (last?.text.length ?? 0) === (shown?.flushed ?? 0)) return true
    this.#block =
      last === undefined
        ? null
        : { meta: last.meta, text: last.text, bytes: utf8Bytes(last.text), flushed: last.text.length }
    this.#held = ''
    this.#rejectWaiters()
    return block === null
  }

  /** Nothing can be stored any more: what waits is lost. */
  abandon(): void {
    this.#block = null
    this.#held = ''
    this.#rejectWaiters()
  }

  /** A new run begins: its messages start at offset 0. */
  reset(): void {
    this.#offsets.clear()
  }

  /** Adds text; resolves when it is durable. */
  append(target: StreamTarget, raw: string): Promise<void> {
    const open = this.#block?.meta
    if (open !== undefined && !isSameMessage(open, target)) this.#sink.seal()
    const joined = this.#held + raw
    const isSplit = joined !== '' && (joined.charCodeAt(joined.length - 1) & 0xfc00) === 0xd800
    this.#held = ''
    this.#gather(target, (isSplit ? joined.slice(0, -1) : joined).toWellFormed())
    if (isSplit) {
      if (this.#block !== null && this.#block.bytes + CHARACTER_BYTES > LIMITS.textBlockBytes) this.#sink.seal()
      this.#block ??= this.#openBlock(target)
      this.#held = joined.slice(-1)
    }
    return new Promise((resolve, reject) => {
      if (this.isDirty) {
        this.#waiters.push({ resolve, reject })
        this.#sink.requestTick()
      } else this.#sink.afterPending(isDurable => (isDurable ? resolve() : reject(new TextLost())))
    })
  }

  /** Writes what gathered since the last flush. */
  flush(): void {
    const block = this.#block
    if (block === null || !this.isDirty) return
    const change: TextChange =
      block.flushed < 0
        ? { open: block.meta, text: block.text }
        : { blockId: block.meta.blockId, append: block.text.slice(block.flushed) }
    const waiters = this.#waiters
    this.#sink.flush(
      [change],
      () => {
        for (const waiter of waiters) waiter.resolve()
      },
      () => {
        for (const waiter of waiters) waiter.reject(new TextLost())
      },
    )
    this.#waiters = []
    block.flushed = block.text.length
  }

  /** Before a block is sealed: everything is in the document, with U+FFFD in the place of half a character. */
  finish(): void {
    if (this.#held !== '' && this.#block !== null) {
      this.#block.text += this.#held.toWellFormed()
      this.#held = ''
    }
    this.flush()
  }

  /** The block is sealed: whatever comes next opens another one. */
  close(): void {
    const block = this.#block
    if (block === null) return
    const { messageId, offset } = block.meta
    if (this.#offsets.size >= LIMITS.streamedMessages) this.#offsets.clear()
    this.#offsets.set(messageId, offset + block.text.length)
    this.#block = null
  }

  #rejectWaiters(): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new TextLost())
  }

  #gather(target: StreamTarget, text: string): void {
    let rest = text
    while (rest !== '') {
      this.#block ??= this.#openBlock(target)
      const block = this.#block
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
    return { meta, text: '', bytes: 0, flushed: -1 }
  }
}

function isSameMessage(open: OpenBlock, { kind, messageId, runId }: StreamTarget): boolean {
  return open.kind === kind && open.messageId === messageId && open.runId === runId
}
