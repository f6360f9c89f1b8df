import { useCallback, useReducer, useRef } from 'react'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { useReadable } from '../../react/hooks/use-readable.ts'
import { type TurnViews, withTurn } from '../../view/transcript/turn-views.ts'
import { useApp } from '../app/app-context.ts'

/** The newest root turn as it is shown, and the leader's time of that. */
export interface RootTurn {
  readonly rootTurn: TurnSnapshot | null
  readonly asOf: number | null
}

/** How the turns of a session stand: what was seen of them here, and those that were asked for. Each is asked for once. */
export function useTurnViews(
  sessionId: string,
  { rootTurn, asOf }: RootTurn,
): { readonly views: TurnViews; readonly ask: (turnIds: readonly string[]) => void } {
  const { store } = useApp()
  const isConnected = useReadable(store.link).kind === 'connected'
  const views = useRef<TurnViews>(new Map())
  const asked = useRef(new Set<string>())
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  views.current = withTurn(views.current, rootTurn, asOf)
  const ask = useCallback(
    (turnIds: readonly string[]) => {
      const { connection } = store
      if (connection === null || !isConnected) return
      for (const turnId of turnIds.filter(each => !asked.current.has(each))) {
        if (asked.current.size >= LIMITS.transcriptTurnsKnown) asked.current.clear()
        asked.current.add(turnId)
        connection.queryTurn({ sessionId, turnId }).then(
          turn => {
            views.current = withTurn(views.current, turn, null)
            redraw()
          },
          // What another session has planted names turns that are not here; after a lost connection the next look asks again.
          (error: { readonly code?: unknown }) => error.code !== 'not_found' && asked.current.delete(turnId),
        )
      }
    },
    [store, sessionId, isConnected],
  )
  return { views: views.current, ask }
}
