import type { FrozenTable } from './table.ts'

/** The frozen states of a table that somebody still reads: what they show stays on the disk. */
export class OpenReaders {
  readonly #open = new Set<Promise<void>>()

  /** The same table; it counts as read until it is closed. */
  track(frozen: FrozenTable): FrozenTable {
    let done = (): void => {}
    const closed = new Promise<void>(resolve => {
      done = resolve
    })
    this.#open.add(closed)
    return {
      get isOpen() {
        return frozen.isOpen
      },
      get: key => frozen.get(key),
      scan: options => frozen.scan(options),
      keys: options => frozen.keys(options),
      sizeOf: range => frozen.sizeOf(range),
      pages: range => frozen.pages(range),
      close: () =>
        frozen.close().finally(() => {
          this.#open.delete(closed)
          done()
        }),
    }
  }

  /** Resolves when all that are open now were closed. */
  async whenClosed(): Promise<void> {
    await Promise.all(this.#open)
  }
}
