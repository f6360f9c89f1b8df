import { type FileHandle, open, stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { LIMITS } from '../../../../schema/limits.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { CliFailure, usage } from '../../failure.ts'
import { formatLogLine } from '../../output/log-line.ts'
import { chosenRoot, logFileOf, placesHere, rootIdOf } from '../../reach/here.ts'

const DEFAULT_LINES = 100
const LOOK_AGAIN_MS = 200

/** `headwater logs [-f]`: JSON lines as they are, or a readable form of them in a terminal. */
export const body: CommandBody = async (context, { options }) => {
  if (context.flags.url !== undefined) throw usage('The log is a file on the machine of the leader.', 'headwater logs')
  const path = await logPath(context)
  const file = await open(path).catch(() => undefined)
  if (file === undefined)
    throw new CliFailure('not_found', `There is no log at ${path} yet.`, { next: 'headwater serve' })
  try {
    const lines = await lastLines(file, (options.lines as number | undefined) ?? DEFAULT_LINES)
    if (context.flags.json && options.follow !== true) return { result: { path, lines }, text: '' }
    await print(context, lines)
    if (options.follow === true) await follow(context, path, file)
    return { isPrinted: true, exitCode: 0 }
  } finally {
    await file.close()
  }
}

async function logPath(context: CommandContext): Promise<string> {
  const root = chosenRoot(context.flags, context.surroundings)
  const rootId = await rootIdOf(root)
  if (rootId === undefined) throw new CliFailure('not_found', `${root} is no data root.`, { next: 'headwater paths' })
  return logFileOf(placesHere(context.surroundings.env), rootId)
}

async function print({ out }: CommandContext, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return
  await out.text(`${(out.isTerminal ? lines.map(formatLogLine) : lines).join('\n')}\n`)
}

/** The last lines of a file, from at most its last 64 KiB. */
async function lastLines(file: FileHandle, count: number): Promise<string[]> {
  const { size } = await file.stat()
  const from = Math.max(0, size - LIMITS.logTailBytes)
  const text = (await readRange(file, from, size)).toString('utf8')
  const lines = text.split('\n')
  if (from > 0) lines.shift()
  if (lines.at(-1) === '') lines.pop()
  return count === 0 ? [] : lines.slice(-count)
}

async function readRange(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, to - from))
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
  return bytes.subarray(0, bytesRead)
}

/** Prints whole lines as they come; goes over to the new file when the log is rotated. Ends when the command does. */
async function follow(context: CommandContext, path: string, first: FileHandle): Promise<never> {
  let file = first
  let at = (await file.stat()).size
  let rest = ''
  for (;;) {
    const size = (await file.stat()).size
    while (at < size) {
      const bytes = await readRange(file, at, Math.min(size, at + LIMITS.logTailBytes))
      if (bytes.length === 0) break
      at += bytes.length
      const lines = (rest + bytes.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      await print(
        context,
        lines.map(line => Buffer.from(line, 'latin1').toString('utf8')),
      )
    }
    const isReplaced = (await stat(path).catch(() => undefined))?.ino !== (await file.stat()).ino
    if (isReplaced && (await file.stat()).size > at) continue
    const next = isReplaced ? await open(path).catch(() => undefined) : undefined
    if (next !== undefined) {
      if (file !== first) await file.close()
      file = next
      at = 0
      rest = ''
    } else await pause(LOOK_AGAIN_MS, undefined, { signal: context.signal })
  }
}
