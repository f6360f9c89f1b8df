import type { ReadStream, WriteStream } from 'node:tty'
import type { OfflineReader } from '../cache/offline-reader.ts'
import type { ConnectResult } from '../client/types.ts'
import type { ColourDepth } from './text/theme.ts'

/** Where the terminal replica keeps what is only its own, and where its settings are; absolute paths. */
export interface TuiPlaces {
  /** Drafts and history: a folder under the user's state folder. */
  readonly state: string
  /** `keymap.jsonc`; need not exist. */
  readonly keymap: string
}

/** Settings of the terminal replica, from `config.jsonc`. */
export interface TuiSettings {
  readonly enterWhileRunning: 'follow_up' | 'steering'
  /** Ask before stopping a turn. */
  readonly confirmInterrupt: boolean
  readonly notifications: 'unfocused' | 'always' | 'never'
  readonly hasMouse: boolean
  readonly setsTitle: boolean
  readonly theme: string
}

/** What a terminal replica works with. It never touches the process by itself but for signals of the terminal. */
export interface TuiOptions {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Finds the leader, or starts one; asked again until it succeeds or a person must do something. */
  connect(options: { readonly signal: AbortSignal; readonly clientInstanceId: string }): Promise<ConnectResult>
  /** What was last seen; null where nothing ever was. */
  openOffline(): Promise<OfflineReader | null>
  /** For the commands it prints: as the person named the root or the leader. */
  readonly place: { readonly root?: string; readonly url?: string }
  /** The data root, absolute, or the address of the leader: what history and drafts belong to. */
  readonly address: string
  readonly places: TuiPlaces
  readonly settings: TuiSettings
  /** Problems of the settings file, shown on the status line, never fatal. */
  readonly problems: readonly string[]
  readonly sessionId?: string
  /** What executes new sessions. `isFallback`: nothing is configured, the built-in one only echoes. */
  readonly backend: { readonly name: string; readonly isFallback: boolean }
  readonly colour: ColourDepth
  /** The linear mode for screen readers: append-only, no box, no spinner, words for states. */
  readonly isLinear: boolean
  readonly version: string
}

/** How it ended: `farewell` is printed after the screen was given back. Source: experience 7.3. */
export interface TuiEnd {
  readonly exitCode: number
  readonly farewell: readonly string[]
}
