import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { FlushQueue } from './flush-queue.ts'

/** Kept per queued frame beside its bytes: many tiny frames cost memory too. */
const FRAME_OVERHEAD_BYTES = 64
const CLOSE_REASON_BYTES = 123

/** The bounds of a writer. */
export interface OutboundLimits {
  readonly socketBufferBytes: number
  readonly outboundDropBytes: number
  readonly outboundCloseBytes: number
  readonly outboundStallMs: number
  readonly heartbeatTickMs: number
}

/**
 * What a writer writes to, and what it does when the reader is slow. `isBinary` fixes the kind of all frames.
 * `resync` is there for documents only: their backlog may be dropped, and it asks for the newest state once the socket has drained;
 * without it nothing is dropped. `onSlow` is told of each drop and each give-up; after `giveUp` the owner leaves its room and closes.
 */
export interface OutboundTarget {
  readonly ws: WebSocket
  readonly socket: Duplex
  readonly isBinary: boolean
  readonly resync?: () => void
  readonly onSlow: () => void
  readonly giveUp: () => void
}

/**
 * The bounded writer of one socket. Source: V10.
 *
 *   flowing ── 64 KiB in the socket ──▶ blocked ── drained ──▶ flowing
 *                                         │ document backlog > 1 MiB: dropped ──▶ behind ── drained: resync ──▶ flowing
 *                                         │ blocked 30 s, or backlog > 8 MiB ──▶ given up: closed 4502
 *
 * Frames wait here; the socket gets them once per turn of the event loop, corked, so that everything of one commit is one write.
 */
export class Outbound {
  readonly #target: OutboundTarget
  readonly #limits: OutboundLimits
  readonly #flushes: FlushQueue
  readonly #sendOptions: { readonly binary: boolean; readonly compress: false }
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  #isScheduled = false
  #isBlocked = false
  #isBehind = false
  #isClosed = false
  #blockedTicks = 0

  constructor(target: OutboundTarget, flushes: FlushQueue, limits: OutboundLimits) {
    this.#target = target
    this.#limits = limits
    this.#flushes = flushes
    this.#sendOptions = { binary: target.isBinary, compress: false }
    target.socket.on('drain', () => this.#drained())
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Bytes that wait here and in the socket. */
  get pendingBytes(): number {
    return this.#queuedBytes + this.#target.ws.bufferedAmount
  }

  /** Queues one frame; never throws. Dropped after the close, and while a dropped backlog has not drained. */
  send(frame: Uint8Array): void {
    if (this.#isClosed || this.#isBehind) return
    this.#queue.push(frame)
    this.#queuedBytes += frame.length + FRAME_OVERHEAD_BYTES
    if (this.#isBlocked) this.#boundBacklog()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      this.#flushes.add(this)
    }
  }

  /** Gives the socket what it may have. Called by the flush queue. */
  flush(): void {
    this.#isScheduled = false
    if (this.#isClosed || this.#isBlocked) return
    const { ws, socket } = this.#target
    let taken = 0
    while (taken < this.#queue.length && ws.bufferedAmount < this.#limits.socketBufferBytes) {
      socket.cork()
      while (taken < this.#queue.length && ws.bufferedAmount < this.#limits.socketBufferBytes) {
        const frame = this.#queue[taken++]!
        this.#queuedBytes -= frame.length + FRAME_OVERHEAD_BYTES
        ws.send(frame, this.#sendOptions)
      }
      socket.uncork()
    }
    if (taken === this.#queue.length) this.#queue = []
    else this.#queue.splice(0, taken)
    this.#isBlocked = ws.bufferedAmount >= this.#limits.socketBufferBytes
    this.#blockedTicks = 0
    this.#boundBacklog()
  }

  /** Counts how long the socket has been blocked. */
  tick(): void {
    if (this.#isClosed || !this.#isBlocked) return
    this.#blockedTicks += 1
    if (this.#blockedTicks * this.#limits.heartbeatTickMs >= this.#limits.outboundStallMs) this.#giveUp()
  }

  /** Sends what still waits, unless the socket is blocked, and starts the close; then nothing more is sent. */
  close(code: number, reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { ws, socket } = this.#target
    if (!this.#isBlocked && ws.readyState === WebSocket.OPEN) {
      socket.cork()
      for (const frame of this.#queue) ws.send(frame, this.#sendOptions)
      socket.uncork()
    }
    this.#dropQueue()
    ws.close(code, Buffer.from(reason).subarray(0, CLOSE_REASON_BYTES))
  }

  /** The socket is gone: forgets everything. */
  abandon(): void {
    this.#isClosed = true
    this.#dropQueue()
  }

  #drained(): void {
    if (this.#isClosed) return
    this.#isBlocked = false
    this.#blockedTicks = 0
    if (this.#isBehind) {
      this.#isBehind = false
      this.#target.resync?.()
    }
    this.flush()
  }

  #boundBacklog(): void {
    if (this.#queuedBytes > this.#limits.outboundCloseBytes) this.#giveUp()
    else if (this.#isBlocked && this.#target.resync && this.#queuedBytes > this.#limits.outboundDropBytes) {
      this.#isBehind = true
      this.#dropQueue()
      this.#target.onSlow()
    }
  }

  #giveUp(): void {
    this.#isBlocked = true
    this.#dropQueue()
    this.#target.onSlow()
    this.#target.giveUp()
  }

  #dropQueue(): void {
    this.#queue = []
    this.#queuedBytes = 0
  }
}
