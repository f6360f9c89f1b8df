import { LIMITS } from '../../../schema/limits.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure, usage } from '../failure.ts'

/**
 * The message the words on the command line make up; `-` alone reads it from stdin. Throws a usage failure for none.
 * A long one is sent as an attachment by the client library. Source: C1.
 */
export async function readText(context: CommandContext, words: readonly string[], example: string): Promise<string> {
  const text = words.length === 1 && words[0] === '-' ? await readStdin(context) : words.join(' ')
  if (text.trim() === '') throw usage('The text is missing.', example)
  if (Buffer.byteLength(text) > LIMITS.artifactBytes) {
    throw new CliFailure('too_large', `A text has at most ${LIMITS.artifactBytes / 1024 / 1024} MiB.`)
  }
  return text
}

/** stdin to its end, without the last newline; reading stops as soon as it is certain to be too long. */
async function readStdin({ surroundings }: CommandContext): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of surroundings.stdin) {
    const buffer = typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece)
    pieces.push(buffer)
    bytes += buffer.length
    if (bytes > LIMITS.artifactBytes) break
  }
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
