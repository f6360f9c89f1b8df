import { useCallback } from 'react'
import type { LeaderConnection } from '../../client/types.ts'
import { type App, useApp } from '../app/app-context.ts'
import type { SendMode } from '../composer/draft-store.ts'
import { outcomeOf } from './outcome.ts'

/**
 * Gives texts to a session: true once the leader has one. A session that is only about to be is made first; `onMade` is called then.
 * Source: Q2, S1, experience 6.2.
 */
export function useSending(
  sessionId: string,
  { isNew, onMade }: { readonly isNew: boolean; readonly onMade: () => void },
): (text: string, mode: SendMode) => Promise<boolean> {
  const app = useApp()
  return useCallback(
    async (text, mode) => {
      if (isNew) {
        const made = await makeSession(app, sessionId)
        if (!made) return false
        onMade()
      }
      const placement = mode === 'steer' ? 'current_turn' : 'next_turn'
      const outcome = await outcomeOf(app.sessionCommands(sessionId).submitMessage({ content: { text }, placement }))
      if (!outcome.ok) {
        app.tell(outcome.sentence, 'warn')
        return false
      }
      if (mode === 'steer' && outcome.result.disposition === 'turn_started') app.tell('no turn ran: this started one')
      return true
    },
    [app, sessionId, isNew, onMade],
  )
}

async function makeSession(app: App, sessionId: string): Promise<boolean> {
  const { connection } = app.store
  if (connection === null) {
    app.tell('There is no leader yet; nothing was sent.', 'warn')
    return false
  }
  const outcome = await outcomeOf(createdBy(connection, app, sessionId))
  if (!outcome.ok) app.tell(outcome.sentence, 'warn')
  else if (app.options.backend.isFallback) app.tell('no agent is configured: the built-in scripted backend echoes')
  return outcome.ok
}

function createdBy(connection: LeaderConnection, { options }: App, sessionId: string): Promise<unknown> {
  return connection.createSession({ sessionId, cwd: options.cwd, backend: options.backend.name })
}
