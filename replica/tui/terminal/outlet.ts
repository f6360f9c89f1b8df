import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { WriteStream } from 'node:tty'
import { LIMITS } from '../../../schema/limits.ts'

/** What Node's own handle of a terminal offers besides its documented face: without it a slow terminal stops the whole process. */
interface TerminalHandle {
  readonly fd?: number
  setBlocking?(isBlocking: boolean): number
}

/** Ends a sequence of which only the beginning was written. */
const CANCEL = '\u0018'
/** How often, and for how long each time, a full terminal is asked again when the process ends. */
const LAST_TRIES = 20
const LAST_TRY_MS = 10

/**
 * The way to the terminal: one piece is on its way at a time, so that a slow terminal gets what is newest and not all that ever was. Short
 * things (titles, bells) wait in order, before the next frame.
 */
export class Outlet {
  readonly #stdout: WriteStream
  readonly #takeFrame: () => string
  readonly #onGone: () => void
  #waiting = ''
  #isBusy = false
  #isHeld = false
  #isOpen = false
  #onFree: () => void = () => {}

  /** `takeFrame` gives the newest frame, '' when nothing changed; `onGone` is called when the terminal takes nothing more. */
  constructor(stdout: WriteStream, takeFrame: () => string, onGone: () => void) {
    this.#stdout = stdout
    this.#takeFrame = takeFrame
    this.#onGone = onGone
  }

  /** Something is on its way: what is written past it now lands in its middle. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Takes the terminal, beginning with `text`. */
  open(text: string): void {
    if (this.#isOpen) return
    this.#isOpen = true
    // For good: what is on its way when the terminal goes fails later.
    if (!this.#stdout.listeners('error').includes(this.#onGone)) this.#stdout.on('error', this.#onGone)
    this.#setBlocking(false)
    this.#waiting = text
    this.pump()
  }

  /** Nothing is on its way, or the terminal took nothing for so long. */
  async settled(limitMs: number): Promise<void> {
    if (!this.#isBusy) return
    const free = new Promise<void>(resolve => {
      this.#onFree = resolve
    })
    this.#isHeld = true
    await Promise.race([free, delay(limitMs, undefined, { ref: false })])
    this.#isHeld = false
  }

  /** Gives the terminal back, ending with `text`, which is written before this returns, as far as the terminal takes it. */
  close(text: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#writeNow((this.#isBusy ? CANCEL : '') + this.#waiting + text)
    this.#waiting = ''
    this.#setBlocking(true)
  }

  /** Writes as soon as may be; `false`: too much waits already, the text is dropped. */
  write(text: string): boolean {
    if (!this.#isOpen || this.#waiting.length + text.length > LIMITS.terminalWaitingBytes) return false
    this.#waiting += text
    this.pump()
    return true
  }

  /** Writes what there is unless something is on its way; it goes on by itself when that has arrived. */
  pump(): void {
    if (!this.#isOpen || this.#isBusy || this.#isHeld) return
    const text = this.#waiting + this.#takeFrame()
    this.#waiting = ''
    if (text === '') return
    this.#isBusy = true
    this.#stdout.write(text, error => {
      this.#isBusy = false
      this.#onFree()
      if (!error) this.pump()
    })
  }

  #handle(): TerminalHandle | undefined {
    return (this.#stdout as unknown as { _handle?: TerminalHandle })._handle
  }

  #setBlocking(isBlocking: boolean): void {
    if (process.platform !== 'win32') this.#handle()?.setBlocking?.(isBlocking)
  }

  #writeNow(text: string): void {
    const fd = this.#handle()?.fd ?? (this.#stdout as { fd?: number }).fd
    if (fd === undefined) return
    let rest = Buffer.from(text)
    for (let tries = 0; rest.length > 0 && tries < LAST_TRIES; ) {
      try {
        rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        tries++
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_TRY_MS)
      }
    }
  }
}
