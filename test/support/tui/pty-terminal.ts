import { type IPty, spawn } from '@lydell/node-pty'
import xterm, { type IBufferCell, type IModes, type Terminal as Screen } from '@xterm/headless'
import { waitFor } from '../wait-for.ts'
import { keyBytes } from './key-bytes.ts'

/** What runs in the terminal: program and arguments, its environment (nothing is added but TERM), and the size in cells. */
export interface TerminalOptions {
  readonly argv: readonly [string, ...string[]]
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** The terminal knows the kitty keyboard protocol; default: like xterm, it does not. */
  readonly hasKittyKeys?: boolean
}

/** How the program ended; `signal` 0: by itself. */
export interface TerminalExit {
  readonly code: number
  readonly signal: number
}

/** How a cell looks. `colour` −1: the terminal's own. */
export interface CellStyle {
  readonly text: string
  readonly colour: number
  readonly isBold: boolean
  readonly isDim: boolean
  readonly isInverse: boolean
  readonly isUnderlined: boolean
}

/** A cell and where it stands; `width` is 1 or 2 columns. */
export interface PlacedCell extends CellStyle {
  readonly column: number
  readonly width: number
}

/** A real pseudo-terminal with a screen that understands what is written. It does not outlive the test. */
export interface TestTerminal {
  readonly pid: number
  readonly exited: Promise<TerminalExit>
  /** The rows that are seen, without blanks at their ends. */
  screen(): string
  /** Everything the normal screen holds, what was scrolled out of sight first. */
  scrollback(): string
  /** Where the text is first seen; throws if it is not. */
  styleOf(text: string): CellStyle
  /** What is seen, cell by cell; the second half of a wide character is left out. */
  cells(): readonly (readonly PlacedCell[])[]
  /** What programs may have changed about the terminal. */
  modes(): IModes & {
    readonly isAlternate: boolean
    readonly isCursorHidden: boolean
    readonly title: string
    /** How often the kitty keyboard protocol was asked for and not given back. */
    readonly kittyKeys: number
  }
  press(...chords: readonly string[]): void
  type(text: string): void
  /** As a terminal pastes: in brackets if the program asked for them. */
  paste(text: string): void
  /** Tells the program of the focus, if it asked for that. */
  focus(isFocused: boolean): void
  resize(columns: number, rows: number): void
  /** Waits for what is seen; the screen is part of the error. */
  waitFor(seen: string | RegExp | ((screen: string) => unknown), deadlineMs?: number): Promise<void>
  /** Resolves at once when the screen shows the text, without waiting between looks. */
  seen(text: string): Promise<void>
  /** All that was written so far. */
  bytes(): Buffer
  /** Waits until nothing was written for so long. */
  idle(ms: number, deadlineMs?: number): Promise<void>
  /** Stops reading what the program writes, until the returned function is called. */
  stall(): () => void
  kill(signal: NodeJS.Signals): void
  dispose(): Promise<void>
}

/** Opens a terminal and starts the program in it. Whoever opens it disposes of it. */
export function startTerminal(options: TerminalOptions): TestTerminal {
  const { argv, columns = 80, rows = 24, env = process.env, cwd } = options
  const [file, ...args] = argv
  const screen = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 5_000,
    allowProposedApi: true,
    windowOptions: { pushTitle: true, popTitle: true },
  })
  const pty = spawn(file, args, {
    cols: columns,
    rows,
    name: 'xterm-256color',
    encoding: null,
    env: { ...env, TERM: 'xterm-256color' },
    ...(cwd === undefined ? {} : { cwd }),
  })
  const terminal = new PtyTerminal(pty, screen)
  if (options.hasKittyKeys === true) terminal.offerKittyKeys()
  return terminal
}

class PtyTerminal implements TestTerminal {
  readonly exited: Promise<TerminalExit>
  readonly #pty: IPty
  readonly #screen: Screen
  readonly #written: Buffer[] = []
  #title = ''
  #kittyKeys = 0
  #writtenAt = performance.now()
  #unparsed = 0
  readonly #parsed: (() => void)[] = []
  #hasExited = false

  constructor(pty: IPty, screen: Screen) {
    this.#pty = pty
    this.#screen = screen
    pty.onData(data => this.#take(data as unknown as Buffer))
    screen.onData(answer => this.#send(answer))
    screen.onTitleChange(title => {
      this.#title = title
    })
    this.exited = new Promise(resolve => {
      pty.onExit(({ exitCode, signal = 0 }) => {
        this.#hasExited = true
        resolve({ code: exitCode, signal })
      })
    })
  }

  offerKittyKeys(): void {
    const count = (by: number) => () => {
      this.#kittyKeys += by
      return true
    }
    const { parser } = this.#screen
    parser.registerCsiHandler({ prefix: '>', final: 'u' }, count(1))
    parser.registerCsiHandler({ prefix: '<', final: 'u' }, count(-1))
    parser.registerCsiHandler({ prefix: '?', final: 'u' }, () => {
      this.#send('\u001b[?0u')
      return true
    })
  }

  get pid(): number {
    return this.#pty.pid
  }

  screen(): string {
    const { active } = this.#screen.buffer
    return this.#lines(active.baseY, active.baseY + this.#screen.rows, active)
  }

  scrollback(): string {
    const { normal } = this.#screen.buffer
    return this.#lines(0, normal.length, normal)
  }

  styleOf(text: string): CellStyle {
    const { active } = this.#screen.buffer
    const rows = this.screen().split('\n')
    const y = rows.findIndex(row => row.includes(text))
    if (y === -1) throw new Error(`not on the screen: ${text}\n${this.screen()}`)
    const line = active.getLine(active.baseY + y)
    const at = (rows[y] as string).indexOf(text)
    for (let x = 0, chars = 0; x < this.#screen.cols; x++) {
      const cell = line?.getCell(x)
      if (cell === undefined) break
      if (chars === at && cell.getWidth() > 0) return styleOf(cell)
      if (cell.getWidth() > 0) chars += cell.getChars().length || 1
    }
    throw new Error(`no cell holds the beginning of: ${text}`)
  }

  cells(): readonly (readonly PlacedCell[])[] {
    const { active } = this.#screen.buffer
    return Array.from({ length: this.#screen.rows }, (_, y) => {
      const line = active.getLine(active.baseY + y)
      return Array.from({ length: this.#screen.cols }, (_unused, column) => line?.getCell(column)).flatMap(
        (cell, column) =>
          cell === undefined || cell.getWidth() === 0 ? [] : [{ ...styleOf(cell), column, width: cell.getWidth() }],
      )
    })
  }

  modes(): ReturnType<TestTerminal['modes']> {
    const core = (this.#screen as unknown as { _core: { coreService: { isCursorHidden: boolean } } })._core
    const { modes } = this.#screen
    return {
      ...Object.fromEntries(MODE_NAMES.map(name => [name, modes[name]])),
      isAlternate: this.#screen.buffer.active.type === 'alternate',
      isCursorHidden: core.coreService.isCursorHidden,
      title: this.#title,
      kittyKeys: this.#kittyKeys,
    } as ReturnType<TestTerminal['modes']>
  }

  press(...chords: readonly string[]): void {
    for (const chord of chords) this.#send(keyBytes(chord))
  }

  type(text: string): void {
    this.#send(text)
  }

  paste(text: string): void {
    const sent = text.replace(/\r?\n/g, '\r')
    this.#send(this.#screen.modes.bracketedPasteMode ? `\u001b[200~${sent}\u001b[201~` : sent)
  }

  focus(isFocused: boolean): void {
    if (this.#screen.modes.sendFocusMode) this.#send(isFocused ? '\u001b[I' : '\u001b[O')
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  async waitFor(seen: string | RegExp | ((screen: string) => unknown), deadlineMs = 10_000): Promise<void> {
    const isSeen = () => {
      const text = this.screen()
      return typeof seen === 'string' ? text.includes(seen) : seen instanceof RegExp ? seen.test(text) : seen(text)
    }
    await waitFor(isSeen, { deadlineMs, what: String(seen) }).catch(error => {
      const end = this.#hasExited ? ' (the program has ended)' : ''
      throw new Error(`${error.message}; the screen${end}:\n${this.screen()}`, { cause: error })
    })
  }

  async seen(text: string): Promise<void> {
    while (!this.screen().includes(text)) await new Promise<void>(resolve => this.#parsed.push(resolve))
  }

  bytes(): Buffer {
    return Buffer.concat(this.#written)
  }

  async idle(ms: number, deadlineMs = 10_000): Promise<void> {
    const isIdle = () => this.#unparsed === 0 && performance.now() - this.#writtenAt >= ms
    await waitFor(isIdle, { deadlineMs, what: `no byte for ${ms} ms` })
  }

  stall(): () => void {
    this.#pty.pause()
    return () => this.#pty.resume()
  }

  kill(signal: NodeJS.Signals): void {
    this.#pty.kill(signal)
  }

  async dispose(): Promise<void> {
    if (!this.#hasExited) this.#pty.kill('SIGKILL')
    this.#pty.resume()
    await this.exited
    this.#screen.dispose()
  }

  #take(bytes: Buffer): void {
    this.#written.push(bytes)
    this.#writtenAt = performance.now()
    this.#unparsed++
    this.#screen.write(bytes, () => {
      this.#unparsed--
      for (const resolve of this.#parsed.splice(0)) resolve()
    })
  }

  #send(text: string): void {
    if (!this.#hasExited) this.#pty.write(text)
  }

  #lines(from: number, to: number, buffer: Screen['buffer']['active']): string {
    const lines: string[] = []
    for (let y = from; y < to; y++) lines.push(buffer.getLine(y)?.translateToString(true) ?? '')
    return lines.join('\n').trimEnd()
  }
}

const MODE_NAMES = [
  'applicationCursorKeysMode',
  'applicationKeypadMode',
  'bracketedPasteMode',
  'insertMode',
  'mouseTrackingMode',
  'originMode',
  'reverseWraparoundMode',
  'sendFocusMode',
  'synchronizedOutputMode',
  'wraparoundMode',
] as const satisfies readonly (keyof IModes)[]

function styleOf(cell: IBufferCell): CellStyle {
  return {
    text: cell.getChars(),
    colour: cell.isFgDefault() ? -1 : cell.getFgColor(),
    isBold: cell.isBold() !== 0,
    isDim: cell.isDim() !== 0,
    isInverse: cell.isInverse() !== 0,
    isUnderlined: cell.isUnderline() !== 0,
  }
}
