import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { within } from './wait-for.ts'

/** The command line program as a user runs it: plain JavaScript under bare node. */
export const BIN = fileURLToPath(new URL('../../replica/cli/bin.js', import.meta.url))

/** What `serve --json` prints when the leader is ready. */
export interface ReadyLine {
  readonly rootId: string
  readonly hostEpoch: string
  readonly pid: number
  readonly url: string
  readonly socketPath: string
  readonly port: number
  readonly version: string
}

/** How a leader is started: its root, further arguments, and variables on top of this process's environment. */
export interface LeaderOptions {
  readonly root: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Program and arguments in front of node: a network namespace, say. */
  readonly prefix?: readonly string[]
  readonly readyMs?: number
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A leader in a process of its own. */
export interface LeaderProcess {
  readonly pid: number
  /** Rejects with what the process printed if it ends before it is ready. */
  readonly ready: Promise<ReadyLine>
  readonly exited: Promise<Exit>
  readonly stderr: () => string
  /** Lines on stdout after the ready line; there should be none. */
  readonly extraLines: () => readonly string[]
  signal(signal: NodeJS.Signals): void
  /** SIGKILL, then waits for the end. */
  kill(): Promise<Exit>
  /** SIGTERM, then waits for the end. */
  stop(deadlineMs?: number): Promise<Exit>
}

const STDERR_KEPT_CHARS = 64 * 1024
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts `headwater serve --json` on a root and any free port. No leader outlives the test's process. */
export function spawnLeader(options: LeaderOptions): LeaderProcess {
  const serve = [
    process.execPath,
    BIN,
    '--root',
    options.root,
    '--json',
    'serve',
    '--port',
    '0',
    ...(options.args ?? []),
  ]
  const [program = process.execPath, ...args] = [...(options.prefix ?? []), ...serve]
  const child = spawn(program, args, {
    env: { ...process.env, HEADWATER_TESTING: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const exited = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    return { code, signal } as Exit
  })
  const output = readOutput(child)
  const ready = within(firstLine(child, output, exited), options.readyMs ?? 20_000, 'the ready line of serve')
  ready.catch(() => {})
  return {
    pid: child.pid ?? -1,
    ready,
    exited,
    stderr: () => output.stderr,
    extraLines: () => output.lines.slice(1),
    signal: signal => void child.kill(signal),
    kill: () => {
      child.kill('SIGKILL')
      return exited
    },
    stop: (deadlineMs = 15_000) => {
      child.kill('SIGTERM')
      return within(exited, deadlineMs, 'the end of a stopped leader')
    },
  }
}

/** Starts a leader and waits until it is ready. */
export async function startLeaderProcess(
  options: LeaderOptions,
): Promise<LeaderProcess & { readonly line: ReadyLine }> {
  const leader = spawnLeader(options)
  return { ...leader, line: await leader.ready }
}

interface Output {
  stderr: string
  readonly lines: string[]
  onLine: () => void
}

function readOutput(child: ChildProcess): Output {
  const output: Output = { stderr: '', lines: [], onLine: () => {} }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr = (output.stderr + text).slice(-STDERR_KEPT_CHARS)
  })
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', line => {
      output.lines.push(line)
      output.onLine()
    })
  }
  return output
}

async function firstLine(child: ChildProcess, output: Output, exited: Promise<Exit>): Promise<ReadyLine> {
  const line = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    output.onLine = () => resolve(output.lines[0] as string)
  })
  const ended = exited.then(({ code, signal }) => {
    const printed = [...output.lines, output.stderr].join('\n')
    throw new Error(`the leader ended (${code ?? signal}) before it was ready:\n${printed}`)
  })
  const envelope = JSON.parse(await Promise.race([line, ended])) as { ok: boolean; result: ReadyLine }
  if (envelope.ok !== true) throw new Error(`serve refused: ${JSON.stringify(envelope)}`)
  return envelope.result
}
