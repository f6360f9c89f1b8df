import type { SessionSubscription, SubscriptionFrame } from '../../../replica/client/types.ts'
import type { SessionProjection } from '../../../schema/entities/projection.ts'

/** What one replica was shown of a session: nothing of it may ever be lost. Source: A2. */
export class SeenSession {
  readonly subscription: SessionSubscription
  /** The newest revision that was shown. */
  revision = 0
  /** Streamed messages as far as they were shown, by message id; only those seen from their beginning. */
  readonly texts = new Map<string, string>()
  /** Frames that came in a wrong order, or skipped something, inside one epoch. */
  readonly disorders: string[] = []
  #last: SubscriptionFrame | null = null

  constructor(subscription: SessionSubscription) {
    this.subscription = subscription
    this.#readSnapshot(subscription.snapshot)
    void this.#follow().catch(() => {})
  }

  get current(): SessionProjection {
    return this.subscription.current
  }

  async #follow(): Promise<void> {
    for await (const frame of this.subscription) {
      this.#checkOrder(frame)
      this.#last = frame
      this.revision = Math.max(this.revision, frame.revision)
      if ('snapshot' in frame) this.#readSnapshot(frame.snapshot)
      if (frame.kind === 'subscription.session_delta') {
        this.#readText(frame.delta.messageId, frame.delta.startOffset, frame.delta.text)
      }
    }
  }

  /** One frame for each transition, in order. Source: V3. */
  #checkOrder(frame: SubscriptionFrame): void {
    const last = this.#last
    if (last === null || last.hostEpoch !== frame.hostEpoch || frame.kind === 'subscription.session_resynced') return
    const step = frame.kind === 'subscription.session_projection' ? 1 : 0
    if (frame.revision !== last.revision + step) {
      this.disorders.push(`${frame.kind} of revision ${frame.revision} after ${last.kind} of ${last.revision}`)
    }
  }

  #readSnapshot(snapshot: SessionProjection): void {
    this.revision = Math.max(this.revision, snapshot.revision)
    for (const entry of snapshot.transcript.entries) {
      if (entry.kind === 'assistant' || entry.kind === 'thinking') {
        this.#readText(entry.messageId, entry.offset, entry.text)
      }
    }
  }

  #readText(messageId: string, offset: number, text: string): void {
    const known = this.texts.get(messageId) ?? ''
    if (offset > known.length) return
    const end = offset + text.length
    if (end > known.length) this.texts.set(messageId, known.slice(0, offset) + text)
  }
}
