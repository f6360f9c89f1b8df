import { headKey } from '../keys.ts'
import type { SessionHead } from '../store.ts'
import type { Table } from '../table.ts'
import { decodeHead } from '../values.ts'

/**
 * A session this store may write. `head` is on disk; `staged` is ahead of it by the batch being written, equal to it otherwise.
 * Both are replaced, never changed.
 */
export interface Claim {
  readonly session: string
  readonly fence: number
  head: SessionHead
  staged: SessionHead
}

/** The claims of one store. Bounded by the sessions that are loaded. */
export class Claims {
  readonly #table: Table
  readonly #fence: number
  readonly #bySession = new Map<string, Claim>()

  constructor(table: Table, fence: number) {
    this.#table = table
    this.#fence = fence
  }

  get(session: string): Claim | undefined {
    return this.#bySession.get(session)
  }

  /** The claim there is, or a new one at the head on disk. */
  async take(session: string): Promise<Claim> {
    const known = this.#bySession.get(session)
    if (known !== undefined) return known
    const head = decodeHead(await this.#table.get(headKey(session)))
    const meanwhile = this.#bySession.get(session)
    if (meanwhile !== undefined) return meanwhile
    const claim = { session, fence: this.#fence, head, staged: head }
    this.#bySession.set(session, claim)
    return claim
  }

  /** Ends a claim; true if there was one. */
  drop(session: string): boolean {
    return this.#bySession.delete(session)
  }

  sessions(): readonly string[] {
    return [...this.#bySession.keys()]
  }
}
