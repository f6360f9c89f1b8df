import { useEffect, useMemo, useState } from 'react'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { LeaderProvider } from '../../react/hooks/leader-provider.tsx'
import type { ReplicaStore } from '../../react/types.ts'
import type { ActionId } from '../../view/keymap/actions.ts'
import type { DraftStore } from '../composer/draft-store.ts'
import type { HistoryFile } from '../composer/history-file.ts'
import type { KeyRouter } from '../keys/key-router.ts'
import { RouterProvider } from '../keys/use-actions.ts'
import type { TuiEnd, TuiOptions } from '../options.ts'
import { useTelling } from '../parts/use-telling.ts'
import type { TerminalControls } from '../terminal/controls.ts'
import type { Paint } from '../text/paint.ts'
import { TERMINAL_THEME, THEMES, type Theme } from '../text/theme.ts'
import type { Announcements } from './announcements.ts'
import { AppProvider, type App as AppValue, type Route, type Size, type Themes } from './app-context.ts'
import { farewellOf } from './farewell.ts'
import { Frame } from './frame.tsx'
import { sessionOf } from './route-stack.ts'
import { useBoundCommands } from './use-bound-commands.ts'
import { usePlaces } from './use-places.ts'

/** What the terminal replica is made of, made before the first frame. */
export interface AppProps {
  readonly options: TuiOptions
  readonly store: ReplicaStore
  readonly router: KeyRouter
  readonly size: Size
  readonly paint: Omit<Paint, 'theme'>
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
  const { route, overlay, ways } = usePlaces(options.sessionId)
  const { told, tell } = useTelling()
  const [soon, runSoon] = useState<ActionId | null>(null)
  const sessionCommands = useBoundCommands(store)
  const { theme, themes } = useThemes(options.settings.theme, tell)
  const painted = useMemo<Paint>(() => ({ ...paint, theme }), [paint, theme])
  const value = useMemo<AppValue>(
    () => ({
      ...{ options, store, size, themes, route, overlay, isFocused, drafts, history, tell, runSoon, sessionCommands },
      ...ways,
      paint: painted,
      lend: use => terminal.lend(use),
      copy: text => tell(terminal.copy(text) ? 'copied' : 'too long for the clipboard of a terminal'),
      leave: () => onLeave({ exitCode: 0, farewell: farewellOf(shownIn(store, route), options.place) }),
    }),
    [
      options,
      store,
      size,
      painted,
      themes,
      route,
      overlay,
      isFocused,
      drafts,
      history,
      tell,
      sessionCommands,
      ways,
      terminal,
      onLeave,
    ],
  )
  useEffect(() => announcements.follow(text => tell(text, 'warn')), [announcements, tell])
  useEffect(() => {
    if (soon === null || overlay !== null) return
    runSoon(null)
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

function useThemes(first: string, tell: (text: string) => void): { readonly theme: Theme; readonly themes: Themes } {
  const [name, setName] = useState(first)
  const themes = useMemo<Themes>(
    () => ({
      others: Object.keys(THEMES).filter(other => other !== name),
      choose: next => {
        setName(next)
        tell(`for always: "tui": { "theme": "${next}" } in config.jsonc`)
      },
    }),
    [name, tell],
  )
  return { theme: THEMES[name] ?? TERMINAL_THEME, themes }
}

function shownIn(store: ReplicaStore, route: Route): SessionProjection | null {
  const sessionId = sessionOf(route)
  return sessionId === undefined ? null : store.session(sessionId).getSnapshot().projection
}
