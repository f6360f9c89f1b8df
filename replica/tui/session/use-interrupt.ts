import { useRef } from 'react'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { type App, useApp } from '../app/app-context.ts'
import { outcomeOf } from './outcome.ts'

/** A second press within this confirms. Unit: ms. */
const CONFIRM_MS = 3_000

/**
 * Stops the turn that is shown, by its id, so that a stale screen cannot stop the next one; `false` where none runs. What waits in the queue is
 * parked and nothing is lost. Pressing again sends no second command. Source: T8, experience 6.6.
 */
export function useInterrupt(sessionId: string, projection: SessionProjection | null): () => unknown {
  const app = useApp()
  const asked = useRef<string | null>(null)
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  const turn = projection?.rootTurn ?? null
  return () => {
    if (turn === null || isTerminal(turn.status)) return false
    if (asked.current === turn.turnId) {
      app.tell('stopping …')
      return true
    }
    if (app.options.settings.confirmInterrupt && Date.now() - pressedAt.current > CONFIRM_MS) {
      pressedAt.current = Date.now()
      app.tell('Esc again stops the turn')
      return true
    }
    asked.current = turn.turnId
    app.tell('stopping …')
    const { turnId, runId } = turn
    void stop(app, { sessionId, turnId, runId }).then(isStopped => {
      if (!isStopped && asked.current === turnId) asked.current = null
    })
    return true
  }
}

async function stop(
  app: App,
  { sessionId, turnId, runId }: { readonly sessionId: string; readonly turnId: string; readonly runId: string },
): Promise<boolean> {
  const outcome = await outcomeOf(app.sessionCommands(sessionId).stopTurn({ turnId, runId }))
  if (!outcome.ok) app.tell(outcome.sentence, 'warn')
  else if (outcome.result.status === 'completed') app.tell('it had just finished')
  return outcome.ok
}
