import { LIMITS } from '../../schema/limits.ts'

/** The room of one page in bytes: its first item always fits, so that whoever pages always gets on. Source: A7. */
export class PageRoom {
  #leftBytes: number = LIMITS.pageBytes
  #isEmpty = true

  /** Takes an item of this size; false if it has to wait for the next page. */
  take(bytes: number): boolean {
    if (!this.#isEmpty && bytes > this.#leftBytes) return false
    this.#isEmpty = false
    this.#leftBytes -= bytes
    return true
  }
}

/** How many of the items one page has room for, from the first. */
export function countFitting<T>(items: readonly T[], bytesOf: (item: T) => number): number {
  const room = new PageRoom()
  const first = items.findIndex(item => !room.take(bytesOf(item)))
  return first < 0 ? items.length : first
}
