import { VERSION } from '../../../schema/version.ts'
import type { CommandBody, CommandContext, CommandInput, EndingSignal } from '../context.ts'
import { CliFailure, toFailure, usage } from '../failure.ts'
import { readConfig } from '../input/config.ts'
import { parseDuration } from '../input/duration.ts'
import { formatLogLine } from '../output/log-line.ts'
import { chosenRoot, logFileOf, placesHere } from '../reach/here.ts'
import {
  type Leader,
  type LeaderLogger,
  type LeaderModule,
  loadLeader,
  type RootCapability,
} from '../reach/leader-module.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/

/**
 * `headwater serve`: the leader in this very process. Prints one line when it is ready, nothing after it on stdout; the first SIGINT or
 * SIGTERM drains (exit 0), a second one ends at once. Source: E2, E6, R5, R6, interfaces 5.
 */
export const body: CommandBody = async (context, { options }) => {
  const where = readListen(options)
  const signals = listenForEnd(context)
  try {
    const { backends } = await readConfig(context)
    const leader = await loadLeader()
    const capability = await leader.resolveRoot({ path: chosenRoot(context.flags, context.surroundings) })
    const owner = await leader.tryAcquireRootOwner(capability)
    if (owner === undefined) throw new CliFailure('root_owned', undefined, { detail: { root: capability.path } })
    const logger = openLog(context, leader, capability)
    const started = await leader.startLeader({
      owner,
      ...where,
      logger,
      ...(backends === undefined ? {} : { backends }),
    })
    signals.onFirst(() => void started.close().catch(() => {}))
    await announce(context, capability, started)
    await started.closed
    return { isPrinted: true, exitCode: 0 }
  } catch (error) {
    // A signal during the start is a stop like any other, unless something else went wrong as well.
    if (signals.first() !== undefined && toFailure(error).code === 'host_draining')
      return { isPrinted: true, exitCode: 0 }
    throw error
  } finally {
    signals.close()
  }
}

interface Listen {
  readonly port?: number
  readonly host?: string
  readonly idleGraceMs?: number
}

function readListen(options: CommandInput['options']): Listen {
  const { port, host, idleExit } = options as { port?: number; host?: string; idleExit?: string }
  if (port !== undefined && port > 65_535) throw usage('A port is at most 65535.', 'headwater serve --port 0')
  if (host !== undefined && !LOOPBACK.test(host) && options.insecure !== true) {
    throw usage(
      `Listening on ${host} would send everything unencrypted; if that is what you want, add --insecure.`,
      `headwater serve --host ${host} --insecure`,
    )
  }
  const idleGraceMs = idleExit === undefined || idleExit === 'never' ? undefined : parseDuration(idleExit)
  if (idleExit !== undefined && idleExit !== 'never' && idleGraceMs === undefined) {
    throw usage(`--idle-exit takes a duration or never, not "${idleExit}".`, 'headwater serve --idle-exit 5m')
  }
  return {
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(idleGraceMs === undefined ? {} : { idleGraceMs }),
  }
}

/** Every line goes into the log file of the root, and to stderr: readable in a terminal, as it is elsewhere. */
function openLog(context: CommandContext, leader: LeaderModule, { rootId }: RootCapability): LeaderLogger {
  const file = new leader.RotatingFile(logFileOf(placesHere(context.surroundings.env), rootId))
  const { notices } = context
  const stream = {
    write(line: string) {
      file.write(line)
      notices.notice(notices.isTerminal ? formatLogLine(line.trimEnd()) : line)
    },
  }
  return leader.createLogger({ destination: { stream } })
}

async function announce(context: CommandContext, { rootId }: RootCapability, leader: Leader): Promise<void> {
  const { url, socketPath, hostEpoch } = leader
  const port = url === null ? null : Number(new URL(url).port)
  const ready = { rootId, hostEpoch, pid: process.pid, url, socketPath, port, version: VERSION }
  if (context.flags.json) await context.out.json({ ok: true, result: ready })
  else await context.out.line(url ?? socketPath)
}

interface Ending {
  readonly first: () => EndingSignal | undefined
  /** Calls the listener at the first signal, also one that has come already. */
  onFirst(listener: () => void): void
  close(): void
}

function listenForEnd(context: CommandContext): Ending {
  let first: EndingSignal | undefined
  let listener: (() => void) | undefined
  const off = context.surroundings.onSignal(signal => {
    // The second signal means now: the next start recovers what this one did not finish.
    if (first !== undefined) process.exit(signal === 'SIGINT' ? 130 : 143)
    first = signal
    context.notices.notice('stopping; once more ends at once')
    listener?.()
  })
  return {
    first: () => first,
    onFirst(call) {
      listener = call
      if (first !== undefined) call()
    },
    close: off,
  }
}
