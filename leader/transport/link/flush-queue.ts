/** Something that wants to write once at the end of this turn of the event loop. */
export interface Flushable {
  flush(): void
}

/** Collects writers and flushes each once, after all the input of this turn of the event loop was read. */
export class FlushQueue {
  #waiting: Flushable[] = []

  add(writer: Flushable): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#flushAll())
    this.#waiting.push(writer)
  }

  #flushAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const writer of waiting) writer.flush()
  }
}
