import type { ClientSocket, HttpAnswer, HttpRequest, SocketEvents } from '../../../replica/client/ports.ts'

/** The leader's end of a socket. */
export interface LeaderEnd {
  readonly path: string
  readonly protocols: readonly string[]
  send(message: string | Uint8Array): void
  close(code: number, reason: string): void
}

/** What the leader's side does with sockets and requests. */
export interface LeaderSide {
  open(end: LeaderEnd): { message(message: string | Uint8Array): void; close(): void }
  http(request: HttpRequest): HttpAnswer
}

const PACKETS_PER_FLUSH = 100_000

/**
 * A network in memory that moves only when the test flushes it: every opening, message and close waits in one queue. `isUp` false refuses
 * new sockets; a black hole swallows what is sent in both directions without closing anything.
 */
export class MemoryNetwork {
  leader: LeaderSide | undefined
  isBlackHole = false
  opened = 0
  readonly #queue: (() => void)[] = []
  readonly #live = new Set<() => void>()

  get waiting(): number {
    return this.#queue.length
  }

  open(path: string, protocols: readonly string[], events: SocketEvents): ClientSocket {
    this.opened += 1
    let isOpen = true
    let isClosed = false
    const report = (code: number, reason: string): void => {
      if (isClosed) return
      isClosed = true
      isOpen = false
      this.#live.delete(cut)
      events.close(code, reason)
    }
    let side: ReturnType<LeaderSide['open']> | undefined
    const cut = (): void => {
      side?.close()
      this.#queue.push(() => report(1006, 'cut'))
    }
    const end: LeaderEnd = {
      path,
      protocols,
      send: message => this.#carry(() => isOpen && events.message(message)),
      close: (code, reason) => {
        this.#carry(() => {
          report(code, reason)
          side?.close()
        })
      },
    }
    this.#queue.push(() => {
      if (isClosed) return
      if (this.leader === undefined) return report(1006, 'refused')
      this.#live.add(cut)
      side = this.leader.open(end)
      events.open()
    })
    return {
      send: message => {
        if (isOpen) this.#carry(() => isOpen && side?.message(message))
      },
      close: (code, reason) => {
        isOpen = false
        this.#carry(() => {
          side?.close()
          report(code, reason)
        })
      },
      abort: () => {
        side?.close()
        isOpen = false
        this.#queue.push(() => report(1006, ''))
      },
    }
  }

  /** Cuts every open socket, as a crash does. */
  cutAll(): void {
    for (const cut of [...this.#live]) cut()
  }

  /** Delivers the oldest packet. */
  step(): boolean {
    const packet = this.#queue.shift()
    packet?.()
    return packet !== undefined
  }

  /** Delivers everything, and what that causes, until nothing moves any more. */
  async flush(): Promise<void> {
    let quiet = 0
    for (let i = 0; i < PACKETS_PER_FLUSH && quiet < 3; i++) {
      if (this.step()) quiet = 0
      else {
        quiet += 1
        await new Promise(resolve => setImmediate(resolve))
      }
    }
  }

  #carry(deliver: () => void): void {
    if (!this.isBlackHole) this.#queue.push(deliver)
  }
}
