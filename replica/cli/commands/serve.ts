import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { VERSION } from '../../../schema/version.ts'
import type { CommandBody, CommandContext, CommandInput, EndingSignal } from '../context.ts'
import { CliFailure, toFailure, usage } from '../failure.ts'
import { readConfig } from '../input/config.ts'
import { parseDuration } from '../input/duration.ts'
import { formatLogLine } from '../output/log-line.ts'
import { printFailure } from '../output/print-failure.ts'
import { chosenRoot, logFileOf, placesHere } from '../reach/here.ts'
import {
  type Leader,
  type LeaderLogger,
  type LeaderModule,
  loadLeader,
  type RootCapability,
} from '../reach/leader-module.ts'

const EXAMPLE = 'headwater serve --root ./data'
const TLS_EXAMPLE = 'headwater serve --tls-cert cert.pem --tls-key key.pem'
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/

/**
 * `headwater serve`: the leader in this very process. Prints one line when it is ready, nothing after it on stdout; the first SIGINT or
 * SIGTERM drains (exit 0), a second one ends at once. Source: E2, E6, R5, R6, interfaces 5.
 */
export const body: CommandBody = async (context, { options }) => {
  if (context.flags.url !== undefined) throw usage('serve leads a root of this machine; it takes no --url.', EXAMPLE)
  const where = await readListen(options)
  const signals = listenForEnd(context)
  try {
    const { leader, capability } = await start(context, where)
    signals.onFirst(() => void leader.close().catch(() => {}))
    await announce(context, capability, leader)
    return { isPrinted: true, exitCode: await exitCodeOf(context, leader) }
  } finally {
    signals.close()
  }
}

interface Listen {
  readonly port: number | 'root'
  readonly host?: string
  readonly isInsecure?: boolean
  readonly idleGraceMs?: number
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly publicUrl?: string
  readonly allowedHosts?: readonly string[]
  /** A port that is busy is done without: the client that started this one uses the socket. Source: W1. */
  readonly orSocketAlone: boolean
}

/** The options of `serve` as they are typed. */
interface Typed {
  readonly port?: number
  readonly host?: string
  readonly idleExit?: string
  readonly insecure?: boolean
  readonly launched?: boolean
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly publicUrl?: string
  readonly allowHost?: readonly string[]
}

async function readListen(options: CommandInput['options']): Promise<Listen> {
  const { port = 'root', host, idleExit, insecure, launched, publicUrl, allowHost } = options as Typed
  if (port !== 'root' && port > 65_535) throw usage('A port is at most 65535.', 'headwater serve --port 0')
  const tls = await readTls(options as Typed)
  if (host !== undefined && !LOOPBACK.test(host) && insecure !== true && tls === undefined) {
    throw usage(
      `Listening on ${host} would send everything unencrypted; give --tls-cert and --tls-key, or type --insecure.`,
      `headwater serve --host ${host} --tls-cert cert.pem --tls-key key.pem`,
    )
  }
  const idleGraceMs = idleExit === undefined || idleExit === 'never' ? undefined : parseDuration(idleExit)
  if (idleExit !== undefined && idleExit !== 'never' && idleGraceMs === undefined) {
    throw usage(`--idle-exit takes a duration or never, not "${idleExit}".`, 'headwater serve --idle-exit 5m')
  }
  return {
    port,
    orSocketAlone: launched === true,
    ...(host === undefined ? {} : { host }),
    ...(insecure === true ? { isInsecure: true } : {}),
    ...(idleGraceMs === undefined ? {} : { idleGraceMs }),
    ...(tls === undefined ? {} : { tls }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(allowHost === undefined ? {} : { allowedHosts: allowHost }),
  }
}

/** Certificate and key come together. Source: Z1. */
async function readTls({ tlsCert, tlsKey }: Typed): Promise<{ cert: string; key: string } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) {
    throw usage('--tls-cert and --tls-key come together.', TLS_EXAMPLE)
  }
  const tls = { cert: await readPem(tlsCert), key: await readPem(tlsKey) }
  try {
    createSecureContext(tls)
  } catch (error) {
    throw usage(`${tlsCert} and ${tlsKey} are no certificate with its key: ${reasonOf(error)}`, TLS_EXAMPLE)
  }
  return tls
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw usage(`The file ${path} cannot be read: ${reasonOf(error)}`, TLS_EXAMPLE)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

interface Started {
  readonly leader: Leader
  readonly capability: RootCapability
}

async function start(context: CommandContext, where: Listen): Promise<Started> {
  const { backends: configured } = await readConfig(context)
  const module = await loadLeader()
  const rows = readBackends(module, configured)
  const capability = await module.resolveRoot({ path: chosenRoot(context.flags, context.surroundings) })
  const logger = openLog(context, module, capability)
  const owner = await module.tryAcquireRootOwner(capability)
  if (owner === undefined) throw new CliFailure('root_owned', undefined, { detail: { root: capability.path } })
  const backends = module.createConfiguredBackends(rows, logger)
  return { leader: await module.startLeader({ ...where, owner, logger, backends }), capability }
}

function readBackends(module: LeaderModule, configured: unknown): ReturnType<LeaderModule['readConfiguredBackends']> {
  try {
    return module.readConfiguredBackends(configured)
  } catch (error) {
    const { message } = toFailure(error)
    throw new CliFailure('usage', `The configuration cannot be used: ${message}`, { next: 'headwater paths' })
  }
}

/** Every line goes into the log file of the root, and to stderr: readable in a terminal, as it is elsewhere. */
function openLog(context: CommandContext, module: LeaderModule, { rootId }: RootCapability): LeaderLogger {
  const file = new module.RotatingFile(logFileOf(placesHere(context.surroundings.env), rootId))
  const { notices } = context
  const stream = {
    write(line: string) {
      file.write(line)
      notices.notice(notices.isTerminal ? formatLogLine(line.trimEnd()) : line)
    },
  }
  return module.createLogger({ destination: { stream } })
}

async function announce(context: CommandContext, { rootId }: RootCapability, leader: Leader): Promise<void> {
  const { url, socketPath, hostEpoch } = leader
  const port = url === null ? null : Number(new URL(url).port)
  const ready = { rootId, hostEpoch, pid: process.pid, url, socketPath, port, version: VERSION }
  if (context.flags.json) await context.out.json({ ok: true, result: ready })
  else await context.out.line(url ?? socketPath)
}

/** How the leader ended. stdout has had its one line, so a failure is told on stderr alone. */
async function exitCodeOf({ out, notices }: CommandContext, leader: Leader): Promise<number> {
  try {
    await leader.closed
    return 0
  } catch (error) {
    const known = toFailure(error)
    // Past the shutdown grace: not a client's time limit, so not its exit code. Source: E6.
    const failure = known.code === 'timeout' ? new CliFailure('unexpected', known.message) : known
    await printFailure(failure, { out, notices, isJson: false })
    return failure.exitCode
  }
}

interface Ending {
  /** Calls the listener at the first signal, also one that has come already. */
  onFirst(listener: () => void): void
  close(): void
}

function listenForEnd(context: CommandContext): Ending {
  let isSignalled = false
  let listener: (() => void) | undefined
  const off = context.surroundings.onSignal((signal: EndingSignal) => {
    // The second signal means now: the next start recovers what this one did not finish.
    if (isSignalled) process.exit(signal === 'SIGINT' ? 130 : 143)
    isSignalled = true
    context.notices.notice('stopping; once more ends at once')
    listener?.()
  })
  return {
    onFirst(call) {
      listener = call
      if (isSignalled) call()
    },
    close: off,
  }
}
