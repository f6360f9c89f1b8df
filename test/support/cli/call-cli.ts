import { PassThrough } from 'node:stream'
import type { EndingSignal, Surroundings } from '../../../replica/cli/context.ts'
import { runCommandLine } from '../../../replica/cli/run-command-line.ts'
import { waitFor } from '../wait-for.ts'
import type { FakeLeader } from './fake-leader.ts'

/** A stream whose text a test reads. */
class RecordedStream extends PassThrough {
  readonly isTTY: boolean
  readonly columns = 80
  text = ''

  constructor(isTTY: boolean) {
    super()
    this.isTTY = isTTY
    this.setEncoding('utf8')
    this.on('data', (piece: string) => {
      this.text += piece
    })
  }
}

/** How a call is made. */
export interface CallOptions {
  readonly leader?: FakeLeader
  readonly connect?: Surroundings['connect']
  readonly env?: Readonly<Record<string, string>>
  /** Text on stdin, then its end; absent: an end at once, or a person who types with `type` in a terminal. */
  readonly stdin?: string
  readonly isTerminal?: boolean
  readonly cwd?: string
}

/** A call of the command line that runs in this process. */
export interface CliCall {
  readonly ended: Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  readonly stdout: () => string
  readonly stderr: () => string
  signal(signal: EndingSignal): void
  /** What a person types, with the Enter key. */
  type(line: string): void
  /** The reader of stdout goes away. */
  closeStdout(): void
  seen(text: string, where?: 'stdout' | 'stderr'): Promise<void>
}

/** Starts a call. */
export function startCli(args: readonly string[], options: CallOptions = {}): CliCall {
  const isTerminal = options.isTerminal === true
  const stdout = new RecordedStream(isTerminal)
  const stderr = new RecordedStream(isTerminal)
  const stdin = Object.assign(new PassThrough(), { isTTY: isTerminal })
  if (options.stdin !== undefined) stdin.end(options.stdin)
  else if (!isTerminal) stdin.end()
  const listeners = new Set<(signal: EndingSignal) => void>()
  const surroundings = {
    stdout,
    stderr,
    stdin,
    env: { XDG_CONFIG_HOME: '/nowhere', XDG_DATA_HOME: '/nowhere', ...options.env },
    cwd: options.cwd ?? '/somewhere',
    connect:
      options.connect ??
      options.leader?.connect ??
      (async () => ({ kind: 'unavailable', reason: 'none runs' }) as const),
    onSignal(listener: (signal: EndingSignal) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  } as unknown as Surroundings
  const ended = runCommandLine(args, surroundings).then(code => ({ code, stdout: stdout.text, stderr: stderr.text }))
  return {
    ended,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    signal: signal => {
      for (const listener of [...listeners]) listener(signal)
    },
    type: line => void stdin.write(`${line}\n`),
    closeStdout: () => {
      const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
      stdout.write = () => {
        queueMicrotask(() => stdout.emit('error', gone))
        return false
      }
    },
    seen: async (text, where = 'stdout') =>
      void (await waitFor(() => (where === 'stdout' ? stdout : stderr).text.includes(text), {
        what: `"${text}" on ${where}`,
      })),
  }
}

/** Makes a call and waits for its end. */
export async function callCli(args: readonly string[], options: CallOptions = {}) {
  return startCli(args, options).ended
}
