import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { BIN } from '../leader-process.ts'
import { waitFor, within } from '../wait-for.ts'

/** A call of `headwater` that goes on until it is ended. */
export interface CliProcess {
  /** What it has printed so far, without control sequences; in a terminal stdout and stderr are one. */
  readonly screen: () => string
  readonly hasEnded: () => boolean
  readonly exited: Promise<number | null>
  /** Resolves with the place behind the first match in what is printed at or after `from`. */
  seen(text: string | RegExp, options?: { readonly from?: number; readonly deadlineMs?: number }): Promise<number>
  /** Ctrl+C; gives the exit code. */
  interrupt(): Promise<number | null>
  kill(): void
}

const running = new Set<() => void>()
process.once('exit', () => {
  for (const kill of running) kill()
})

/** Starts `headwater` with these arguments in a terminal of its own, as a person would (by `script` of util-linux), or on pipes. */
export function startCliProcess(args: readonly string[], { isTerminal }: { readonly isTerminal: boolean }): CliProcess {
  const words = [process.execPath, BIN, ...args]
  const [program = '', ...rest] = isTerminal ? ['script', '-qefc', words.map(quoted).join(' '), '/dev/null'] : words
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of isTerminal ? [child.stdout, child.stderr] : [child.stdout]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
  }
  child.stderr.resume()
  child.stdin.on('error', () => {})
  let hasEnded = false
  const kill = () => void child.kill('SIGKILL')
  running.add(kill)
  const exited = once(child, 'close').then(([code]) => {
    hasEnded = true
    running.delete(kill)
    return code as number | null
  })
  const screen = () => stripVTControlCharacters(text).replaceAll('\r', '')
  return {
    screen,
    hasEnded: () => hasEnded,
    exited,
    async seen(wanted, { from = 0, deadlineMs = 60_000 } = {}) {
      const look = () => placeBehind(screen(), wanted, from)
      return waitFor(look, { what: `${wanted} on the screen of ${args.join(' ')}`, deadlineMs }).catch(error => {
        throw new Error(`${error.message}; it ends with:\n${screen().slice(-2_000)}`)
      })
    },
    interrupt() {
      if (isTerminal) child.stdin.write('\u0003')
      else child.kill('SIGINT')
      return within(exited, 10_000, `the end of ${args.join(' ')} after Ctrl+C`)
    },
    kill,
  }
}

/** Runs `headwater` in a terminal to its end; anything but exit code 0 is an error. Gives what was on the screen. */
export async function typeCli(...args: readonly string[]): Promise<string> {
  const call = startCliProcess(args, { isTerminal: true })
  const code = await within(call.exited, 60_000, `headwater ${args.join(' ')}`)
  if (code !== 0) throw new Error(`headwater ${args.join(' ')} exited with ${code}:\n${call.screen()}`)
  return call.screen()
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

function placeBehind(screen: string, wanted: string | RegExp, from: number): number | undefined {
  const rest = screen.slice(from)
  const match = typeof wanted === 'string' ? { index: rest.indexOf(wanted), 0: wanted } : wanted.exec(rest)
  return match === null || match.index < 0 ? undefined : from + match.index + match[0].length
}
