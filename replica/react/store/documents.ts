import type { CatalogRow, SessionProjection } from '../../../schema/entities/projection.ts'
import type { CatalogSubscription, SessionSubscription } from '../../client/types.ts'
import type { CatalogView, SessionView } from '../types.ts'
import type { Followable, Seen } from './followed.ts'

/** A session's subscription. Its frames are taken as they come: what is shown is read from `current`. */
export function followableSession(subscription: SessionSubscription): Followable<SessionProjection> {
  return {
    get value() {
      return subscription.current
    },
    get freshness() {
      return subscription.freshness
    },
    get aside() {
      return subscription.aside
    },
    ended: isRemovedAtEnd(subscription),
    onChange: listener => subscription.onChange(listener),
    close: () => void subscription.close(),
  }
}

async function isRemovedAtEnd(subscription: SessionSubscription): Promise<boolean> {
  try {
    for await (const frame of subscription) {
      if (frame.kind === 'subscription.closed') return frame.reason === 'session_removed'
    }
  } catch {
    // The connection is closed for good.
  }
  return false
}

/** The catalog's subscription; it ends with its `connectionClosed`. */
export function followableCatalog(
  subscription: CatalogSubscription,
  connectionClosed: Promise<void>,
): Followable<readonly CatalogRow[]> {
  return {
    get value() {
      return subscription.current
    },
    get freshness() {
      return subscription.freshness
    },
    aside: null,
    ended: connectionClosed.then(() => false),
    onChange: listener => subscription.onChange(listener),
    close: () => void subscription.close(),
  }
}

/** What screens get of a session. */
export function sessionView({ value, freshness, aside, failure }: Seen<SessionProjection>): SessionView {
  return Object.freeze({ projection: value, freshness, aside, failure })
}

/** What screens get of the catalog. */
export function catalogView({ value, freshness }: Seen<readonly CatalogRow[]>): CatalogView {
  return Object.freeze({ rows: value, freshness })
}
