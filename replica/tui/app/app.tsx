import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { bindCommands, type SessionCommands } from '../../react/commands/bound-commands.ts'
import { LeaderProvider } from '../../react/hooks/leader-provider.tsx'
import type { ReplicaStore } from '../../react/types.ts'
import type { ActionId } from '../../view/keymap/actions.ts'
import type { DraftStore } from '../composer/draft-store.ts'
import type { HistoryFile } from '../composer/history-file.ts'
import type { KeyRouter } from '../keys/key-router.ts'
import { RouterProvider } from '../keys/use-actions.ts'
import type { TuiEnd, TuiOptions } from '../options.ts'
import type { TerminalControls } from '../terminal/controls.ts'
import type { Paint } from '../text/paint.ts'
import type { Announcements } from './announcements.ts'
import { AppProvider, type App as AppValue, type Overlay, type Size } from './app-context.ts'
import { farewellOf } from './farewell.ts'
import { Frame } from './frame.tsx'
import { currentRoute, popRoute, pushRoute, type RouteStack, sessionOf } from './route-stack.ts'
import { useTelling } from './use-telling.ts'

/** What the terminal replica is made of, made before the first frame. */
export interface AppProps {
  readonly options: TuiOptions
  readonly store: ReplicaStore
  readonly router: KeyRouter
  readonly size: Size
  readonly paint: Paint
  readonly isFocused: boolean
  readonly terminal: TerminalControls
  readonly drafts: DraftStore
  readonly history: HistoryFile
  readonly announcements: Announcements
  onLeave(end: TuiEnd): void
}

/** The terminal replica: where the person is, and what every part of the screen may use. */
export function App(props: AppProps) {
  const { options, store, router, size, paint, isFocused, terminal, drafts, history, announcements, onLeave } = props
  const [stack, setStack] = useState<RouteStack>(() => firstStack(options))
  const [overlay, setOverlay] = useState<Overlay>(null)
  const { told, tell } = useTelling()
  const route = currentRoute(stack)
  const commands = useRef(new Map<string, SessionCommands>())
  const [soon, setSoon] = useState<ActionId | null>(null)
  const left = useRef({ route, store })
  left.current = { route, store }

  const leave = useCallback(() => {
    const sessionId = sessionOf(left.current.route)
    const projection = sessionId === undefined ? null : left.current.store.session(sessionId).getSnapshot().projection
    onLeave({ exitCode: 0, farewell: farewellOf(projection, options.place) })
  }, [onLeave, options.place])

  const value = useMemo<AppValue>(
    () => ({
      options,
      store,
      size,
      paint,
      route,
      overlay,
      isFocused,
      drafts,
      history,
      runSoon: setSoon,
      sessionCommands: sessionId => {
        const known = commands.current.get(sessionId)
        if (known !== undefined) return known
        const made = bindCommands(() => store.connection, sessionId)
        commands.current.set(sessionId, made)
        return made
      },
      newSession: () => {
        setOverlay(null)
        setStack(before => pushRoute(before, { name: 'session', sessionId: crypto.randomUUID(), isNew: true }))
      },
      go: next => {
        setOverlay(null)
        setStack(before => pushRoute(before, next))
      },
      back: () => setStack(popRoute),
      show: setOverlay,
      tell,
      lend: use => terminal.lend(use),
      copy: text => {
        tell(terminal.copy(text) ? 'copied' : 'too long for the clipboard of a terminal')
      },
      leave,
    }),
    [options, store, size, paint, route, overlay, isFocused, drafts, history, tell, terminal, leave],
  )
  useEffect(() => announcements.follow(text => tell(text, 'warn')), [announcements, tell])
  useEffect(() => {
    if (soon === null || overlay !== null) return
    setSoon(null)
    if (!router.run(soon)) tell('That does nothing here now.')
  }, [soon, overlay, router, tell])
  return (
    <RouterProvider value={router}>
      <AppProvider value={value}>
        <LeaderProvider store={store}>
          <Frame told={told} terminal={terminal} />
        </LeaderProvider>
      </AppProvider>
    </RouterProvider>
  )
}

function firstStack({ sessionId }: TuiOptions): RouteStack {
  return sessionId === undefined ? [{ name: 'list' }] : [{ name: 'list' }, { name: 'session', sessionId }]
}
