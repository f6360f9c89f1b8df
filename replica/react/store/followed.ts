import type { Freshness } from '../../../schema/entities/projection.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { Dated } from '../../cache/lost-past.ts'
import { operationError } from '../../client/commands/errors.ts'
import { backOffMs } from '../../client/link/back-off.ts'
import type { Surroundings } from '../../client/ports.ts'
import { type LeaderConnection, ReplicaSubscriptionError } from '../../client/types.ts'
import { Cell, type Grouping } from './cell.ts'
import { type Failure, failureOf } from './failure.ts'
import type { LeaderLine } from './leader-line.ts'

/** What stands aside of what is shown. Source: V6. */
export interface SeenAside<T> {
  readonly projection: T
  readonly since: number | null
}

/** Something as it is seen here. */
export interface Seen<T> {
  readonly value: T | null
  readonly freshness: Freshness
  readonly aside: SeenAside<T> | null
  readonly failure: Failure | null
}

/** A subscription of a connection. `ended` settles when it is over; true: because the thing is no more. */
export interface Followable<T> {
  readonly value: T
  readonly freshness: Freshness
  readonly aside: SeenAside<T> | null
  readonly ended: Promise<boolean>
  onChange(listener: () => void): () => void
  close(): void
}

/** A copy, of which root it is, and what stands aside of it. */
export interface SeenCopy<T> {
  readonly rootId: string
  /** Null where nothing but what stands aside is left. */
  readonly value: T | null
  readonly asOf: number | null
  readonly aside: SeenAside<T> | null
}

/** What is followed and how. `V` is the view of it. */
export interface FollowOptions<T, V> {
  readonly line: LeaderLine
  readonly grouping: Grouping
  readonly surroundings: Pick<Surroundings, 'clock' | 'random'>
  open(connection: LeaderConnection): Promise<Followable<T>>
  /** What was last seen, without a leader. */
  copy(): Promise<SeenCopy<T> | null>
  /** True where what was shown is of a past that the leader's root does not have any more. Source: V6. */
  isOfLostPast(shown: Dated<T>, current: Dated<T>): boolean
  view(seen: Seen<T>): V
  /** Somebody reads it. */
  onRead?(): void
  /** The value is this now; called before anybody sees it. */
  onValue?(value: T | null): void
  /** There is nothing under this name, so far. Gives back how to stop. */
  onMissing(found: () => void): () => void
}

const NEVER: Freshness = Object.freeze({ state: 'offline', asOf: null })

/**
 * Follows one document while somebody reads it, and a second longer: begins with the copy, opens a subscription where there is a
 * connection and again where there is another one, and shows on what it showed while there is none. Source: A10, O2, experience 10.1.
 *
 *   unread ─first reader─▶ copy ─connection─▶ opening ─▶ followed ─connection ended─▶ opening …
 *      ▲                                         └─ refused: until the leader changes, the thing is found, or a wait is over
 *      └── a second after the last reader
 */
export class Followed<T, V> {
  readonly cell: Cell<V>
  readonly #options: FollowOptions<T, V>
  #seen: Seen<T> = { value: null, freshness: NEVER, aside: null, failure: null }
  #isRead = false
  #cancelEnd: (() => void) | null = null
  #stopLine: () => void = () => {}
  #subscription: Followable<T> | null = null
  #stopChanges: () => void = () => {}
  #openingOn: LeaderConnection | null = null
  /** The leader that refused; another one is asked again. */
  #refusedBy: string | null = null
  #stopWaiting: () => void = () => {}
  #attempt = 0
  #rootId: string | null = null

  constructor(options: FollowOptions<T, V>) {
    this.#options = options
    this.cell = new Cell<V>(options.view(this.#seen), options.grouping, {
      begin: () => this.#begin(),
      end: () => this.#endLater(),
    })
  }

  get seen(): Seen<T> {
    return this.#seen
  }

  /** It is read, or was a moment ago. */
  get isActive(): boolean {
    return this.#isRead
  }

  /** Asks again where it was refused. */
  retry(): void {
    if (this.#seen.failure === null) return
    this.#refusedBy = null
    this.#attempt = 0
    this.#reopen()
  }

  /** Stops following at once. */
  stop(): void {
    this.#cancelEnd?.()
    this.#cancelEnd = null
    if (!this.#isRead) return
    this.#isRead = false
    this.#stopLine()
    this.#stopWaiting()
    this.#openingOn = null
    this.#refusedBy = null
    this.#letGo()
    this.#show({})
  }

  #begin(): void {
    this.#cancelEnd?.()
    this.#cancelEnd = null
    if (this.#isRead) return
    this.#isRead = true
    this.#options.onRead?.()
    this.#stopLine = this.#options.line.onChange(() => this.#onLine())
    if (this.#seen.value === null) void this.#showCopy()
    this.#onLine()
  }

  #endLater(): void {
    this.#cancelEnd = this.#options.surroundings.clock.after(LIMITS.storeLingerMs, () => this.stop())
  }

  async #showCopy(): Promise<void> {
    const copy = await this.#options.copy()
    if (copy === null || !this.#isRead || (this.#rootId !== null && copy.rootId !== this.#rootId)) return
    const { value, asOf, aside } = copy
    if (aside !== null && this.#seen.aside === null) this.#show({ aside })
    if (value === null) return
    if (this.#subscription !== null) {
      this.#keepAside({ value, asOf }, this.#subscription)
      return
    }
    if (this.#seen.value !== null || this.#seen.failure?.code === 'not_found') return
    this.#rootId = copy.rootId
    this.#show({ value, freshness: { state: 'offline', asOf } })
  }

  /** The line to the leader is another one, or has another freshness. */
  #onLine(): void {
    const { open } = this.#options.line
    if (open !== null && open.rootId !== this.#rootId) this.#enterRoot(open.rootId)
    if (open !== null && this.#refusedBy !== null && this.#refusedBy !== open.hostEpoch) this.retry()
    if (open === null || this.#subscription !== null || this.#openingOn === open || this.#refusedBy !== null)
      this.#show({})
    else void this.#open(open)
  }

  /** What was shown of another root is not shown any more. Source: O3. */
  #enterRoot(rootId: string): void {
    if (rootId === '') return
    if (this.#rootId !== null) this.#show({ value: null, freshness: NEVER, aside: null, failure: null })
    this.#rootId = rootId
  }

  #reopen(): void {
    this.#stopWaiting()
    this.#refusedBy = null
    if (!this.#isRead || this.#subscription !== null) return
    this.#show({ failure: null })
    this.#onLine()
  }

  async #open(connection: LeaderConnection): Promise<void> {
    this.#stopWaiting()
    this.#openingOn = connection
    this.#show({})
    try {
      const subscription = await this.#options.open(connection)
      if (this.#openingOn === connection) this.#follow(subscription)
      else subscription.close()
    } catch (error) {
      if (this.#openingOn === connection) this.#refuse(connection, error)
    }
  }

  #follow(subscription: Followable<T>): void {
    this.#openingOn = null
    this.#attempt = 0
    const { value: shown, freshness } = this.#seen
    this.#subscription = subscription
    this.#stopChanges = subscription.onChange(() => this.#take())
    void subscription.ended.then(isRemoved => this.#onEnded(subscription, isRemoved))
    if (shown !== null) this.#keepAside({ value: shown, asOf: freshness.asOf }, subscription)
    this.#take()
  }

  #take(): void {
    const { value, freshness, aside } = this.#subscription as Followable<T>
    this.#show({ value, freshness, failure: null, ...(aside === null ? {} : { aside }) })
  }

  #keepAside(shown: Dated<T>, { value, freshness }: Followable<T>): void {
    if (!this.#options.isOfLostPast(shown, { value, asOf: freshness.asOf })) return
    this.#show({ aside: Object.freeze({ projection: shown.value, since: freshness.asOf }) })
  }

  #onEnded(subscription: Followable<T>, isRemoved: boolean): void {
    if (this.#subscription !== subscription) return
    this.#letGo()
    const { open } = this.#options.line
    if (isRemoved && open !== null) this.#refuse(open, operationError('not_found', 'The session was removed.'))
    else this.#onLine()
  }

  #refuse(connection: LeaderConnection, error: unknown): void {
    this.#openingOn = null
    // The connection has ended, or is about to: the line tells of the next one.
    if (this.#options.line.open !== connection || error instanceof ReplicaSubscriptionError) {
      this.#show({})
      return
    }
    const failure = failureOf(error)
    this.#refusedBy = connection.hostEpoch
    if (failure.code === 'not_found') {
      this.#show({ value: null, failure })
      this.#stopWaiting = this.#options.onMissing(() => this.#reopen())
    } else {
      this.#show({ failure })
      if (failure.code !== 'session_damaged') this.#stopWaiting = this.#retryLater()
    }
  }

  #retryLater(): () => void {
    const { clock, random } = this.#options.surroundings
    const atLeastMs = LIMITS.storeLingerMs
    const afterMs = backOffMs({ pace: 'reconnect', attempt: this.#attempt, random: random(), atLeastMs })
    this.#attempt += 1
    return clock.after(afterMs, () => this.#reopen())
  }

  #letGo(): void {
    const subscription = this.#subscription
    if (subscription === null) return
    this.#stopChanges()
    this.#subscription = null
    subscription.close()
    this.#show({ freshness: subscription.freshness })
  }

  #show(change: Partial<Seen<T>>): void {
    const known = this.#seen
    const next = { ...known, ...change }
    const freshness = this.#freshnessOf(next)
    const isSame =
      next.value === known.value &&
      next.aside === known.aside &&
      next.failure === known.failure &&
      freshness.state === known.freshness.state &&
      freshness.asOf === known.freshness.asOf
    if (isSame) return
    this.#seen = {
      ...next,
      freshness: isEqual(freshness, known.freshness) ? known.freshness : Object.freeze(freshness),
    }
    this.#options.onValue?.(this.#seen.value)
    this.cell.set(this.#options.view(this.#seen))
  }

  /** Live only while a subscription says so; else what was last seen, on its way to being live or not. Source: A10. */
  #freshnessOf({ freshness }: Seen<T>): Freshness {
    if (this.#subscription !== null) return this.#subscription.freshness
    const isComing = this.#openingOn !== null && this.#options.line.freshness.state !== 'offline'
    return { state: isComing ? 'syncing' : 'offline', asOf: freshness.asOf }
  }
}

function isEqual(a: Freshness, b: Freshness): boolean {
  return a.state === b.state && a.asOf === b.asOf
}
