import { LIMITS } from '../../../schema/limits.ts'
import { ReplicaSubscriptionError, type SubscriptionFrame } from '../types.ts'
import type { SizedFrame } from './frames.ts'

type Next = IteratorResult<SubscriptionFrame>

/** How a queue ends: silently, or for everyone who asks on with an error; `removed` ends the loop once before. */
type End = 'closed' | 'connection_closed' | 'session_removed'

interface Waiter {
  readonly resolve: (next: Next) => void
  readonly reject: (error: Error) => void
}

/** Callers of `next` that may wait at once. */
const WAITERS = 64

/**
 * The frames of one subscription, kept from its opening on whether or not anyone reads. Beyond 1 024 frames or 4 MiB unread they are
 * replaced by one `session_resynced` with the newest state. Source: V2, V11.
 */
export class FrameQueue implements AsyncIterator<SubscriptionFrame> {
  readonly #resynced: () => SubscriptionFrame
  #frames: SizedFrame[] = []
  #bytes = 0
  #waiters: Waiter[] = []
  #end: End | undefined
  #hasEndedLoop = false

  /** `resynced` makes the frame of the newest state. */
  constructor(resynced: () => SubscriptionFrame) {
    this.#resynced = resynced
  }

  /** Adds a frame, or hands it to whoever waits. */
  push(sized: SizedFrame): void {
    if (this.#end !== undefined) return
    const waiter = this.#waiters.shift()
    if (waiter !== undefined) {
      waiter.resolve({ done: false, value: sized.frame })
      return
    }
    this.#frames.push(sized)
    this.#bytes += sized.bytes
    if (this.#frames.length <= LIMITS.unreadFrames && this.#bytes <= LIMITS.unreadBytes) return
    this.#frames = [{ frame: this.#resynced(), bytes: 0 }]
    this.#bytes = 0
  }

  /** No more frames. What is unread can still be read, unless the subscriber itself closed. */
  end(end: End): void {
    if (this.#end !== undefined) return
    this.#end = end
    if (end === 'closed') this.#frames = []
    const waiters = this.#waiters
    this.#waiters = []
    for (const waiter of waiters) this.next().then(waiter.resolve, waiter.reject)
  }

  next(): Promise<Next> {
    const sized = this.#frames.shift()
    if (sized !== undefined) {
      this.#bytes -= sized.bytes
      return Promise.resolve({ done: false, value: sized.frame })
    }
    if (this.#end !== undefined) return this.#afterEnd(this.#end)
    if (this.#waiters.length >= WAITERS) return Promise.reject(new RangeError('too many callers wait for a frame'))
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  /** Leaving a loop does not end the subscription. */
  return(): Promise<Next> {
    return Promise.resolve({ done: true, value: undefined })
  }

  #afterEnd(end: End): Promise<Next> {
    if (end === 'closed') return Promise.resolve({ done: true, value: undefined })
    if (end === 'session_removed' && !this.#hasEndedLoop) {
      this.#hasEndedLoop = true
      return Promise.resolve({ done: true, value: undefined })
    }
    return Promise.reject(new ReplicaSubscriptionError(end))
  }
}
