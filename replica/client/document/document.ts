import type * as Y from 'yjs'
import type { Freshness } from '../../../schema/entities/projection.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { ViewFacts } from '../../../schema/projection/read.ts'
import type * as Replicated from '../../../schema/projection/replicated.ts'
import { CLOSE_CODES, closeReaction } from '../../../schema/wire/close-codes.ts'
import type { LeaderAwareness, LeaderSyncMessage } from '../../../schema/wire/sync.ts'
import { asOfAfter, type DocumentPhase, documentFreshness, nextFreshness, type Proof } from '../freshness.ts'
import { backOffMs } from '../link/back-off.ts'
import type { LinkedLeader } from '../link/link.ts'
import { Timers } from '../link/timers.ts'
import type { FreshnessState, Surroundings } from '../ports.ts'
import { isAhead, isOfLostPast, stepBetween } from './acceptance.ts'
import { DocumentLine } from './line.ts'
import { nextView } from './view.ts'

/** Makes plain values of a document; the same value while nothing changed. */
export interface Reader<T> {
  read(view: ViewFacts): T | null
  close(): void
}

/** What happened to a document. `bytes` is how much came for it; `before` and `value` share what did not change. */
export type DocumentEvent<T> =
  | { readonly kind: 'transition' | 'delta'; readonly before: T; readonly value: T; readonly bytes: number }
  | { readonly kind: 'opened' | 'resynced' | 'presence'; readonly value: T }
  | { readonly kind: 'freshness' }
  | { readonly kind: 'removed' }
  /** The leader cannot read this document: nothing will come of it, unless another leader can. */
  | { readonly kind: 'damaged' }
/** Gets every event of a document, in order; must not throw. */
export type DocumentListener<T> = (event: DocumentEvent<T>) => void

/** What a replicated document needs. */
export interface DocumentOptions<T> {
  /** `/v1/sync/…`. */
  readonly path: string
  readonly yjs: typeof Replicated
  readonly surroundings: Surroundings
  /** The leader's clock as the connection knows it. */
  readonly leaderTime: () => number | null
  readonly makeReader: (doc: Y.Doc) => Reader<T>
}

/** The local document with its reader; thrown away as a whole, never emptied. */
interface Copy<T> {
  readonly doc: Y.Doc
  readonly reader: Reader<T>
}

/** A copy that is newer than what the leader has: its document went back. `since` is the leader's time when that was seen. Source: V6. */
export interface Aside<T> {
  readonly value: T
  readonly since: number | null
}

/** How often one line asks for the whole again before the copy is given up. */
const RESYNCS_PER_LINE = 3

/**
 * A replicated document: follows the leader's, and shows a value only when it is whole. It is `live` when sync step 2 and the leader's
 * awareness are both there; an update that is not the next one, or that waits for missing parts, is synced before anything is shown.
 * A copy of another build is set aside for an empty one: it must never be synced with the leader's. Source: V1, V4–V6, V8, A10, H1–H6.
 *
 *   offline ─connect─▶ joining ─step 2 + awareness─▶ live ─gap─▶ joining
 *      ▲                  │ 4410: empty copy, joining again        │
 *      └──── disconnect, or a close: back-off, joining again ──────┘
 */
export class ReplicatedDocument<T> {
  readonly #options: DocumentOptions<T>
  readonly #timers: Timers<'back_off' | 'stable' | 'behind'>
  readonly #listeners = new Set<DocumentListener<T>>()
  #copy: Copy<T>
  #leader: LinkedLeader | undefined
  #line: DocumentLine | undefined
  #hasStep2 = false
  #hasAwareness = false
  #resyncs = 0
  #attempt = 0
  /** The copy is empty and has not been live: another 4410 would be no news. */
  #isFreshCopy = true
  #phase: DocumentPhase = 'offline'
  #connection: FreshnessState = 'offline'
  #freshness: Freshness = Object.freeze({ state: 'offline', asOf: null })
  #asOf: number | null = null
  #view: ViewFacts | undefined
  #generation: string | undefined
  #position: Replicated.Position | undefined
  #value: T | undefined
  /** What was shown when the copy was replaced, until it is known whether the leader's document went back. */
  #candidate: { readonly value: T; readonly position: Replicated.Position } | undefined
  #saidAt: number | null = null
  #wentBack = false
  #aside: Aside<T> | null = null
  #isRemoved = false
  #waiters: { readonly revision: number; readonly resolve: () => void }[] = []

  constructor(options: DocumentOptions<T>) {
    this.#options = options
    this.#timers = new Timers(options.surroundings.clock)
    this.#copy = this.#newCopy()
  }

  get doc(): Y.Doc {
    return this.#copy.doc
  }

  /** The newest whole value; undefined before the first one. */
  get value(): T | undefined {
    return this.#value
  }

  get freshness(): Freshness {
    return this.#freshness
  }

  get isRemoved(): boolean {
    return this.#isRemoved
  }

  /** The newer copy that was here when the leader's document went back, and since when. Source: V6. */
  get aside(): Aside<T> | null {
    return this.#aside
  }

  /** Tells what happens from now on; gives back how to stop. */
  listen(listener: DocumentListener<T>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The leader is ready. */
  connect(leader: LinkedLeader): void {
    this.#leader = leader
    this.#attempt = 0
    this.#join()
  }

  /** The leader is gone. */
  disconnect(): void {
    this.#leader = undefined
    this.#leave()
    this.#enter('offline')
  }

  /** What the connection itself is at. */
  setConnection(state: FreshnessState): void {
    this.#connection = state
    this.#refresh()
  }

  /** Stops following for good. */
  close(): void {
    this.#connection = 'offline'
    this.disconnect()
    this.#listeners.clear()
    this.#copy.reader.close()
    this.#copy.doc.destroy()
  }

  /** A promise for the revision being shown; undefined where it is, or where the document is not live. Source: V8. */
  included(revision: number): Promise<void> | undefined {
    if (this.#freshness.state !== 'live' || (this.#position?.revision ?? 0) >= revision) return undefined
    if (this.#waiters.length === 0) {
      this.#timers.arm('behind', LIMITS.deadLinkMs, () => {
        if (this.#phase === 'live') this.#resync()
      })
    }
    return new Promise(resolve => this.#waiters.push({ revision, resolve }))
  }

  #newCopy(): Copy<T> {
    const doc = this.#options.yjs.newDocument()
    return { doc, reader: this.#options.makeReader(doc) }
  }

  #join(): void {
    this.#leave()
    if (this.#leader === undefined || this.#isRemoved) return
    const held = this.#generation === undefined ? '' : `?generation=${encodeURIComponent(this.#generation)}`
    this.#line = new DocumentLine(this.#leader, `${this.#options.path}${held}`, this.#options.surroundings.clock, {
      open: () => this.#ask(),
      message: message => this.#take(message),
      closed: (code, retryAfterMs) => this.#onClosed(code, retryAfterMs),
    })
    this.#enter('joining')
  }

  #leave(): void {
    this.#line?.end()
    this.#line = undefined
    this.#hasStep2 = false
    this.#hasAwareness = false
    this.#resyncs = 0
    this.#timers.disarm('back_off')
    this.#timers.disarm('stable')
  }

  #ask(): void {
    this.#line?.ask(this.#options.yjs.stateVector(this.#copy.doc))
  }

  #onClosed(code: number, retryAfterMs: number): void {
    this.#leave()
    if (code === CLOSE_CODES.not_found) {
      this.#remove()
      return
    }
    if (code === CLOSE_CODES.damaged) {
      this.#showDamaged()
      return
    }
    if (closeReaction(code) === 'rejoin') {
      this.#startOver()
      return
    }
    this.#enter('joining')
    this.#joinLater(retryAfterMs)
  }

  #joinLater(atLeastMs: number): void {
    const random = this.#options.surroundings.random()
    const afterMs = backOffMs({ pace: 'reconnect', attempt: this.#attempt, random, atLeastMs })
    this.#attempt += 1
    this.#timers.arm('back_off', afterMs, () => this.#join())
  }

  #remove(): void {
    this.#isRemoved = true
    this.#enter('offline')
    this.#tell({ kind: 'removed' })
  }

  /** What was shown last is shown on, as damaged and not as live; the next leader is asked again. Source: A9, A10, D1. */
  #showDamaged(): void {
    this.#enter('offline')
    if (this.#view !== undefined && this.#value !== undefined) {
      this.#view = Object.freeze({ ...this.#view, isDamaged: true })
      this.#value = this.#copy.reader.read(this.#view) ?? this.#value
    }
    this.#tell({ kind: 'damaged' })
  }

  /** The copy cannot become the leader's document: an empty one takes its place, and what was shown stays until it is whole. */
  #startOver(): void {
    const isFirst = this.#attempt === 0 && !this.#isFreshCopy
    this.#leave()
    this.#replaceCopy()
    this.#enter('joining')
    if (isFirst) {
      this.#attempt = 1
      this.#join()
    } else this.#joinLater(0)
  }

  #replaceCopy(): void {
    if (this.#value !== undefined && this.#position !== undefined) {
      this.#candidate = { value: this.#value, position: this.#position }
    }
    this.#copy.reader.close()
    this.#copy = this.#newCopy()
    this.#generation = undefined
    this.#position = undefined
    this.#isFreshCopy = true
  }

  #resync(): void {
    this.#hasStep2 = false
    this.#resyncs += 1
    this.#enter('joining')
    if (this.#resyncs > RESYNCS_PER_LINE) this.#startOver()
    else this.#ask()
  }

  #take(message: LeaderSyncMessage): void {
    if (message.kind === 'awareness') {
      if (message.state !== null) this.#takeAwareness(message.state)
    } else if (message.kind === 'sync_step_2') this.#takeStep2(message.update)
    else if (message.kind === 'update') this.#takeUpdate(message.update)
  }

  #takeStep2(update: Uint8Array): void {
    const outcome = this.#options.yjs.applyUpdate(this.#copy.doc, update)
    // The whole state with parts missing: this copy will not become whole.
    if (outcome === 'torn') {
      this.#abandon()
      return
    }
    this.#hasStep2 = true
    this.#becomeLive()
  }

  #abandon(): void {
    this.#leave()
    this.#enter('joining')
    this.#replaceCopy()
    this.#joinLater(0)
  }

  #takeUpdate(update: Uint8Array): void {
    const outcome = this.#options.yjs.applyUpdate(this.#copy.doc, update)
    if (this.#phase !== 'live' || this.#position === undefined || this.#view === undefined) return
    if (outcome === 'unchanged') {
      this.#prove({ kind: 'quiet', leaderTime: this.#options.leaderTime() })
      return
    }
    const position = outcome === 'torn' ? null : this.#options.yjs.readPosition(this.#copy.doc)
    const step = stepBetween(this.#position, position)
    const before = this.#value as T
    const value = step === 'gap' ? null : this.#copy.reader.read(this.#view)
    if (position === null || step === 'gap' || value === null) {
      this.#resync()
      return
    }
    this.#position = position
    this.#value = value
    this.#prove({ kind: 'published', at: position.at })
    this.#tell({ kind: step, before, value, bytes: update.byteLength })
    this.#settle(position.revision)
  }

  #takeAwareness(state: LeaderAwareness): void {
    const before = this.#view
    this.#view = nextView(before, state)
    this.#hasAwareness = true
    if (state.generation !== this.#position?.generation && this.#phase === 'live') {
      this.#startOver()
      return
    }
    this.#saidAt = state.at
    this.#wentBack = state.wentBack === true
    if (this.#phase !== 'live') {
      this.#becomeLive(state.generation)
      return
    }
    this.#prove({ kind: 'said', at: state.at })
    if (this.#view === before) return
    const value = this.#copy.reader.read(this.#view)
    if (value === null || value === this.#value) return
    this.#value = value
    this.#tell({ kind: this.#view.isDamaged === before?.isDamaged ? 'presence' : 'resynced', value })
  }

  #becomeLive(generation?: string): void {
    if (!this.#hasStep2 || !this.#hasAwareness || this.#view === undefined) return
    const position = this.#options.yjs.readPosition(this.#copy.doc)
    const isOther = generation !== undefined && position?.generation !== generation
    const value = position === null || isOther ? null : this.#copy.reader.read(this.#view)
    if (position === null || value === null) {
      this.#abandon()
      return
    }
    const kind = this.#value === undefined ? 'opened' : 'resynced'
    this.#keepAside(position, this.#view)
    this.#position = position
    this.#generation = position.generation
    this.#value = value
    this.#candidate = undefined
    this.#isFreshCopy = false
    this.#timers.arm('stable', LIMITS.reconnectResetMs, () => {
      this.#attempt = 0
    })
    if (this.#saidAt !== null) this.#asOf = asOfAfter(this.#asOf, { kind: 'said', at: this.#saidAt })
    // One event tells both: the value, and that it is live.
    this.#phase = 'live'
    this.#refresh(false)
    this.#tell({ kind, value })
  }

  /** What was shown here and is not in the leader's document any more is kept, once it is known that this is so. Source: V6. */
  #keepAside(position: Replicated.Position, { baseRevision }: ViewFacts): void {
    if (this.#candidate === undefined) return
    const { value, position: shown } = this.#candidate
    const isLost = this.#wentBack ? isAhead(shown, position) : isOfLostPast(shown, position, baseRevision)
    if (isLost) this.#aside = Object.freeze({ value, since: this.#saidAt })
  }

  #enter(phase: DocumentPhase): void {
    this.#phase = phase
    this.#refresh()
  }

  #prove(proof: Proof): void {
    this.#asOf = asOfAfter(this.#asOf, proof)
    this.#refresh()
  }

  #refresh(isTold = true): void {
    const known = this.#freshness
    const state = documentFreshness(this.#connection, this.#phase)
    this.#freshness = nextFreshness(known, state, this.#asOf)
    if (state !== 'live') this.#settle(Number.POSITIVE_INFINITY)
    if (isTold && known.state !== state) this.#tell({ kind: 'freshness' })
  }

  /** Lets those go on who waited for this revision or an older one. */
  #settle(revision: number): void {
    const settled = this.#waiters.filter(waiter => waiter.revision <= revision)
    if (settled.length === 0) return
    this.#waiters = this.#waiters.filter(waiter => waiter.revision > revision)
    if (this.#waiters.length === 0) this.#timers.disarm('behind')
    for (const { resolve } of settled) resolve()
  }

  #tell(event: DocumentEvent<T>): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
