import { inertJson, terminalText } from '../../view/terminal-text.ts'

/** A stream of the process, as far as the command line uses it. */
export interface TextStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): boolean
  once(event: 'drain', listener: () => void): unknown
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
  off(event: 'drain', listener: () => void): unknown
}

/**
 * The one owner of stdout. Every write waits for the stream to take it; after the reader has gone (EPIPE) writes are dropped silently
 * and `closed` resolves. Text is sanitised here, so no caller can forget it. Source: Z6, experience 4.1.
 */
export interface Output {
  readonly isTerminal: boolean
  /** Unit: columns; absent when stdout is no terminal. */
  readonly columns: number | undefined
  readonly isClosed: boolean
  readonly closed: Promise<void>
  /** Text that may come from anywhere: control sequences are stripped. */
  text(text: string): Promise<void>
  /** `text` and a newline, unless it ends with one. */
  line(text: string): Promise<void>
  /** Text whose control sequences are our own: colours in a table, help. The caller has sanitised what it embeds. */
  styled(text: string): Promise<void>
  /** One JSON value on one line. */
  json(value: unknown): Promise<void>
  /** For who writes to the same terminal: whether a line has to be ended first. It counts as ended from then on. */
  takeMidLine(): boolean
  /** Resolves when everything written was taken. */
  flushed(): Promise<void>
}

/** Takes a stream over; nothing else may write to it. */
export function createOutput(stream: TextStream): Output {
  let isClosed = false
  let isMidLine = false
  let tail: Promise<void> = Promise.resolve()
  let close = () => {}
  const closed = new Promise<void>(resolve => {
    close = resolve
  })
  stream.on('error', error => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    isClosed = true
    close()
  })

  const write = (text: string): Promise<void> => {
    if (text === '') return tail
    tail = tail.then(() => {
      isMidLine = !text.endsWith('\n')
      return isClosed ? undefined : taken(stream, text, closed)
    })
    return tail
  }
  return {
    isTerminal: stream.isTTY === true,
    columns: stream.isTTY === true ? stream.columns : undefined,
    get isClosed() {
      return isClosed
    },
    closed,
    text: text => write(terminalText(text)),
    line: text => {
      const clean = terminalText(text)
      return write(clean.endsWith('\n') ? clean : `${clean}\n`)
    },
    styled: write,
    json: value => write(`${inertJson(value)}\n`),
    takeMidLine() {
      const was = isMidLine
      isMidLine = false
      return was
    },
    flushed: () => tail,
  }
}

function taken(stream: TextStream, text: string, closed: Promise<void>): Promise<void> {
  if (stream.write(text)) return Promise.resolve()
  return new Promise(resolve => {
    const done = () => {
      stream.off('drain', done)
      resolve()
    }
    stream.once('drain', done)
    void closed.then(done)
  })
}
