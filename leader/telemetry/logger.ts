import { createHash } from 'node:crypto'
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino'
import { isHeadwaterError } from '../../schema/errors.ts'
import { RotatingFile } from './rotating-file.ts'

/** A logger as `createLogger` makes it. */
export type { Logger } from 'pino'

/** The least important line that is still written. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** Where lines go and what stands in each of them. */
export interface LoggerOptions {
  /** `stderr`, the path of a rotated file, or a stream of one's own. */
  readonly destination: 'stderr' | { readonly file: string } | { readonly stream: DestinationStream }
  readonly level?: LogLevel
  /** Leader's epoch and root; absent before they are known. */
  readonly epoch?: string
  readonly root?: string
}

/** Keys whose values are words of people and agents, or secrets: never logged, at the top or one or two levels down. */
const NEVER_LOGGED = [
  'text',
  'displayText',
  'content',
  'title',
  'input',
  'output',
  'delta',
  'message',
  'question',
  'answer',
  'token',
  'ticket',
  'key',
  'keyHash',
  'proof',
  'nonce',
  'authorization',
  'headers',
] as const

const REDACTED_PATHS = NEVER_LOGGED.flatMap(key => [key, `*.${key}`, `*.*.${key}`])

/**
 * A logger of JSON lines: `level`, `time` (ms), `msg`, and by name `epoch, root, session_id, turn_id, command_id, replica_id, log_index, code`.
 * Message text is never logged: use `fingerprint`. Source: experience 9.4, BL-22.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { epoch, root } = options
  const base = { ...(epoch === undefined ? {} : { epoch }), ...(root === undefined ? {} : { root }) }
  return pino(
    {
      level: options.level ?? 'info',
      base,
      timestamp: stdTimeFunctions.epochTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
      serializers: { err: describeError, error: describeError },
    },
    openDestination(options.destination),
  )
}

/** A logger that drops everything. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}

/** What may be said of a text: its length and the first 12 hex digits of its SHA-256. */
export function fingerprint(text: string): { readonly chars: number; readonly sha256: string } {
  return { chars: text.length, sha256: createHash('sha256').update(text).digest('hex').slice(0, 12) }
}

function openDestination(target: LoggerOptions['destination']): DestinationStream {
  if (target === 'stderr') return destination({ dest: 2, sync: true })
  return 'file' in target ? new RotatingFile(target.file) : target.stream
}

/** Class, code and place of an error. Its message may quote a user's words, so only a typed refusal's is kept. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = (error as { code?: unknown }).code
  const frames = (error.stack ?? '')
    .split('\n')
    .filter(line => /^\s+at /.test(line))
    .slice(0, 12)
    .map(line => line.trim())
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(isHeadwaterError(error) ? { words: error.message } : {}),
    at: frames,
  }
}
