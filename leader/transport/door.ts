import type { Duplex } from 'node:stream'

/** What a connection may cost before it is authenticated. Source: Z5. */
export interface DoorLimits {
  readonly helloTimeoutMs: number
  readonly preAuthBytes: number
  readonly preAuthConnections: number
  readonly preAuthWaiting: number
}

/**
 * The door of one listener: how many connections may stand in it unauthenticated, for how long, and with how many bytes.
 *
 *   arrived ── room ──▶ standing ── admit() ──▶ inside
 *      │                   │ 5 s, or 16 KiB on a WebSocket: expire()
 *      └─ no room: waits unread, in order; with 1 024 waiting it is dropped
 */
export class Door<Socket extends Duplex> {
  readonly #limits: DoorLimits
  readonly #serve: (socket: Socket, stay: Stay) => void
  readonly #waiting: Socket[] = []
  #standing = 0
  #isClosed = false

  constructor(limits: DoorLimits, serve: (socket: Socket, stay: Stay) => void) {
    this.#limits = limits
    this.#serve = serve
  }

  /** Unauthenticated connections that are being served. */
  get standing(): number {
    return this.#standing
  }

  /** Connections that are not looked at yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  arrive(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    if (this.#isClosed) socket.destroy()
    else if (this.#standing < this.#limits.preAuthConnections) this.#letIn(socket)
    else if (this.#waiting.length < this.#limits.preAuthWaiting) this.#waiting.push(socket)
    else socket.destroy()
  }

  /** Drops those that wait and lets nobody in any more. */
  close(): void {
    this.#isClosed = true
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  #letIn(socket: Socket): void {
    this.#standing += 1
    const stay = new Stay(socket, this.#limits, () => this.#release())
    socket.once('close', () => stay.admit())
    this.#serve(socket, stay)
  }

  #release(): void {
    this.#standing -= 1
    while (this.#standing < this.#limits.preAuthConnections) {
      const next = this.#waiting.shift()
      if (!next) return
      if (!next.destroyed) this.#letIn(next)
    }
  }
}

/** One connection's time in the door. */
export class Stay {
  readonly #socket: Duplex
  readonly #limits: DoorLimits
  readonly #release: () => void
  readonly #timer: NodeJS.Timeout
  #isAdmitted = false
  #onExpire: (cause: 'time' | 'bytes') => void

  constructor(socket: Duplex, limits: DoorLimits, release: () => void) {
    this.#socket = socket
    this.#limits = limits
    this.#release = release
    this.#onExpire = () => socket.destroy()
    this.#timer = setTimeout(() => this.#expire('time'), limits.helloTimeoutMs)
    this.#timer.unref()
  }

  get isAdmitted(): boolean {
    return this.#isAdmitted
  }

  /** The connection is authenticated, or gone: its place is free. */
  admit(): void {
    if (this.#isAdmitted) return
    this.#isAdmitted = true
    clearTimeout(this.#timer)
    this.#release()
  }

  /** A WebSocket is closed with a code instead of being cut, and its bytes are counted from here on. */
  watchWebSocket(onExpire: (cause: 'time' | 'bytes') => void): void {
    this.#onExpire = onExpire
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += chunk.length
      if (this.#isAdmitted) this.#socket.off('data', count)
      else if (bytes > this.#limits.preAuthBytes) {
        this.#socket.off('data', count)
        this.#expire('bytes')
      }
    }
    this.#socket.on('data', count)
  }

  #expire(cause: 'time' | 'bytes'): void {
    if (!this.#isAdmitted) this.#onExpire(cause)
  }
}
