import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { type App, useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import { outcomeOf } from './outcome.ts'

/** The keys that lead from a session to its other screens, to other sessions, and to a fork of it; not while somebody writes. Source: experience 7.2. */
export function useSessionWays(
  sessionId: string,
  projection: SessionProjection | null,
  { isActive, openQueue }: { readonly isActive: boolean; readonly openQueue: () => void },
): void {
  const app = useApp()
  const { queue, rootTurn } = projection ?? {}
  const hasQueue = queue !== undefined && queue.steering.length + queue.followup.length > 0
  useActions(
    {
      context: 'transcript',
      level: 1,
      handlers: {
        'plan.open': () => app.go({ name: 'plan', sessionId }),
        'tasks.open': () => app.go({ name: 'tasks', sessionId }),
        'inspector.open': () => app.go({ name: 'inspector', sessionId }),
        'queue.open': () => (hasQueue ? openQueue() : app.tell('nothing waits in the queue')),
        'session.list': () => app.go({ name: 'list' }),
        'session.switch': () => app.show({ kind: 'switcher' }),
        'session.fork': () =>
          rootTurn === null || rootTurn === undefined || !isTerminal(rootTurn.status)
            ? app.tell('a session can be forked once its turn has ended')
            : void fork(app, sessionId, rootTurn.turnId),
      },
    },
    isActive,
  )
}

async function fork(app: App, sessionId: string, fromTurnId: string): Promise<void> {
  const outcome = await outcomeOf(app.sessionCommands(sessionId).forkSession({ fromTurnId }))
  if (!outcome.ok) {
    app.tell(outcome.sentence, 'warn')
    return
  }
  app.go({ name: 'session', sessionId: outcome.result.session.sessionId })
  app.tell('a new session with what was said so far')
}
