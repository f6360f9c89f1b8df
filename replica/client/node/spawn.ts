import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { LIMITS } from '../../../schema/limits.ts'
import type { SpawnOptions } from '../types.ts'

/** How a candidate ended: the code of its refusal where it printed one, and its words. `exitCode` is null after a signal. */
export interface CandidateEnd {
  readonly hasStarted: boolean
  readonly exitCode: number | null
  readonly code: string | undefined
  readonly message: string
}

/** A process that was launched to become the leader. Resolves when it ends; a leader's candidate may never. */
export interface Candidate {
  readonly ended: Promise<CandidateEnd>
}

/** What a candidate is launched for. `logs`: the folder for what it prints. */
export interface CandidateOptions {
  readonly root: string
  readonly logs: string
  readonly spawn: SpawnOptions
}

/** This package's program: `replica/cli/bin.js` beside its package.json, from the sources as from the build. */
function ownProgram(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'headwater') {
      return join(folder, 'replica', 'cli', 'bin.js')
    }
    if (folder === dirname(folder)) throw new Error('the package of this module was not found')
  }
}

/** The command that makes a candidate. Quiet: what a leader logs is in the root's log, and nobody trims the other. Source: E3, E4. */
export function candidateCommand(root: string, options: SpawnOptions): readonly string[] {
  const program = options.command ?? [process.execPath, ownProgram()]
  const idle = `${options.idleGraceMs ?? LIMITS.idleGraceMs}ms`
  return [...program, 'serve', '--root', root, '--idle-exit', idle, '--json', '--quiet', '--launched']
}

/**
 * Launches a candidate that outlives this process: its own process group, no pipes to us; what it prints goes to a file, which also tells
 * why it ended. Rejects where it cannot be launched. Source: E3, X15.
 */
export async function launchCandidate(options: CandidateOptions): Promise<Candidate> {
  const [program, ...args] = candidateCommand(options.root, options.spawn)
  if (program === undefined) throw new Error('the command to start a leader is empty')
  await mkdir(options.logs, { recursive: true, mode: 0o700 })
  const name = createHash('sha256').update(options.root).digest('hex').slice(0, 16)
  const path = join(options.logs, `start-${name}.log`)
  const log = await open(path, 'a', 0o600)
  try {
    const { size } = await log.stat()
    if (size > LIMITS.candidateLogBytes) await log.truncate(0)
    const from = size > LIMITS.candidateLogBytes ? 0 : size
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      // Our own program needs no folder, and must not keep one from being unmounted.
      ...(options.spawn.command === undefined ? { cwd: '/' } : {}),
      // Started from inside an agent, it must not be ended with what that agent leaves behind.
      env: { ...process.env, HEADWATER_PROCESS_MARK: undefined, ...options.spawn.env },
      windowsHide: true,
    })
    child.unref()
    return { ended: whenEnded(child, path, from) }
  } finally {
    await log.close()
  }
}

async function whenEnded(child: ChildProcess, path: string, from: number): Promise<CandidateEnd> {
  const failure = await new Promise<Error | undefined>(resolve => {
    child.once('error', resolve)
    child.once('exit', () => resolve(undefined))
  })
  if (failure !== undefined) return { hasStarted: false, exitCode: null, code: undefined, message: failure.message }
  const { code, message } = readRefusal(await readFrom(path, from))
  const words = message ?? `it ended with ${child.signalCode ?? `exit code ${child.exitCode}`}; see ${path}`
  return { hasStarted: true, exitCode: child.exitCode, code, message: words }
}

async function readFrom(path: string, from: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return ''
  try {
    const buffer = Buffer.alloc(LIMITS.logTailBytes)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** The refusal among what a candidate printed: the last `--json` envelope with an error. */
function readRefusal(text: string): { readonly code?: string; readonly message?: string } {
  for (const line of text.split('\n').reverse()) {
    if (!line.startsWith('{"ok":false')) continue
    try {
      const { error } = JSON.parse(line) as { error?: { code?: unknown; message?: unknown } }
      if (typeof error?.code === 'string') return { code: error.code, message: String(error.message ?? error.code) }
    } catch {
      // A torn line tells nothing.
    }
  }
  return {}
}
