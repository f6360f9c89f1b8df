import type { Freshness } from '../../../schema/entities/projection.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { backOffMs } from '../../client/link/back-off.ts'
import type { Surroundings } from '../../client/ports.ts'
import type { ConnectResult, LeaderConnection } from '../../client/types.ts'
import type { LinkState } from '../types.ts'
import { Cell, type Grouping } from './cell.ts'

/** What finds the leader. `wallNow` is the local clock, ms. */
export interface LineOptions {
  readonly connect: ((signal: AbortSignal) => Promise<ConnectResult>) | undefined
  readonly connection: LeaderConnection | undefined
  readonly surroundings: Pick<Surroundings, 'clock' | 'random'>
  readonly wallNow: () => number
  readonly grouping: Grouping
}

const NOTHING_YET: Freshness = Object.freeze({ state: 'offline', asOf: null })

/**
 * The way to the leader: looks for one until it is found or a person must do something, and looks again when a connection has ended for
 * good. A connection itself comes back from passing losses. Source: V9, experience 5.1.
 */
export class LeaderLine {
  readonly link: Cell<LinkState>
  readonly #options: LineOptions
  readonly #listeners = new Set<() => void>()
  #connection: LeaderConnection | null = null
  #isOpen = false
  #isClosed = false
  #attempt = 0
  #attempting: AbortController | null = null
  #cancelRetry: (() => void) | null = null
  #stopListening: () => void = () => {}
  #adoptedAtMs = 0

  constructor(options: LineOptions) {
    this.#options = options
    this.link = new Cell<LinkState>(Object.freeze({ kind: 'connecting', since: options.wallNow() }), options.grouping)
  }

  /** The newest connection there was; it may be over. */
  get connection(): LeaderConnection | null {
    return this.#connection
  }

  /** The connection, unless it has ended for good. */
  get open(): LeaderConnection | null {
    return this.#isOpen ? this.#connection : null
  }

  get freshness(): Freshness {
    return this.open?.freshness ?? NOTHING_YET
  }

  /** Tells when the connection is another one, has ended, or has another freshness or leader. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): void {
    const { connection } = this.#options
    if (connection === undefined) void this.#try()
    else this.#adopt(connection)
  }

  retryNow(): void {
    if (this.#isClosed) return
    if (this.#isOpen) this.#connection?.retryNow()
    else if (this.#attempting === null) {
      this.#attempt = 0
      void this.#try()
    }
  }

  /** Stops looking. A connection that was made here is closed; one that was given is not. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#attempting?.abort()
    this.#stopListening()
    const made = this.#options.connection === undefined ? this.open : null
    this.#isOpen = false
    this.link.set(Object.freeze({ kind: 'closed', reason: 'closed here' }))
    await made?.close()
  }

  async #try(): Promise<void> {
    const { connect } = this.#options
    if (connect === undefined || this.#isClosed) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    const attempting = new AbortController()
    this.#attempting = attempting
    const result = await connect(attempting.signal).catch(
      (error: unknown): ConnectResult => ({ kind: 'unavailable', reason: reasonOf(error) }),
    )
    this.#attempting = null
    if (this.#isClosed) {
      if (result.kind === 'connected') await result.connection.close()
      return
    }
    this.#take(result)
  }

  #take(result: ConnectResult): void {
    switch (result.kind) {
      case 'connected':
        this.#adopt(result.connection)
        return
      case 'unavailable':
        this.#tryLater(result.reason)
        return
      case 'draining':
        this.#tryLater('the leader is stopping')
        return
      case 'unauthorized':
        this.link.set(Object.freeze({ kind: 'unauthorized' }))
        break
      case 'incompatible':
        this.link.set(
          Object.freeze({ kind: 'incompatible', leader: result.leader.version, replica: result.replica.version }),
        )
        break
    }
    this.#tell()
  }

  #tryLater(reason: string): void {
    const { surroundings, wallNow } = this.#options
    const { clock, random } = surroundings
    const afterMs = backOffMs({ pace: 'reconnect', attempt: this.#attempt, random: random(), atLeastMs: 0 })
    this.#attempt += 1
    this.#lose(reason, wallNow() + afterMs)
    this.#cancelRetry = clock.after(afterMs, () => void this.#try())
    this.#tell()
  }

  #adopt(connection: LeaderConnection): void {
    this.#stopListening()
    this.#connection = connection
    this.#isOpen = true
    this.#adoptedAtMs = this.#options.surroundings.clock.now()
    const refresh = (): void => this.#refresh()
    const stops = [connection.on('freshness', refresh), connection.on('epoch', refresh)]
    this.#stopListening = () => {
      for (const stop of stops) stop()
    }
    void connection.closed.then(() => {
      if (this.#connection === connection) this.#onEnded()
    })
    this.#refresh()
  }

  #refresh(): void {
    const { freshness } = this
    if (freshness.state === 'offline') this.#lose('the connection to the leader is lost')
    else this.link.set(Object.freeze({ kind: 'connected', freshness }))
    this.#tell()
  }

  /** The connection has ended for good. Why is learned by asking for another one. */
  #onEnded(): void {
    if (this.#isClosed) return
    this.#stopListening()
    this.#isOpen = false
    if (this.#options.connect === undefined) {
      this.link.set(Object.freeze({ kind: 'closed', reason: 'the connection was closed' }))
      this.#tell()
      return
    }
    const { clock } = this.#options.surroundings
    if (clock.now() - this.#adoptedAtMs >= LIMITS.reconnectResetMs) this.#attempt = 0
    this.#tryLater('the connection to the leader ended')
  }

  #lose(reason: string, retryAt?: number): void {
    const known = this.link.getSnapshot()
    const since = known.kind === 'lost' || known.kind === 'connecting' ? known.since : this.#options.wallNow()
    const freshness: Freshness = Object.freeze({ state: 'offline', asOf: this.#connection?.freshness.asOf ?? null })
    this.link.set(
      Object.freeze({ kind: 'lost', freshness, since, reason, ...(retryAt === undefined ? {} : { retryAt }) }),
    )
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
