import { spawn } from 'node:child_process'
import { BIN } from './leader-process.ts'
import { within } from './wait-for.ts'

/** What a command line call printed and how it ended. */
export interface CliOutcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** How to call: variables on top of this process's environment, text on stdin, and a deadline (default 20 s). */
export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly deadlineMs?: number
  /** The user to run as; only root may choose. */
  readonly uid?: number
}

/** Runs `headwater` with these arguments, as a user would, and waits for its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { ...process.env, ...options.env },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<CliOutcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  try {
    return await within(ended, options.deadlineMs ?? 20_000, `headwater ${args.join(' ')}`)
  } finally {
    child.kill('SIGKILL')
  }
}

/** Runs with `--json` and returns the one line it prints as a value. */
export async function runCliJson(args: readonly string[], options: CliOptions = {}): Promise<unknown> {
  const outcome = await runCli(['--json', ...args], options)
  const lines = outcome.stdout.trimEnd().split('\n')
  if (lines.length !== 1)
    throw new Error(`expected one line, got ${lines.length}: ${outcome.stdout}\n${outcome.stderr}`)
  return JSON.parse(lines[0] as string)
}
