import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { Clock } from '../../client/ports.ts'
import { ReplicaOperationError } from '../../client/types.ts'
import type { HistoryView, Readable, SessionView } from '../types.ts'
import { Cell, type Grouping } from './cell.ts'
import type { StoredCopies } from './copies.ts'
import type { LeaderLine } from './leader-line.ts'

/** Whose history, and where it is read from. */
export interface HistoryOptions {
  readonly sessionId: string
  readonly line: LeaderLine
  readonly copies: StoredCopies
  readonly grouping: Grouping
  readonly clock: Clock
  readonly session: Readable<SessionView>
}

const EMPTY: HistoryView = Object.freeze({
  entries: Object.freeze([]),
  hasMore: false,
  isLoading: false,
  failure: null,
})

/** The part of a session's transcript that is older than its projection, as far as it was asked for. Source: experience 10.2. */
export class History {
  readonly cell: Cell<HistoryView>
  readonly #options: HistoryOptions

  constructor(options: HistoryOptions) {
    this.#options = options
    this.cell = new Cell(EMPTY, options.grouping)
  }

  async loadEarlier(): Promise<void> {
    const { projection } = this.#options.session.getSnapshot()
    const { isLoading, entries } = this.cell.getSnapshot()
    if (projection === null || isLoading) return
    const before = entries[0]?.seq ?? projection.transcript.firstSeq
    this.#change({ isLoading: true, failure: null })
    try {
      const page = await this.#page(before)
      const older: readonly TranscriptEntry[] = Object.freeze([...page.entries, ...this.cell.getSnapshot().entries])
      this.#change({ entries: older, hasMore: page.hasMore, isLoading: false })
    } catch (error) {
      const code = error instanceof ReplicaOperationError ? error.code : 'internal_failure'
      const message = error instanceof Error ? error.message : String(error)
      this.#change({ isLoading: false, failure: Object.freeze({ code, message }) })
    }
  }

  async #page(before: number) {
    const { line, sessionId, copies } = this.#options
    const { open } = line
    const options = { before, limit: LIMITS.transcriptPageEntries }
    if (open !== null && open.freshness.state === 'live') return await open.transcript(sessionId, options)
    const kept = await copies.read(reader => reader.transcript(sessionId, options))
    if (kept === null || kept.lastSeq !== before - 1) {
      throw new ReplicaOperationError('offline', 'older entries were never read here, and there is no leader to ask')
    }
    return kept
  }

  #change(change: Partial<HistoryView>): void {
    this.cell.set(Object.freeze({ ...this.cell.getSnapshot(), ...change }))
  }
}
