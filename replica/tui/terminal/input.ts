import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadStream } from 'node:tty'
import { LIMITS } from '../../../schema/limits.ts'
import type { InputEvent } from './input-event.ts'
import { EMPTY_INPUT, endInput, heldMs, type InputState, parseInput } from './parse-input.ts'

/** How many turns of the event loop React needs to draw and to put handlers in place after a key. */
const TURNS_BETWEEN_KEYS = 3

/** Where events go. `onGone`: the terminal will send nothing more. */
export interface InputListener {
  onEvent(event: InputEvent): void
  onGone(): void
}

/**
 * Reads keys from a terminal in raw mode. A key is told when what the one before it did is drawn, so that keys which arrive together mean
 * what they mean when they are typed slowly. Source: experience 7.2.
 */
export class TerminalInput {
  readonly #stdin: ReadStream
  readonly #listener: InputListener
  readonly #waiting: InputEvent[] = []
  #decoder = new TextDecoder()
  #state: InputState = EMPTY_INPUT
  #timer: NodeJS.Timeout | undefined
  #isTelling = false
  #isOpen = false

  constructor(stdin: ReadStream, listener: InputListener) {
    this.#stdin = stdin
    this.#listener = listener
  }

  /** Raw mode, and events from now on. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#decoder = new TextDecoder()
    this.#state = EMPTY_INPUT
    this.#stdin.setRawMode(true)
    this.#stdin.on('data', this.#read).on('end', this.#gone).on('error', this.#gone)
    this.#stdin.resume()
  }

  /** The terminal's own mode again; what was not told yet never is. May be called at any time, also while the process ends. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#waiting.length = 0
    this.#stdin.pause()
    if (!this.#stdin.destroyed) this.#stdin.setRawMode(false)
    this.#stdin.off('data', this.#read).off('end', this.#gone).off('error', this.#gone)
  }

  readonly #gone = (): void => this.#listener.onGone()

  readonly #read = (bytes: Buffer): void => {
    this.#take(parseInput(this.#state, this.#decoder.decode(bytes, { stream: true })))
    this.#expectRest()
  }

  #expectRest(): void {
    const held = this.#state
    const ms = heldMs(held)
    if (ms === null) return
    this.#timer = setTimeout(async () => {
      // What came while this process was busy is read before it counts as missing.
      await nextTurn()
      if (!this.#isOpen || this.#state !== held) return
      if (this.#stdin.isPaused()) this.#expectRest()
      else this.#take(endInput(held))
    }, ms)
  }

  #take({ state, events }: ReturnType<typeof parseInput>): void {
    clearTimeout(this.#timer)
    this.#state = state
    this.#waiting.push(...events)
    if (this.#waiting.length > LIMITS.terminalKeysWaiting) this.#stdin.pause()
    if (!this.#isTelling) void this.#tell()
  }

  async #tell(): Promise<void> {
    this.#isTelling = true
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      this.#listener.onEvent(event)
      for (let turn = 0; turn < TURNS_BETWEEN_KEYS; turn++) await nextTurn()
      if (this.#isOpen && this.#waiting.length === 0) this.#stdin.resume()
    }
    this.#isTelling = false
  }
}
