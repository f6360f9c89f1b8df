import type * as Y from 'yjs'
import type { CatalogRow, Freshness, SessionProjection } from '../../../schema/entities/projection.ts'
import type { CatalogSubscription, SessionSubscription, SubscriptionFrame } from '../types.ts'
import type { DocumentEvent } from './document.ts'
import { FrameQueue } from './frame-queue.ts'
import { closedFrame, framesOf, resyncedFrame } from './frames.ts'
import type { Held } from './shared-documents.ts'

/** What every view of a document offers: the newest value, how true it is, and a call when either changes. */
class View<T> {
  readonly #held: Held<T>
  readonly #changes = new Set<() => void>()
  readonly #stopListening: () => void
  #last: { readonly value: T; readonly freshness: Freshness } | undefined

  constructor(held: Held<T>, onEvent: (event: DocumentEvent<T>) => void) {
    this.#held = held
    this.#stopListening = held.document.listen(event => {
      onEvent(event)
      for (const change of [...this.#changes]) change()
    })
  }

  get document(): Held<T>['document'] {
    return this.#held.document
  }

  get value(): T {
    return this.#last?.value ?? (this.#held.document.value as T)
  }

  get freshness(): Freshness {
    return this.#last?.freshness ?? this.#held.document.freshness
  }

  onChange(listener: () => void): () => void {
    this.#changes.add(listener)
    return () => this.#changes.delete(listener)
  }

  /** Lets go of the document; value and time of the last proof stay, as offline. */
  end(): void {
    if (this.#last !== undefined) return
    this.#stopListening()
    const freshness: Freshness = Object.freeze({ state: 'offline', asOf: this.freshness.asOf })
    this.#last = { value: this.value, freshness }
    this.#held.release()
    for (const change of [...this.#changes]) change()
    this.#changes.clear()
  }
}

/** One subscription to a session's document. Source: V2, V3, V6, V11. */
export class FollowedSession implements SessionSubscription {
  readonly hostEpoch: string
  readonly snapshot: SessionProjection
  readonly #view: View<SessionProjection>
  readonly #queue: FrameQueue
  readonly #onEnd: (session: FollowedSession) => void
  #aside: SessionSubscription['aside'] = null

  constructor(held: Held<SessionProjection>, onEnd: (session: FollowedSession) => void) {
    this.#onEnd = onEnd
    this.#view = new View(held, event => this.#take(event))
    this.#queue = new FrameQueue(() => resyncedFrame(this.current))
    this.snapshot = this.current
    this.hostEpoch = this.snapshot.hostEpoch
  }

  get current(): SessionProjection {
    return this.#view.value
  }

  get freshness(): Freshness {
    return this.#view.freshness
  }

  get doc(): Y.Doc {
    return this.#view.document.doc
  }

  get aside(): SessionSubscription['aside'] {
    const aside = this.#view.document.aside
    if (aside === null) this.#aside = null
    else if (this.#aside?.projection !== aside.value) {
      this.#aside = Object.freeze({ projection: aside.value, since: aside.since })
    }
    return this.#aside
  }

  onChange(listener: () => void): () => void {
    return this.#view.onChange(listener)
  }

  [Symbol.asyncIterator](): AsyncIterator<SubscriptionFrame> {
    return this.#queue
  }

  close(): Promise<void> {
    this.#end('closed')
    return Promise.resolve()
  }

  /** The connection is closed for good. */
  fail(): void {
    this.#end('connection_closed')
  }

  #take(event: DocumentEvent<SessionProjection>): void {
    for (const sized of framesOf(event)) this.#queue.push(sized)
    if (event.kind !== 'removed') return
    this.#queue.push({ frame: closedFrame(this.current, 'session_removed'), bytes: 0 })
    this.#end('session_removed')
  }

  #end(end: 'closed' | 'connection_closed' | 'session_removed'): void {
    this.#queue.end(end)
    this.#view.end()
    this.#onEnd(this)
  }
}

/** A subscription to the catalog. Source: S7, V1. */
export class FollowedCatalog implements CatalogSubscription {
  readonly hostEpoch: string
  readonly #view: View<readonly CatalogRow[]>
  readonly #onEnd: (catalog: FollowedCatalog) => void

  constructor(held: Held<readonly CatalogRow[]>, hostEpoch: string, onEnd: (catalog: FollowedCatalog) => void) {
    this.hostEpoch = hostEpoch
    this.#onEnd = onEnd
    this.#view = new View(held, () => {})
  }

  get current(): readonly CatalogRow[] {
    return this.#view.value
  }

  get freshness(): Freshness {
    return this.#view.freshness
  }

  onChange(listener: () => void): () => void {
    return this.#view.onChange(listener)
  }

  close(): Promise<void> {
    this.fail()
    return Promise.resolve()
  }

  /** The connection is closed for good. */
  fail(): void {
    this.#view.end()
    this.#onEnd(this)
  }
}
