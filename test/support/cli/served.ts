import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { isolatedEnvironment } from '../environment.ts'
import { BIN, type LeaderProcess, startLeaderProcess } from '../leader-process.ts'
import { runCli } from '../run-cli.ts'
import { testTempDir } from '../temp-dir.ts'
import { waitFor } from '../wait-for.ts'

/** A line of jsonl output. */
export type Line = Record<string, unknown> & { type: string; seq: number }

/** A root with a leader, and the command line on it. */
export async function served() {
  const directory = testTempDir('cli')
  const env = isolatedEnvironment(directory)
  const root = join(directory, 'root')
  const leaders: LeaderProcess[] = []
  onTestFinished(async () => void (await Promise.all(leaders.map(leader => leader.kill()))))
  const start = async () => {
    const leader = await startLeaderProcess({ root, env })
    leaders.push(leader)
    return leader
  }
  const cli = (args: readonly string[], options: { stdin?: string } = {}) =>
    runCli(['--root', root, ...args], { env, ...options })
  const json = async (...args: string[]) => JSON.parse((await cli(['--json', ...args])).stdout)
  const newSession = async () => (await cli(['session', 'new'])).stdout.trim()
  return { env, root, leader: await start(), start, cli, json, newSession }
}

/** A call that goes on: what it printed so far, and its end. */
export function background(root: string, env: Readonly<Record<string, string>>, args: readonly string[]) {
  const child = spawn(process.execPath, [BIN, '--root', root, ...args], { env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdin.end()
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    lines: () => parseLines(stdout),
    seen: (text: string) => waitFor(() => stdout.includes(text), { what: `"${text}" in ${args.join(' ')}` }),
  }
}

/** The lines of jsonl output. */
export function parseLines(text: string): Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as Line)
}
