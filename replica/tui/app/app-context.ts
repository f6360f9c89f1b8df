import { createContext, useContext } from 'react'
import type { SessionCommands } from '../../react/commands/bound-commands.ts'
import type { ReplicaStore } from '../../react/types.ts'
import type { ActionId } from '../../view/keymap/actions.ts'
import type { DraftStore } from '../composer/draft-store.ts'
import type { HistoryFile } from '../composer/history-file.ts'
import type { TuiOptions } from '../options.ts'
import type { Paint } from '../text/paint.ts'

/** What is on the screen. `plan`, `tasks` and `inspector` are full screens of a session. */
export type Route =
  | { readonly name: 'list' }
  | { readonly name: 'session'; readonly sessionId: string; readonly isNew?: boolean }
  | { readonly name: 'plan' | 'tasks' | 'inspector'; readonly sessionId: string }

/** What lies over the screen and takes the keys. */
export type Overlay =
  | { readonly kind: 'palette'; readonly onCancel?: () => void }
  | { readonly kind: 'help' | 'switcher' }
  | { readonly kind: 'rename'; readonly sessionId: string }
  | null

/** The terminal's size in cells. `rows` is what may be drawn on: one less than the terminal has. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** How the screen looks, by name. */
export interface Themes {
  /** The names of those that are not in force. */
  readonly others: readonly string[]
  /** Another look, until the program ends. */
  choose(name: string): void
}

/** What every part of the screen may use. */
export interface App {
  readonly options: TuiOptions
  readonly store: ReplicaStore
  readonly size: Size
  readonly paint: Paint
  readonly route: Route
  readonly overlay: Overlay
  /** The terminal has the focus, as far as it says so. */
  readonly isFocused: boolean
  readonly themes: Themes
  /** What is written and not sent, by session. */
  readonly drafts: DraftStore
  /** What was sent in the sessions of this root. */
  readonly history: HistoryFile
  /** Does what a key of this action would do, once what lies over the screen is gone. */
  runSoon(action: ActionId): void
  /** The commands of a session. They reject as the connection does; `outcomeOf` makes outcomes of that. */
  sessionCommands(sessionId: string): SessionCommands
  /** Opens the composer of a session that is made when its first message is sent. */
  newSession(): void
  go(route: Route): void
  /** Back to where the person came from. */
  back(): void
  show(overlay: Overlay): void
  /** A sentence on the status line for some seconds: what became of a command, what cannot be done and why. */
  tell(text: string, tone?: 'normal' | 'good' | 'warn' | 'bad'): void
  /** Gives the terminal to another program and takes it back afterwards (external editor). */
  lend<T>(use: () => Promise<T>): Promise<T>
  /** Text onto the clipboard of the terminal (OSC 52). */
  copy(text: string): void
  /** Leaves; the turn keeps running. */
  leave(): void
}

const AppContext = createContext<App | null>(null)

/** Gives the app to what stands below it. */
export const AppProvider = AppContext.Provider

/** The app around this part of the screen. */
export function useApp(): App {
  const app = useContext(AppContext)
  if (app === null) throw new Error('this part stands outside of the app')
  return app
}
