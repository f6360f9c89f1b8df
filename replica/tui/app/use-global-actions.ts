import { useRef } from 'react'
import { titleOf } from '../../view/session-list.ts'
import { useActions } from '../keys/use-actions.ts'
import type { TerminalControls } from '../terminal/controls.ts'
import { type App, useApp } from './app-context.ts'
import { sessionOf } from './route-stack.ts'

/** A second Ctrl+C within this leaves. Unit: ms. */
const TWICE_MS = 2_000

/** What keys do wherever nothing closer has a use for them. Source: experience 7.2. */
export function useGlobalActions(terminal: TerminalControls): void {
  const app = useApp()
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  useActions({
    context: 'global',
    level: 0,
    handlers: {
      'help.open': () => app.show({ kind: 'help' }),
      'palette.open': () => app.show({ kind: 'palette' }),
      'session.switch': () => app.show({ kind: 'switcher' }),
      'pending.next': () => goToWaiting(app),
      'connection.retry': () => {
        app.store.retryNow()
        app.tell('trying to reach the leader')
      },
      'screen.redraw': () => terminal.redraw(),
      'app.suspend': () => terminal.suspend(),
      'app.leave': () => app.leave(),
      'app.clear_or_leave': () => {
        if (Date.now() - pressedAt.current < TWICE_MS) {
          app.leave()
          return
        }
        pressedAt.current = Date.now()
        app.tell('Ctrl+C again leaves; what runs keeps running')
      },
    },
  })
}

/** To the next session in which something waits for a person, after the one that is shown. */
function goToWaiting(app: App): void {
  const waiting = (app.store.catalog.getSnapshot().rows ?? []).filter(row => row.pendingCount > 0 && !row.isArchived)
  const here = sessionOf(app.route)
  const at = waiting.findIndex(({ sessionId }) => sessionId === here)
  const next = waiting[(at + 1) % waiting.length]
  if (next === undefined) app.tell('nothing waits for an answer')
  else if (next.sessionId === here && app.route.name === 'session')
    app.tell(`nothing waits elsewhere: ${titleOf(next)}`)
  else app.go({ name: 'session', sessionId: next.sessionId })
}
