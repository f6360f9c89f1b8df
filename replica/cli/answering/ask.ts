import { createInterface } from 'node:readline/promises'
import { terminalLine } from '../../view/terminal-text.ts'
import type { CommandContext } from '../context.ts'

/** Asks on stderr and reads one line from stdin. Undefined: stdin ended. Rejects when the signal is aborted. */
export async function askLine(
  context: Pick<CommandContext, 'surroundings'>,
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted()
  const { stdin, stderr } = context.surroundings
  const lines = createInterface({
    input: stdin as unknown as NodeJS.ReadableStream,
    output: stderr as unknown as NodeJS.WritableStream,
    terminal: stdin.isTTY === true,
  })
  // A terminal in line-editing mode reports Ctrl+C to readline instead of the process.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const ended = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
    // Ctrl+D rejects the question; only an abort from here is passed on.
    const answer = lines.question(`${terminalLine(prompt)} `, { signal }).catch(error => {
      if (signal.aborted) throw error
      return undefined
    })
    return await Promise.race([answer, ended])
  } finally {
    lines.close()
  }
}

/** Asks a yes-or-no question; anything but y or yes is no. */
export async function askYesNo(context: CommandContext, question: string): Promise<boolean> {
  const answer = await askLine(context, `${question} [y/N]`, context.signal)
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}
