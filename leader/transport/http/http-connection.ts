import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Stay } from '../door.ts'
import { RateBudget } from '../link/rate-budget.ts'
import type { TransportLimits } from '../parts.ts'

/** One connection to a listener before it becomes a WebSocket: its place in the door, and what runs on it. Source: Z5. */
export class HttpConnection {
  readonly id = randomUUID()
  readonly stay: Stay
  readonly socket: Duplex
  readonly #maxInFlight: number
  readonly #budget: RateBudget
  #inFlight = 0

  constructor(socket: Duplex, stay: Stay, limits: TransportLimits) {
    this.socket = socket
    this.stay = stay
    this.#maxInFlight = limits.commandsInFlight
    this.#budget = new RateBudget(limits.commandsPerSecond, performance.now())
  }

  get isIdle(): boolean {
    return this.#inFlight === 0
  }

  /** Counts a request in; false if the connection has too many or too many a second. */
  start(): boolean {
    if (this.#inFlight >= this.#maxInFlight || !this.#budget.take(performance.now())) return false
    this.#inFlight += 1
    return true
  }

  finish(): void {
    this.#inFlight -= 1
  }
}
