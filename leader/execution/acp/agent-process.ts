import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { LIMITS } from '../../../schema/limits.ts'
import { truncateBytesFromEnd, utf8Bytes } from '../../../schema/text.ts'
import { BackendFailure, type ProcessIdentity } from '../backend.ts'
import { pause, systemClock } from '../clock.ts'
import { endProcessGroup, MARK_VARIABLE, readProcessIdentity } from '../process-identity.ts'

const DRAIN_MS = 300

/** How long an agent may take to be ready, to end a turn that it was told to end, and to end itself at each stage of its end. */
export interface AgentLimits {
  readonly startMs: number
  readonly cancelMs: number
  readonly endStageMs: number
}

/** The limits of an agent that is given none. */
export const AGENT_LIMITS: AgentLimits = {
  startMs: LIMITS.agentStartMs,
  cancelMs: LIMITS.agentCancelMs,
  endStageMs: LIMITS.agentEndStageMs,
}

/** How an agent is started: its command line, where, and with what on top of the leader's environment. */
export interface AgentCommand {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: AgentLimits
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * The environment of an agent: the leader's without anything of Headwater but the root's place. Tokens never reach a child.
 * Source: Z2.
 */
export function readAgentEnvironment(
  leader: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>>,
  mark: string,
): Record<string, string> {
  const inherited: Record<string, string> = {}
  for (const [name, value] of Object.entries(leader)) {
    if (value === undefined || (name.startsWith('HEADWATER_') && name !== 'HEADWATER_ROOT')) continue
    inherited[name] = value
  }
  return { ...inherited, ...extra, [MARK_VARIABLE]: mark }
}

/** An agent's process: the first of a process group of its own. */
export class AgentProcess {
  readonly identity: ProcessIdentity
  /** Resolves when the process has exited and its output was read, or could not be read any more. */
  readonly exited: Promise<void>
  readonly #child: Child
  readonly #limits: AgentLimits
  readonly #errorOutput: () => string
  #ending: Promise<void> | undefined

  private constructor(started: Started, identity: ProcessIdentity, limits: AgentLimits) {
    this.#child = started.child
    this.#errorOutput = started.errorOutput
    this.exited = started.exited
    this.#limits = limits
    this.identity = identity
  }

  /** Starts the agent; a command or folder that does not exist is a BackendFailure that names it. */
  static async start(start: AgentCommand): Promise<AgentProcess> {
    const [file = '', ...args] = start.command
    if (!(await isDirectory(start.cwd))) {
      throw new BackendFailure('backend_error', `The session's folder ${start.cwd} does not exist.`)
    }
    const mark = randomUUID()
    const env = readAgentEnvironment(process.env, start.env, mark)
    const child = spawnQuietly(file, args, start.cwd, env)
    const started = { child, exited: watchExit(child), errorOutput: keepEnd(child.stderr) }
    const pid = await spawned(child, file)
    const identity = await readProcessIdentity(pid, mark)
    return new AgentProcess(started, identity, start.limits)
  }

  get stdin(): Writable {
    return this.#child.stdin
  }

  get stdout(): Readable {
    return this.#child.stdout
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#ending === undefined
  }

  /** How it ended and the last lines of its error output, at most 1 KiB. */
  describeExit(): string {
    const { exitCode, signalCode } = this.#child
    const how = signalCode !== null ? `was ended by ${signalCode}` : `exited with code ${exitCode ?? 'unknown'}`
    const head = `The agent ${how}.`
    const lines = this.#errorOutput().trim().toWellFormed()
    if (lines === '') return head
    return `${head}\n${truncateBytesFromEnd(lines, LIMITS.failureMessageBytes - utf8Bytes(head) - 1)}`
  }

  /** Ends it by end of input, then by SIGTERM, then by SIGKILL to its whole group; resolves when nothing of it is left. */
  end(): Promise<void> {
    this.#ending ??= this.#endInStages(this.#limits.endStageMs, this.#limits.endStageMs, false)
    return this.#ending
  }

  /** For an agent that left a turn unfinished: without the polite first stage, and with what it started outside its group. */
  kill(): Promise<void> {
    this.#ending ??= this.#endInStages(0, this.#limits.endStageMs / 4, true)
    return this.#ending
  }

  async #endInStages(eofMs: number, termMs: number, withEscaped: boolean): Promise<void> {
    this.#child.stdin.end()
    if (!(await this.#exitsWithin(eofMs))) {
      this.#signalGroup('SIGTERM')
      if (!(await this.#exitsWithin(termMs))) this.#signalGroup('SIGKILL')
      await this.exited
    }
    await endProcessGroup(this.identity, { termMs, killMs: LIMITS.agentEndStageMs, withEscaped })
    this.#child.stdout.destroy()
    this.#child.stderr.destroy()
  }

  async #exitsWithin(limitMs: number): Promise<boolean> {
    const timer = new AbortController()
    const late = pause(systemClock, limitMs, timer.signal).then(
      () => false,
      () => false,
    )
    const result = await Promise.race([this.exited.then(() => true), late])
    timer.abort()
    return result
  }

  /** The child has not been reaped, so its number and its group's cannot have been given to anything else. */
  #signalGroup(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    try {
      process.kill(-pid, signal)
    } catch {
      // It exited since.
    }
  }
}

/** A child whose streams are read from the start. */
interface Started {
  readonly child: Child
  readonly exited: Promise<void>
  readonly errorOutput: () => string
}

/** Keeps the last of a stream. Node throws away what nobody listens to when a child exits, so this begins before the first wait. */
function keepEnd(stream: Readable): () => string {
  let end = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    end = (end + text).slice(-LIMITS.agentStderrBytes)
  })
  return () => end
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isDirectory(),
    () => false,
  )
}

/** No stream and no failed signal of a child may ever throw into the leader. */
function spawnQuietly(file: string, args: readonly string[], cwd: string, env: Record<string, string>): Child {
  try {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const emitter of [child, child.stdin, child.stdout, child.stderr]) emitter.on('error', () => {})
    return child
  } catch (error) {
    throw new BackendFailure('backend_exited', `The agent's command could not be started: ${(error as Error).message}`)
  }
}

function spawned(child: Child, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid as number))
    child.once('error', error => {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
      reject(new BackendFailure('backend_exited', `The agent's command ${file} could not be started (${code}).`))
    })
  })
}

/** A descendant may hold the pipes open after the agent itself is gone, so their end is not waited for without a limit. */
async function watchExit(child: Child): Promise<void> {
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))
  await new Promise<void>(resolve => child.once('exit', () => resolve()))
  const timer = new AbortController()
  await Promise.race([closed, pause(systemClock, DRAIN_MS, timer.signal).catch(() => {})])
  timer.abort()
}
