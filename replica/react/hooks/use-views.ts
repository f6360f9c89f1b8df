import { useMemo } from 'react'
import type { Freshness, SessionProjection } from '../../../schema/entities/projection.ts'
import type { LeaderConnection } from '../../client/types.ts'
import type { CatalogView, LinkState, SessionView } from '../types.ts'
import { useReplicaStore } from './leader-provider.tsx'
import { useReadable, useSelected } from './use-readable.ts'

/** The connection to the leader; null while none was ever reached, which only a store that looks for its leader itself can be. */
export function useLeader(): LeaderConnection | null {
  const store = useReplicaStore()
  return useSelected(store.link, () => store.connection)
}

/** How it stands with the leader. */
export function useLink(): LinkState {
  return useReadable(useReplicaStore().link)
}

/** The sessions, most recently active first, and how true the list is. */
export function useCatalog(): CatalogView {
  return useReadable(useReplicaStore().catalog)
}

/** A session with how true it is, what stands aside of it and why there is nothing to see. */
export function useSessionView(sessionId: string): SessionView {
  const store = useReplicaStore()
  return useReadable(useMemo(() => store.session(sessionId), [store, sessionId]))
}

/** A session as a whole; null until something of it is known. */
export function useSession(sessionId: string): SessionProjection | null {
  return useSessionSlice(sessionId, whole)
}

const whole = (projection: SessionProjection): SessionProjection => projection

/**
 * A part of a session, rendered again only when that part is another one: by identity, which parts that did not change keep, or by `isEqual`
 * where `select` makes something new. Null until something of the session is known.
 */
export function useSessionSlice<S>(
  sessionId: string,
  select: (projection: SessionProjection) => S,
  isEqual: (a: S, b: S) => boolean = Object.is,
): S | null {
  const store = useReplicaStore()
  const session = useMemo(() => store.session(sessionId), [store, sessionId])
  return useSelected(
    session,
    ({ projection }) => (projection === null ? null : select(projection)),
    (a, b) => (a === null || b === null ? a === b : isEqual(a, b)),
  )
}

/** How true a session's view is; without a session, how it stands with the leader. Source: A10. */
export function useFreshness(sessionId?: string): Freshness {
  const store = useReplicaStore()
  const shown = useMemo(() => (sessionId === undefined ? null : store.session(sessionId)), [store, sessionId])
  return useSelected<LinkState | SessionView, Freshness>(shown ?? store.link, freshnessOf)
}

function freshnessOf(of: LinkState | SessionView): Freshness {
  return 'freshness' in of ? of.freshness : NEVER
}

const NEVER: Freshness = Object.freeze({ state: 'offline', asOf: null })
