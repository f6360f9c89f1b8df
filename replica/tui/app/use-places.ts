import { useMemo, useState } from 'react'
import type { Overlay, Route } from './app-context.ts'
import { currentRoute, popRoute, pushRoute, type RouteStack } from './route-stack.ts'

/** Where the person is, and the ways to elsewhere. */
export interface Places {
  readonly route: Route
  readonly overlay: Overlay
  readonly ways: {
    newSession(): void
    go(route: Route): void
    back(): void
    show(overlay: Overlay): void
  }
}

/** The places of one terminal; `ways` is the same object always. */
export function usePlaces(sessionId: string | undefined): Places {
  const [stack, setStack] = useState<RouteStack>(() => firstStack(sessionId))
  const [overlay, setOverlay] = useState<Overlay>(null)
  const ways = useMemo(() => {
    const go = (route: Route): void => {
      setOverlay(null)
      setStack(before => pushRoute(before, route))
    }
    return {
      go,
      newSession: () => go({ name: 'session', sessionId: crypto.randomUUID(), isNew: true }),
      back: () => setStack(popRoute),
      show: setOverlay,
    }
  }, [])
  return { route: currentRoute(stack), overlay, ways }
}

function firstStack(sessionId: string | undefined): RouteStack {
  return sessionId === undefined ? [{ name: 'list' }] : [{ name: 'list' }, { name: 'session', sessionId }]
}
