import { EXIT_CODES } from '../../schema/errors.ts'
import type { CommandContext, CommandSpec, GlobalFlags, Outcome, Surroundings } from './context.ts'
import { CliFailure, toFailure, usage } from './failure.ts'
import { hasColour } from './output/has-colour.ts'
import { createNotices, type Notices } from './output/notices.ts'
import { createOutput, type Output } from './output/output.ts'
import { type Parsed, parseArguments } from './program.ts'

/** What was asked for in plain words, for when the arguments themselves cannot be read. */
interface Raw {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly isVerbose: boolean
  readonly color: string | undefined
}

/**
 * Runs one call of the command line and gives its exit code; everything it wrote was taken by then. Never throws.
 * Source: interfaces 5, experience 4.
 */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const raw = readRaw(argv)
  const out = createOutput(surroundings.stdout)
  const { env, stderr } = surroundings
  const notices = createNotices(stderr, out, {
    quiet: raw.isQuiet,
    verbose: raw.isVerbose,
    hasColour: hasColour({ flag: raw.color, env, isTerminal: stderr.isTTY === true }),
  })
  let exitCode: number
  let place: GlobalFlags | undefined
  try {
    const parsed = parseArguments(argv)
    if (parsed.kind === 'command') place = parsed.flags
    exitCode = await runParsed(parsed, { surroundings, out, notices, isJson: raw.isJson })
  } catch (error) {
    const failure = toFailure(error)
    exitCode = failure.exitCode
    const { printFailure } = await import('./output/print-failure.ts')
    await printFailure(failure, { out, notices, isJson: raw.isJson, ...(place === undefined ? {} : { place }) })
  }
  notices.progress('')
  await out.flushed()
  return exitCode
}

interface Streams {
  readonly surroundings: Surroundings
  readonly out: Output
  readonly notices: Notices
  readonly isJson: boolean
}

async function runParsed(parsed: Parsed, streams: Streams): Promise<number> {
  switch (parsed.kind) {
    case 'text':
      await streams.out.text(parsed.text)
      return EXIT_CODES.ok
    case 'no_command': {
      if (streams.isJson) throw usage('A command is missing.', 'headwater status --json')
      if (parsed.isBare && streams.surroundings.terminal !== undefined) return runChosen(await bare(parsed), streams)
      streams.notices.styled(parsed.help)
      return EXIT_CODES.usage
    }
    case 'command':
      return runChosen(parsed, streams)
    default:
      return parsed satisfies never
  }
}

/** No command at all opens the terminal replica. Source: experience 3.1. */
async function bare({ flags }: Extract<Parsed, { kind: 'no_command' }>): Promise<Extract<Parsed, { kind: 'command' }>> {
  const { tuiCommand } = await import('./declare/tui.ts')
  return { kind: 'command', spec: tuiCommand, input: { args: [], options: {} }, flags }
}

async function runChosen(parsed: Extract<Parsed, { kind: 'command' }>, streams: Streams): Promise<number> {
  const { surroundings, out, notices } = streams
  const { flags, spec } = parsed
  const { reachLeader } = await import('./reach/reach-leader.ts')
  const limit = new AbortController()
  const startedAt = performance.now()
  const timer =
    flags.timeoutMs === undefined
      ? undefined
      : setTimeout(() => limit.abort(timeoutFailure(flags.timeoutMs as number)), flags.timeoutMs)
  const reach = reachLeader({ flags, notices, surroundings, signal: limit.signal, startedAt })
  const context: CommandContext = {
    flags,
    out,
    notices,
    surroundings,
    signal: limit.signal,
    canPrompt: flags.input && surroundings.stdin.isTTY === true && notices.isTerminal && isUnset(surroundings.env.CI),
    connect: reach.connect,
  }
  try {
    const running = spec.load().then(({ body }) => body(context, parsed.input))
    const outcome = await (spec.ownsEnding ? running : endedEarly(running, context))
    return await printOutcome(outcome, streams)
  } catch (error) {
    throw withHelp(error, spec)
  } finally {
    clearTimeout(timer)
    limit.abort(new CliFailure('unexpected', 'The command is over.'))
    await reach.close()
  }
}

/** A usage error says where the help of its command is. */
function withHelp(error: unknown, { name }: CommandSpec): unknown {
  if (!(error instanceof CliFailure) || error.code !== 'usage' || error.next !== undefined) return error
  const { message, detail, example } = error
  return new CliFailure('usage', message, {
    detail,
    next: `headwater ${name} --help`,
    ...(example === undefined ? {} : { example }),
  })
}

const isUnset = (value: string | undefined): boolean => value === undefined || value === '' || value === 'false'

function timeoutFailure(ms: number): CliFailure {
  return new CliFailure('timeout', undefined, { detail: { timeoutMs: ms } })
}

/** The body's outcome, unless the time limit, a signal or a reader that has gone ends the command first. */
async function endedEarly(running: Promise<Outcome>, context: CommandContext): Promise<Outcome> {
  let release = () => {}
  const ended = new Promise<Outcome>((resolve, reject) => {
    const onLimit = () => reject(context.signal.reason)
    context.signal.addEventListener('abort', onLimit, { once: true })
    const offSignal = context.surroundings.onSignal(signal =>
      resolve({ isPrinted: true, exitCode: signal === 'SIGINT' ? EXIT_CODES.sigint : EXIT_CODES.sigterm }),
    )
    void context.out.closed.then(() => resolve({ isPrinted: true, exitCode: EXIT_CODES.ok }))
    release = () => {
      offSignal()
      context.signal.removeEventListener('abort', onLimit)
    }
  })
  running.catch(() => {})
  try {
    return await Promise.race([running, ended])
  } finally {
    release()
  }
}

async function printOutcome(outcome: Outcome, streams: Streams): Promise<number> {
  if (outcome.isPrinted) return outcome.exitCode
  streams.notices.progress('')
  if (streams.isJson) await streams.out.json({ ok: true, result: outcome.result })
  else if (outcome.text !== '') await streams.out.line(outcome.text)
  return EXIT_CODES.ok
}

function readRaw(argv: readonly string[]): Raw {
  const end = argv.indexOf('--')
  const flags = end < 0 ? argv : argv.slice(0, end)
  const has = (...names: readonly string[]) => names.some(name => flags.includes(name))
  const color = has('--no-color')
    ? 'never'
    : flags.find((flag, i) => flag.startsWith('--color=') || flags[i - 1] === '--color')?.replace(/^--color=/, '')
  return { isJson: has('--json'), isQuiet: has('-q', '--quiet'), isVerbose: has('-v', '--verbose'), color }
}
