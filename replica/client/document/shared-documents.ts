import { LIMITS } from '../../../schema/limits.ts'
import type * as Replicated from '../../../schema/projection/replicated.ts'
import { operationError } from '../commands/errors.ts'
import type { LinkedLeader } from '../link/link.ts'
import type { FreshnessState, Surroundings } from '../ports.ts'
import { ReplicaSubscriptionError } from '../types.ts'
import { type DocumentEvent, ReplicatedDocument } from './document.ts'

/** Where the catalog is followed. Source: W1. */
export const CATALOG_PATH = '/v1/sync/catalog'

const SESSION_PATH = '/v1/sync/session/'

/** Where a session's document is followed. Source: W1. */
export function sessionPath(sessionId: string): string {
  return `${SESSION_PATH}${sessionId}`
}

/** The session that is followed at a path of `sessionPath`. */
export function sessionOfPath(path: string): string {
  return path.slice(SESSION_PATH.length)
}

/** A document somebody holds. `release` gives it back; the last one closes it. */
export interface Held<T> {
  readonly document: ReplicatedDocument<T>
  release(): void
}

interface Shared {
  readonly document: ReplicatedDocument<unknown>
  holders: number
}

/**
 * The documents of one connection: one for each path, shared by all who opened it and closed with the last of them. Yjs is loaded with the
 * first. Source: V2, V11.
 */
export class SharedDocuments {
  readonly #surroundings: Surroundings
  readonly #leaderTime: () => number | null
  readonly #observe: (path: string, document: ReplicatedDocument<unknown>, event: DocumentEvent<unknown>) => void
  readonly #shared = new Map<string, Shared>()
  readonly #opening = new Set<() => void>()
  #leader: LinkedLeader | undefined
  #connection: FreshnessState = 'offline'
  #isClosed = false

  /** `observe` is told every event of every document. */
  constructor(
    surroundings: Surroundings,
    leaderTime: () => number | null,
    observe: (path: string, document: ReplicatedDocument<unknown>, event: DocumentEvent<unknown>) => void = () => {},
  ) {
    this.#surroundings = surroundings
    this.#leaderTime = leaderTime
    this.#observe = observe
  }

  /** The document of this path, if somebody holds it. */
  get(path: string): ReplicatedDocument<unknown> | undefined {
    return this.#shared.get(path)?.document
  }

  connect(leader: LinkedLeader): void {
    this.#leader = leader
    for (const { document } of this.#shared.values()) document.connect(leader)
  }

  disconnect(): void {
    this.#leader = undefined
    for (const { document } of this.#shared.values()) document.disconnect()
  }

  setConnection(state: FreshnessState): void {
    this.#connection = state
    for (const { document } of this.#shared.values()) document.setConnection(state)
  }

  /** The connection is closed for good. */
  close(): void {
    this.#isClosed = true
    for (const stop of [...this.#opening]) stop()
    for (const { document } of this.#shared.values()) document.close()
    this.#shared.clear()
  }

  /**
   * Holds the document of this path; resolves when it has a whole value, waiting for the leader if need be. Rejects with `not_found`, or
   * with ReplicaSubscriptionError when the connection is closed meanwhile.
   */
  async open<T>(path: string, makeReader: (yjs: typeof Replicated) => MakeReader<T>): Promise<Held<T>> {
    if (this.#isClosed) throw new ReplicaSubscriptionError('connection_closed')
    const yjs = await import('../../../schema/projection/replicated.ts')
    if (this.#isClosed) throw new ReplicaSubscriptionError('connection_closed')
    const shared = this.#share(path, yjs, makeReader(yjs))
    const document = shared.document as ReplicatedDocument<T>
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      this.#release(path, shared)
    }
    try {
      await this.#whole(document)
    } catch (error) {
      release()
      throw error
    }
    return { document, release }
  }

  #share<T>(path: string, yjs: typeof Replicated, makeReader: MakeReader<T>): Shared {
    let shared = this.#shared.get(path)
    if (shared === undefined) {
      if (this.#shared.size >= LIMITS.openDocuments) throw operationError('rate_limited')
      const leaderTime = this.#leaderTime
      const document = new ReplicatedDocument<T>({
        path,
        yjs,
        surroundings: this.#surroundings,
        leaderTime,
        makeReader,
      })
      const followed = document as ReplicatedDocument<unknown>
      shared = { document: followed, holders: 0 }
      followed.listen(event => this.#observe(path, followed, event))
      this.#shared.set(path, shared)
      document.setConnection(this.#connection)
      if (this.#leader !== undefined) document.connect(this.#leader)
    }
    shared.holders += 1
    return shared
  }

  #release(path: string, shared: Shared): void {
    shared.holders -= 1
    if (shared.holders > 0 || this.#shared.get(path) !== shared) return
    this.#shared.delete(path)
    shared.document.close()
  }

  #whole<T>(document: ReplicatedDocument<T>): Promise<void> {
    if (document.isRemoved) return Promise.reject(operationError('not_found'))
    if (document.value !== undefined) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        stopListening()
        this.#opening.delete(onClosed)
        if (error === undefined) resolve()
        else reject(error)
      }
      const onClosed = (): void => settle(new ReplicaSubscriptionError('connection_closed'))
      const stopListening = document.listen((event: DocumentEvent<T>) => {
        if (event.kind === 'opened') settle()
        else if (event.kind === 'removed') settle(operationError('not_found'))
        else if (event.kind === 'damaged') settle(operationError('session_damaged'))
      })
      this.#opening.add(onClosed)
    })
  }
}

type MakeReader<T> = ConstructorParameters<typeof ReplicatedDocument<T>>[0]['makeReader']
