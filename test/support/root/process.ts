import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { within } from '../wait-for.ts'

const HOLDER = fileURLToPath(new URL('./holder.ts', import.meta.url))

/** What a holder says first: whether it got the root, or the code it was refused with. */
export interface HolderAnswer {
  readonly got?: boolean
  readonly rootId?: string
  readonly code?: string
  readonly message?: string
}

/** A process that holds a root, or was refused it. */
export interface RootProcess {
  readonly pid: number
  readonly first: Promise<HolderAnswer>
  /** Sends `prove` or `close` and gives its answer: `{done}` or `{code}`. */
  ask(line: 'prove' | 'close'): Promise<unknown>
  signal(signal: NodeJS.Signals): void
  /** SIGKILL, then waits for the end. */
  kill(): Promise<void>
}

/** Starts a process that tries to take a root; it does not outlive the running test. `prefix`: a network namespace, say. */
export function spawnHolder(path: string, purpose: 'owner' | 'reader', prefix: readonly string[] = []): RootProcess {
  const [program = '', ...args] = [...prefix, process.execPath, '--import', 'tsx', HOLDER, path, purpose]
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  child.stdin.on('error', () => {})
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const next = lineReader(child)
  return {
    pid: child.pid ?? -1,
    first: next() as Promise<HolderAnswer>,
    ask: line => {
      child.stdin.write(`${line}\n`)
      return next()
    },
    signal: signal => void child.kill(signal),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function lineReader(child: ChildProcess): () => Promise<unknown> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  return async () => {
    const { value, done } = await within(lines.next(), 20_000, 'an answer of a root holder')
    if (done === true) throw new Error('a root holder ended without an answer')
    return JSON.parse(value)
  }
}
