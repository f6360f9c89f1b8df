import { useMemo } from 'react'
import { bindCommands, type SessionCommands } from '../../react/commands/bound-commands.ts'
import type { ReplicaStore } from '../../react/types.ts'

/** So many sessions have their commands at hand. */
const MOST_KEPT = 256

/** The commands of any session: the same object for the same session, as long as it is not one of very many. */
export function useBoundCommands(store: ReplicaStore): (sessionId: string) => SessionCommands {
  return useMemo(() => {
    const bound = new Map<string, SessionCommands>()
    return sessionId => {
      const known = bound.get(sessionId)
      if (known !== undefined) return known
      const made = bindCommands(() => store.connection, sessionId)
      if (bound.size >= MOST_KEPT) bound.clear()
      bound.set(sessionId, made)
      return made
    }
  }, [store])
}
