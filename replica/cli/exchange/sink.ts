import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'
import type { CommandContext } from '../context.ts'
import { CliFailure } from '../failure.ts'

/** Where an export goes. Each write resolves when more may come. */
export interface Sink {
  /** True where a terminal shows it. */
  readonly isTerminal: boolean
  /** Absent: it is stdout. */
  readonly path?: string
  /** Throws when there is nobody left who reads. */
  write(text: string): Promise<void>
}

/** Somebody who read stdout has gone: nothing is wrong, and nothing goes on. */
export class ReaderGone extends Error {}

/**
 * Writes to stdout, or to a file that is there whole or not at all: what was under its name stays until then. Source: experience 4.1.
 */
export async function writingTo<T>(
  context: CommandContext,
  path: string | undefined,
  work: (sink: Sink) => Promise<T>,
): Promise<T> {
  if (path === undefined || path === '-') return await work(stdoutSink(context))
  return await intoFile(resolve(context.surroundings.cwd, path), work)
}

/** Of what goes to stdout nothing needs to be made harmless but where a terminal shows it. */
function stdoutSink({ out, signal }: CommandContext): Sink {
  return {
    isTerminal: out.isTerminal,
    async write(text) {
      signal.throwIfAborted()
      if (out.isClosed) throw new ReaderGone('the reader has gone')
      await (out.isTerminal ? out.text(text) : out.styled(text))
    },
  }
}

async function intoFile<T>(path: string, work: (sink: Sink) => Promise<T>): Promise<T> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`
  const remove = (): void => rmSync(unfinished, { force: true })
  process.once('exit', remove)
  try {
    const file = await open(unfinished, 'wx', 0o600)
    try {
      const result = await work(fileSink(file, path))
      await file.sync()
      await file.close()
      await rename(unfinished, path)
      return result
    } catch (error) {
      await file.close().catch(() => {})
      remove()
      throw error
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error) {
      throw new CliFailure('unexpected', `${path} cannot be written: ${error.message}`, { detail: { path } })
    }
    throw error
  } finally {
    process.off('exit', remove)
  }
}

function fileSink(file: FileHandle, path: string): Sink {
  return {
    isTerminal: false,
    path,
    async write(text) {
      await file.writeFile(text)
    },
  }
}
