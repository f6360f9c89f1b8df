import type { ReadStream, WriteStream } from 'node:tty'
import type { ConnectOptions, ConnectResult, LeaderConnection } from '../client/types.ts'
import type { Notices } from './output/notices.ts'
import type { Output, TextStream } from './output/output.ts'

/** stdin, as far as the command line uses it. */
export interface InputStream extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean
}

/** A terminal that a whole screen can be drawn on. */
export interface Terminal {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
}

/** A signal by which a person or a system ends a program. */
export type EndingSignal = 'SIGINT' | 'SIGTERM'

/** What surrounds a call of the command line; the process gives the real ones, tests give their own. */
export interface Surroundings {
  readonly stdout: TextStream
  readonly stderr: TextStream
  readonly stdin: InputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly connect: (options: ConnectOptions) => Promise<ConnectResult>
  /** The terminal of this process, where stdin and stdout are one. */
  readonly terminal?: Terminal | undefined
  /** Calls the listener at each of the two signals, until the returned function is called. */
  onSignal(listener: (signal: EndingSignal) => void): () => void
}

/** The flags every command takes. `timeoutMs` absent: no limit. */
export interface GlobalFlags {
  readonly root?: string
  readonly url?: string
  readonly json: boolean
  readonly color: 'auto' | 'always' | 'never'
  readonly quiet: boolean
  readonly verbose: boolean
  readonly input: boolean
  readonly yes: boolean
  readonly timeoutMs?: number
}

/** How a command reaches its leader. */
export interface ReachOptions {
  /** Start a leader if none runs: on any root (made if need be), on a root that exists, or not at all. */
  readonly spawn: 'any_root' | 'known_root' | 'never'
  /** Default true. */
  readonly reconnect?: boolean
  /** Goes on for as long as it is wanted, however long the connection is lost. Default false. */
  readonly isPatient?: boolean
  /** Instead of the one the flags name. */
  readonly root?: string
  /** As what it is seen by others; default `run`. */
  readonly surface?: string
  /** To be the same client again after losing a connection. */
  readonly clientInstanceId?: string
}

/** What a command body works with. */
export interface CommandContext {
  readonly flags: GlobalFlags
  readonly out: Output
  readonly notices: Notices
  readonly surroundings: Surroundings
  /** Aborted, with a CliFailure as the reason, when `--timeout` has passed or the command is over. */
  readonly signal: AbortSignal
  /** True where a person can be asked: stdin and stderr are terminals and nothing forbids it. */
  readonly canPrompt: boolean
  /** Connects within the time limit or throws a CliFailure. The connection is closed when the command ends. */
  connect(options: ReachOptions): Promise<LeaderConnection>
}

/** What the person typed, as the command's declaration reads it. */
export interface CommandInput {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
}

/**
 * How a command ended. `result` is what `--json` prints; `text` what is printed without it (sanitised on the way).
 * `isPrinted`: the command wrote its own output. `exitCode` default 0.
 */
export type Outcome =
  | { readonly isPrinted: true; readonly exitCode: number }
  | { readonly isPrinted?: false; readonly result: unknown; readonly text: string }

/** A command. It returns its outcome or throws; it never writes to the process's streams itself. */
export type CommandBody = (context: CommandContext, input: CommandInput) => Promise<Outcome>

/** An option of one command: commander's notation, a sentence, and how its value is read (default: as text). */
export interface OptionSpec {
  readonly flags: string
  readonly description: string
  readonly value?: 'duration' | 'count' | readonly string[]
  /** Not for people: help does not show it. */
  readonly isHidden?: boolean
}

/** The declaration of a command; its module is loaded only when it is chosen. */
export interface CommandSpec {
  /** One word, or two for a sub-command. */
  readonly name: string
  /** Commander's notation, empty for none. */
  readonly args: string
  readonly summary: string
  /** Further lines of help: what the arguments may be. */
  readonly details?: string
  readonly options: readonly OptionSpec[]
  readonly examples: readonly [string, string, ...string[]]
  /** Not for people: no list of commands shows it. */
  readonly isHidden?: boolean
  /** The command settles signals and the time limit itself. */
  readonly ownsEnding?: boolean
  readonly load: () => Promise<{ readonly body: CommandBody }>
}
