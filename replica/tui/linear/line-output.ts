import type { Writable } from 'node:stream'
import { LIMITS } from '../../../schema/limits.ts'
import { terminalText } from '../../view/terminal-text.ts'

/**
 * Appends whole lines and never takes one back. Nothing that a terminal would obey comes through. Lines wait for a slow terminal; when far too
 * many do, the oldest of them are left out and that is said. Source: Z6, experience 7.3.
 */
export class LineOutput {
  readonly #stream: Writable
  readonly #waiting: string[] = []
  #leftOut = 0
  #isFull = false
  #onEmpty: () => void = () => {}

  constructor(stream: Writable) {
    this.#stream = stream
  }

  /** Each text ends its line; a text of several lines is told line by line. */
  say(...texts: readonly string[]): void {
    for (const text of texts)
      this.#waiting.push(`${terminalText(text.toWellFormed()).replace(/[\u2028\u2029]/g, '\n')}\n`)
    const over = this.#waiting.length - LIMITS.linearLinesWaiting
    if (over > 0) {
      this.#waiting.splice(0, over)
      this.#leftOut += over
    }
    this.#write()
  }

  /** Resolves when the terminal took all of it, or is gone. */
  flushed(): Promise<void> {
    if ((!this.#isFull && this.#waiting.length === 0) || this.#stream.destroyed) return Promise.resolve()
    return new Promise(resolve => {
      this.#onEmpty = resolve
      this.#stream.once('close', resolve)
    })
  }

  #write(): void {
    while (!this.#isFull && this.#waiting.length > 0 && !this.#stream.destroyed) {
      const leftOut = this.#leftOut > 0 ? `(${this.#leftOut} lines left out: the terminal is too slow)\n` : ''
      this.#leftOut = 0
      if (this.#stream.write(`${leftOut}${this.#waiting.splice(0, LIMITS.linearLinesWritten).join('')}`)) continue
      this.#isFull = true
      this.#stream.once('drain', () => {
        this.#isFull = false
        this.#write()
        if (!this.#isFull) this.#onEmpty()
      })
    }
  }
}
