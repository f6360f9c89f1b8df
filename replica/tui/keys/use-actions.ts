import { createContext, useContext, useLayoutEffect, useRef } from 'react'
import type { KeyLayer, KeyRouter } from './key-router.ts'

const RouterContext = createContext<KeyRouter | null>(null)

/** Gives the router to what stands below it. */
export const RouterProvider = RouterContext.Provider

/** The router of this terminal. */
export function useRouter(): KeyRouter {
  const router = useContext(RouterContext)
  if (router === null) throw new Error('there is no router for keys here')
  return router
}

/** Takes keys while `isActive`: what became active later lies above others of its level. The newest handlers are always the ones called. */
export function useActions(layer: KeyLayer, isActive = true): void {
  const router = useRouter()
  const current = useRef(layer)
  current.current = layer
  useLayoutEffect(() => (isActive ? router.add(current) : undefined), [router, isActive])
}
