import { LIMITS } from '../../../schema/limits.ts'
import { CLOSE_CODES, readRetryAfterMs } from '../../../schema/wire/close-codes.ts'
import {
  BEARER_PREFIX,
  encodeSyncStep1,
  type LeaderSyncMessage,
  readLeaderSyncMessage,
  SUBPROTOCOL,
} from '../../../schema/wire/sync.ts'
import type { LinkedLeader } from '../link/link.ts'
import type { ClientSocket, Clock } from '../ports.ts'

/** What a line tells. `closed` comes once, and nothing after it. */
export interface LineListener {
  open(): void
  message(message: LeaderSyncMessage): void
  closed(code: number, retryAfterMs: number): void
}

/** Code of a socket that ended without one. */
const ABNORMAL = 1006

/**
 * One socket that follows one document, receive-only: all it ever sends is sync step 1. A leader that says nothing for 12 s is given up;
 * it sends at least an empty update after 5 s. Source: V1, V9.
 */
export class DocumentLine {
  readonly #listener: LineListener
  readonly #clock: Clock
  readonly #socket: ClientSocket
  #isEnded = false
  #heardAt: number
  #cancelSilence: () => void

  constructor(leader: LinkedLeader, path: string, clock: Clock, listener: LineListener) {
    this.#listener = listener
    this.#clock = clock
    this.#heardAt = clock.now()
    this.#cancelSilence = this.#watch(LIMITS.deadLinkMs)
    const protocols = [SUBPROTOCOL, `${BEARER_PREFIX}${leader.accepted.ticket}`]
    this.#socket = leader.endpoint.open(path, protocols, {
      open: () => {
        if (!this.#isEnded) listener.open()
      },
      message: message => this.#read(message),
      close: (code, reason) => this.#end(code, readRetryAfterMs(reason) ?? 0),
    })
  }

  /** Asks for what a document with this state vector lacks. */
  ask(stateVector: Uint8Array): void {
    if (!this.#isEnded) this.#socket.send(encodeSyncStep1(stateVector))
  }

  /** Ends the line; nothing is told any more. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#cancelSilence()
    this.#socket.close(CLOSE_CODES.normal, '')
  }

  #watch(afterMs: number): () => void {
    return this.#clock.after(afterMs, () => {
      const silentMs = this.#clock.now() - this.#heardAt
      if (silentMs < LIMITS.deadLinkMs) this.#cancelSilence = this.#watch(LIMITS.deadLinkMs - silentMs)
      else this.#giveUp(ABNORMAL)
    })
  }

  #read(message: string | Uint8Array): void {
    if (this.#isEnded) return
    this.#heardAt = this.#clock.now()
    const read = typeof message === 'string' ? ({ kind: 'malformed' } as const) : readLeaderSyncMessage(message)
    if (read.kind === 'malformed') this.#giveUp(CLOSE_CODES.malformed)
    else this.#listener.message(read)
  }

  #giveUp(code: number): void {
    this.#socket.abort()
    this.#end(code, 0)
  }

  #end(code: number, retryAfterMs: number): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#cancelSilence()
    this.#listener.closed(code, retryAfterMs)
  }
}
