import { terminalText } from '../../view/terminal-text.ts'
import type { Output, TextStream } from './output.ts'

/** What goes to stderr: everything for people that is not the asked-for data. */
export interface Notices {
  readonly isTerminal: boolean
  readonly hasColour: boolean
  /** Dropped under `-q`. */
  notice(text: string): void
  /** Only under `-v`. */
  verbose(text: string): void
  /** A status that replaces the one before it; only where stderr is a terminal and not under `-q`. Empty: clears it. */
  progress(text: string): void
  /** Never dropped. */
  error(text: string): void
  /** Text whose control sequences are our own. */
  styled(text: string): void
}

/**
 * Takes stderr over. A reader that has gone is ignored: there is nobody left to tell. Where stdout is the same terminal, nothing is written
 * into a line of it that is not whole.
 */
export function createNotices(
  stream: TextStream,
  out: Pick<Output, 'isTerminal' | 'takeMidLine'>,
  level: { quiet: boolean; verbose: boolean; hasColour: boolean },
): Notices {
  const isTerminal = stream.isTTY === true
  const isShared = isTerminal && out.isTerminal
  let hasProgress = false
  let isClosed = false
  stream.on('error', () => {
    isClosed = true
  })
  const write = (text: string) => {
    if (isClosed) return
    if (hasProgress) stream.write(`\r\u001b[K${text}`)
    else stream.write(isShared && out.takeMidLine() ? `\n${text}` : text)
    hasProgress = false
  }
  const line = (text: string) => write(`${terminalText(text).replace(/\n+$/, '')}\n`)
  return {
    isTerminal,
    hasColour: level.hasColour,
    notice: text => {
      if (!level.quiet) line(text)
    },
    verbose: text => {
      if (level.verbose) line(text)
    },
    progress: text => {
      if (!isTerminal || level.quiet || (text === '' && !hasProgress)) return
      write(terminalText(text).replaceAll('\n', ' '))
      hasProgress = text !== ''
    },
    error: line,
    styled: write,
  }
}
