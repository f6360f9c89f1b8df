import process from 'node:process'
import type { ReadStream, WriteStream } from 'node:tty'
import { type Instance, render } from 'ink'
import type { ReactElement } from 'react'
import { LIMITS } from '../../../schema/limits.ts'
import type { Size } from '../app/app-context.ts'
import type { TerminalControls } from './controls.ts'
import { type EndingSignal, TerminalGuard } from './guard.ts'
import { TerminalInput } from './input.ts'
import type { InputEvent } from './input-event.ts'
import { clipboardText, notificationText, titleText } from './modes.ts'
import { Outlet } from './outlet.ts'
import { ScreenStream } from './screen-stream.ts'

/** What is drawn with. */
export interface HostView<T> {
  readonly size: Size
  /** False only where the terminal says so. */
  readonly isFocused: boolean
  readonly terminal: TerminalControls
  /** Ends it. */
  leave(value: T): void
}

/** What a screen needs of its surroundings. */
export interface HostOptions<T> {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  readonly setsTitle: boolean
  readonly hasMouse: boolean
  /** Keys, pastes and the wheel, one at a time, each after what came before it is drawn. */
  onInput(event: Extract<InputEvent, { kind: 'key' | 'paste' | 'wheel' }>): void
  /** Called anew when something of the view changes. */
  draw(view: HostView<T>): ReactElement
}

/** How it ended: with a value, or by a signal. A terminal that is gone counts as SIGHUP. */
export type HostEnd<T> =
  | { readonly kind: 'left'; readonly value: T }
  | { readonly kind: 'signal'; readonly signal: EndingSignal }

/**
 * Draws with Ink on the terminal until it is left; the terminal is as before when the promise settles. Rejects with what a component threw.
 * Source: experience 7.3, 14.
 */
export function runInk<T>(options: HostOptions<T>): Promise<HostEnd<T>> {
  return new Host(options).run()
}

/** The screen alone says how often it is drawn: two limits one behind the other would make every key late. */
const UNLIMITED = 1_000

class Host<T> {
  readonly #options: HostOptions<T>
  readonly #screen: ScreenStream
  readonly #outlet: Outlet
  readonly #guard: TerminalGuard
  readonly #controls: TerminalControls
  #ink: Instance | undefined
  #isFocused = true
  #title = ''
  #finish: (end: HostEnd<T>) => void = () => {}

  constructor(options: HostOptions<T>) {
    const { stdin, stdout, setsTitle, hasMouse } = options
    this.#options = options
    const onGone = () => this.#finish({ kind: 'signal', signal: 'SIGHUP' })
    this.#screen = new ScreenStream(sizeOf(stdout), () => this.#outlet.pump())
    this.#outlet = new Outlet(stdout, () => this.#screen.takeFrame(), onGone)
    const input = new TerminalInput(stdin, { onEvent: event => this.#onEvent(event), onGone })
    this.#guard = new TerminalGuard({
      input,
      outlet: this.#outlet,
      modes: { setsTitle, hasMouse },
      onSignal: signal => this.#finish({ kind: 'signal', signal }),
      onReturn: () => this.#onReturn(),
    })
    this.#controls = this.#makeControls()
  }

  async run(): Promise<HostEnd<T>> {
    const ended = new Promise<HostEnd<T>>(resolve => {
      this.#finish = resolve
    })
    this.#guard.enter()
    this.#options.stdout.on('resize', this.#resize)
    try {
      const stdout = this.#screen as unknown as NodeJS.WriteStream
      const { stdin } = this.#options
      this.#ink = render(this.#draw(), {
        stdout,
        stdin,
        stderr: stdout,
        exitOnCtrlC: false,
        patchConsole: false,
        maxFps: UNLIMITED,
      })
      const failed = this.#ink.waitUntilExit().then(() => new Promise<never>(() => {}))
      return await Promise.race([ended, failed])
    } finally {
      this.#options.stdout.off('resize', this.#resize)
      this.#screen.destroy()
      this.#ink?.unmount()
      await this.#guard.leave()
    }
  }

  #draw(): ReactElement {
    const { columns, rows } = this.#screen
    return this.#options.draw({
      size: { columns, rows: Math.max(1, rows - 1) },
      isFocused: this.#isFocused,
      terminal: this.#controls,
      leave: value => this.#finish({ kind: 'left', value }),
    })
  }

  #onEvent(event: InputEvent): void {
    if (event.kind === 'focus') {
      this.#isFocused = event.isFocused
      this.#ink?.rerender(this.#draw())
    } else if (event.kind !== 'reply') {
      this.#screen.hurry()
      this.#options.onInput(event)
    } else if (event.reply.what === 'kitty') this.#guard.keysFound()
    else if (event.reply.what === 'attributes') this.#guard.answered()
  }

  readonly #resize = (): void => {
    this.#screen.resize(sizeOf(this.#options.stdout))
    this.#ink?.rerender(this.#draw())
  }

  #onReturn(): void {
    if (this.#options.setsTitle && this.#title !== '') this.#outlet.write(titleText(this.#title))
    this.#screen.forget()
    // The size may have changed while another program was told of it.
    if (process.platform !== 'win32') process.kill(process.pid, 'SIGWINCH')
  }

  #makeControls(): TerminalControls {
    const outlet = this.#outlet
    return {
      setTitle: title => {
        const cut = title.slice(0, LIMITS.terminalTitleChars)
        if (cut === this.#title) return
        this.#title = cut
        if (this.#options.setsTitle) outlet.write(titleText(cut))
      },
      notify: text => void outlet.write(notificationText(text.slice(0, LIMITS.terminalNotificationChars))),
      copy: text => Buffer.byteLength(text) <= LIMITS.terminalCopyBytes && outlet.write(clipboardText(text)),
      lend: use => this.#guard.lend(use),
      redraw: () => this.#screen.forget(),
      suspend: () => void this.#guard.suspend(),
    }
  }
}

function sizeOf({ columns, rows }: WriteStream): { readonly columns: number; readonly rows: number } {
  return { columns: columns || 80, rows: rows || 24 }
}
