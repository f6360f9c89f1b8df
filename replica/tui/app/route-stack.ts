import type { Route } from './app-context.ts'

/** Where the person is and came from, the newest last; never empty. */
export type RouteStack = readonly [Route, ...Route[]]

/** So many places are remembered. */
const DEEPEST = 32

/** Goes somewhere. To the same place again changes nothing; to another part of the same session replaces that part. */
export function pushRoute(stack: RouteStack, route: Route): RouteStack {
  const top = currentRoute(stack)
  if (sameRoute(top, route)) return stack
  const below = stack.findLastIndex(known => sameRoute(known, route))
  const kept = below === -1 ? stack : stack.slice(0, below)
  return [...kept, route].slice(-DEEPEST) as unknown as RouteStack
}

/** Back to where the person came from, at last to the list. */
export function popRoute(stack: RouteStack): RouteStack {
  if (stack.length > 1) return stack.slice(0, -1) as unknown as RouteStack
  return stack[0].name === 'list' ? stack : [{ name: 'list' }]
}

/** Where the person is. */
export function currentRoute(stack: RouteStack): Route {
  return stack.at(-1) as Route
}

function sameRoute(a: Route, b: Route): boolean {
  return a.name === b.name && sessionOf(a) === sessionOf(b)
}

/** The session a place belongs to, if any. */
export function sessionOf(route: Route): string | undefined {
  return route.name === 'list' ? undefined : route.sessionId
}
