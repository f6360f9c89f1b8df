import pc from 'picocolors'
import { terminalLine } from '../../view/terminal-text.ts'
import { hasColour } from '../output/has-colour.ts'
import { textWidth } from '../output/table.ts'

/** What the demo prints to. */
export interface Screen {
  readonly isTerminal: boolean
  step(title: string): void
  say(text: string): void
  /** Something that was read and found to be so; throws where it was not. */
  verified(what: string, isSo: boolean): void
  /** Two lines that show the same text as it arrives at two replicas; `end` leaves the last state standing. */
  twins(names: readonly [string, string]): { show(which: 0 | 1, text: string): void; end(): void }
}

/** A screen on stdout: live in a terminal, plain lines elsewhere. */
export function createScreen(stdout: NodeJS.WriteStream, env: Readonly<Record<string, string | undefined>>): Screen {
  const isTerminal = stdout.isTTY === true
  const { bold, dim, green, red } = pc.createColors(hasColour({ flag: undefined, env, isTerminal }))
  const write = (text: string) => void stdout.write(text)
  let number = 0
  return {
    isTerminal,
    step(title) {
      number += 1
      write(`\n${bold(`${number}. ${title}`)}\n`)
    },
    say: text => write(`   ${text}\n`),
    verified(what, isSo) {
      write(`   ${isSo ? green('✓') : red('✗')} ${what}\n`)
      if (!isSo) throw new Error(`not so: ${what}`)
    },
    twins(names) {
      const texts: [string, string] = ['', '']
      const pieces: [number, number] = [0, 0]
      let isDrawn = false
      const room = isTerminal ? Math.max(20, (stdout.columns || 80) - 12) : Number.POSITIVE_INFINITY
      const line = (i: 0 | 1) => `   ${dim(`${names[i]} │`)} ${shortened(texts[i], room)}`
      const draw = () => {
        write(`${isDrawn ? '\u001b[2A' : ''}\r\u001b[K${line(0)}\n\r\u001b[K${line(1)}\n`)
        isDrawn = true
      }
      return {
        show(which, text) {
          if (text === texts[which]) return
          texts[which] = text
          pieces[which] += 1
          if (isTerminal) draw()
        },
        end() {
          if (!isTerminal) for (const i of [0, 1] as const) write(`${line(i)}  ${dim(`(in ${pieces[i]} pieces)`)}\n`)
        },
      }
    },
  }
}

/** The end of a text that fits into one line. */
function shortened(text: string, room: number): string {
  const line = terminalLine(text)
  return textWidth(line) <= room ? line : `…${line.slice(1 - room)}`
}
