import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { EXIT_CODES } from '../../../schema/errors.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { commandText } from '../../view/command-text.ts'
import type { CommandBody, CommandContext, EndingSignal } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { finalText } from '../follow/final-text.ts'
import { type FollowedSession, followSession, LOST_AFTER_MS } from '../follow/followed-session.ts'
import { turnExitCode, turnFailure } from '../follow/turn-end.ts'
import { newId } from '../ids.ts'
import { followTurn } from '../run/follow-turn.ts'
import { openRunSession } from '../run/open-session.ts'
import { formatOf, type RunOptions, readRunOptions } from '../run/options.ts'
import { createRunReport, type RunEnd, type RunReport, signalExitCode } from '../run/report.ts'

/** `headwater run`: one turn, headless. Whatever happens, the report ends with how. */
export const body: CommandBody = async (context, input) => {
  const report = createRunReport(context, formatOf(context, input))
  const signals = listenForSignals(context)
  const progress: Progress = { sessionId: null, turn: null }
  try {
    const running = readRunOptions(context, input).then(options =>
      runTurn({ context, options, report, progress, signals }),
    )
    const left = signals.leave.then(signal => leftAlone(context, progress, signal))
    running.catch(() => {})
    const end = await Promise.race([running, left, timeLimit(context)])
    await report.end(end)
    return { isPrinted: true, exitCode: end.exitCode }
  } catch (error) {
    const failure = withWayBack(toFailure(context.signal.aborted ? context.signal.reason : error), progress)
    await report.end({ ...progress, exitCode: failure.exitCode, text: '', failure })
    return { isPrinted: true, exitCode: failure.exitCode }
  } finally {
    signals.close()
  }
}

function timeLimit({ signal }: CommandContext): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** What is known so far, for a run that ends in a failure. */
interface Progress {
  sessionId: string | null
  turn: TurnSnapshot | null
}

interface Running {
  readonly context: CommandContext
  readonly options: RunOptions
  readonly report: RunReport
  readonly progress: Progress
  readonly signals: Signals
}

async function runTurn(running: Running): Promise<RunEnd> {
  const { context, options, report, progress, signals } = running
  const connection = await context.connect({ spawn: 'any_root' })
  progress.sessionId = await openRunSession(context, connection, options)
  const followed = await followSession(context, connection, progress.sessionId, {
    lostAfterMs: LOST_AFTER_MS,
    onFreshness: ({ state }) => report.connectionChanged(state),
  })
  signals.onFirst(followed.poke)
  try {
    await report.opened(connection, followed.current)
    if (signals.first() !== undefined) return leftAlone(context, progress, signals.first()!)
    const turn = await start(running, connection, progress.sessionId)
    if (options.isDetached) return detached(context, report, followed, turn)
    const ended = await followTurn({ ...running, connection, followed, turn, signalled: signals.first })
    progress.turn = ended
    return await endOf(running, connection, followed, ended)
  } finally {
    await followed.close()
  }
}

async function start(
  { context, options, progress }: Running,
  connection: LeaderConnection,
  sessionId: string,
): Promise<TurnSnapshot> {
  const turnId = newId()
  context.notices.progress('starting the turn …')
  const request = { sessionId, turnId, content: { text: options.text } }
  try {
    const { turn } = await connection.startTurn(request, { signal: context.signal })
    progress.turn = turn
    context.notices.progress('')
    context.notices.verbose(`turn ${turnId}`)
    return turn
  } catch (error) {
    const failure = toFailure(error)
    if (failure.code !== 'outcome_unknown') throw error
    throw new CliFailure('outcome_unknown', undefined, {
      detail: { sessionId, turnId },
      next: `headwater wait ${sessionId} --for turn:${turnId}`,
    })
  }
}

async function endOf(
  { context, signals }: Running,
  connection: LeaderConnection,
  followed: FollowedSession,
  turn: TurnSnapshot,
): Promise<RunEnd> {
  const { text, isCut } = await finalText(followed.current, turn.turnId, (id, page) => connection.transcript(id, page))
  if (isCut) context.notices.notice('the answer is very long; its beginning is left out here')
  const signal = signals.first()
  const end = { sessionId: turn.sessionId, turn, text }
  if (signal !== undefined && turn.status !== 'completed') return { ...end, exitCode: signalExitCode(signal) }
  const failure = turnFailure(turn)
  return { ...end, exitCode: turnExitCode(turn), ...(failure === undefined ? {} : { failure }) }
}

async function detached(
  context: CommandContext,
  report: RunReport,
  followed: FollowedSession,
  turn: TurnSnapshot,
): Promise<RunEnd> {
  await report.changed(followed.current)
  context.notices.notice(
    commandText(`the turn goes on; to come back: headwater watch ${turn.sessionId}`, context.flags),
  )
  return { exitCode: EXIT_CODES.ok, sessionId: turn.sessionId, turn, text: `${turn.sessionId}\t${turn.turnId}` }
}

function leftAlone(context: CommandContext, progress: Progress, signal: EndingSignal): RunEnd {
  const { sessionId, turn } = progress
  if (turn !== null)
    context.notices.notice(commandText(`the turn may go on; to look: headwater watch ${sessionId}`, context.flags))
  return { exitCode: signalExitCode(signal), sessionId, turn, text: '' }
}

/** Failures that leave the turn running say how to come back to it. */
function withWayBack(failure: CliFailure, { sessionId, turn }: Progress): CliFailure {
  if (turn === null || (failure.code !== 'timeout' && failure.code !== 'unreachable')) return failure
  return new CliFailure(failure.code, `${failure.message} The turn goes on.`, {
    detail: { sessionId, turnId: turn.turnId },
    next: `headwater watch ${sessionId}`,
  })
}

interface Signals {
  /** The first signal that came. */
  readonly first: () => EndingSignal | undefined
  onFirst(listener: () => void): void
  /** Resolves when the command is to be left at once: at the second signal, or at the first while there is no turn. */
  readonly leave: Promise<EndingSignal>
  close(): void
}

function listenForSignals(context: CommandContext): Signals {
  let first: EndingSignal | undefined
  let onFirst: (() => void) | undefined
  let leave: (signal: EndingSignal) => void = () => {}
  const left = new Promise<EndingSignal>(resolve => {
    leave = resolve
  })
  const off = context.surroundings.onSignal(signal => {
    if (first !== undefined || onFirst === undefined) leave(signal)
    first ??= signal
    onFirst?.()
  })
  return {
    first: () => first,
    onFirst: listener => {
      onFirst = listener
    },
    leave: left,
    close: off,
  }
}
