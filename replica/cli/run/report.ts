import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { EXIT_CODES } from '../../../schema/errors.ts'
import type { LeaderConnection } from '../../client/types.ts'
import type { CommandContext } from '../context.ts'
import type { CliFailure } from '../failure.ts'
import { type EventLine, eventLine } from '../follow/event-lines.ts'
import { createLedgerTail, type LedgerTail } from '../follow/ledger-tail.ts'
import { failureEnvelope, printFailure } from '../output/print-failure.ts'
import type { RunFormat } from './options.ts'

/** How a run ended. `turn` null: none was started. */
export interface RunEnd {
  readonly exitCode: number
  readonly sessionId: string | null
  readonly turn: TurnSnapshot | null
  readonly text: string
  readonly failure?: CliFailure
}

/** Prints a run in one of its formats. */
export interface RunReport {
  /** The session is followed from this state on. */
  opened(connection: LeaderConnection, projection: SessionProjection): Promise<void>
  /** The state has changed. */
  changed(projection: SessionProjection): Promise<void>
  connectionChanged(state: string): void
  /** The last thing printed. */
  end(end: RunEnd): Promise<void>
}

/** The report for a format. Source: interfaces 5, experience 4.1. */
export function createRunReport(context: CommandContext, format: RunFormat): RunReport {
  if (format === 'jsonl') return linesReport(context)
  return {
    opened: async () => {},
    changed: async () => {},
    connectionChanged: () => {},
    end: format === 'json' ? end => printEnvelope(context, end) : end => printText(context, end),
  }
}

function resultOf({ exitCode, sessionId, turn, text }: RunEnd) {
  return { type: 'result', exitCode, sessionId, turn, text }
}

/** With a failure the envelope says so and still carries the result. */
async function printEnvelope({ out }: CommandContext, end: RunEnd): Promise<void> {
  const result = resultOf(end)
  await out.json(end.failure === undefined ? { ok: true, result } : { ...failureEnvelope(end.failure), result })
}

async function printText({ out, notices }: CommandContext, end: RunEnd): Promise<void> {
  if (end.text !== '') await out.line(end.text)
  if (end.failure !== undefined) await printFailure(end.failure, { out, notices, isJson: false })
}

function linesReport({ out }: CommandContext): RunReport {
  let tail: LedgerTail | undefined
  let sessionId = ''
  let seq = 0
  let isEnded = false
  const emit = (line: EventLine): Promise<void> => {
    seq = line.seq
    return isEnded ? Promise.resolve() : out.json(line)
  }
  const own = (type: string, fields: object) => out.json(eventLine({ sessionId, seq, at: Date.now() }, type, fields))
  return {
    async opened(connection, projection) {
      sessionId = projection.session.sessionId
      seq = projection.revision
      tail = createLedgerTail(connection, sessionId, projection.revision)
      await own('session.opened', { session: projection.session })
    },
    async changed(projection) {
      await tail?.readTo(projection.revision, emit)
    },
    connectionChanged: state => {
      if (tail !== undefined && !isEnded) void own('connection.changed', { state })
    },
    async end(end) {
      isEnded = true
      const { error } = end.failure === undefined ? {} : failureEnvelope(end.failure)
      await own('result', { ...resultOf(end), ...(error === undefined ? {} : { error }) })
    },
  }
}

/** The exit code of a run that a signal ended. */
export function signalExitCode(signal: 'SIGINT' | 'SIGTERM'): number {
  return signal === 'SIGINT' ? EXIT_CODES.sigint : EXIT_CODES.sigterm
}
