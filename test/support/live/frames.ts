import type { SessionSubscription, SubscriptionFrame } from '../../../replica/client/types.ts'

/** What a subscription was sent, in order; it grows until the subscription ends. */
export interface FrameLog {
  readonly frames: readonly SubscriptionFrame[]
  /** Settles when the subscription ended. */
  readonly ended: Promise<void>
}

/** Reads a subscription to its end in the background. */
export function logFrames(subscription: SessionSubscription): FrameLog {
  const frames: SubscriptionFrame[] = []
  const read = async (): Promise<void> => {
    for await (const frame of subscription) frames.push(frame)
  }
  return { frames, ended: read().catch(() => {}) }
}
