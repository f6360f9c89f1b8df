import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TranscriptEntry, TranscriptPage } from '../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { lineageOf } from '../../../schema/projection/lineage.ts'
import { operationError } from '../../client/commands/errors.ts'
import type { Clock } from '../../client/ports.ts'
import type { HistoryView, Readable } from '../types.ts'
import { Cell, type Grouping } from './cell.ts'
import type { StoredCopies } from './copies.ts'
import { failureOf } from './failure.ts'
import type { LeaderLine } from './leader-line.ts'

/** Whose history, and where it is read from. `session` is kept open while the history is read. */
export interface HistoryOptions {
  readonly sessionId: string
  readonly line: LeaderLine
  readonly copies: StoredCopies
  readonly grouping: Grouping
  readonly clock: Clock
  readonly session: () => Readable<unknown>
}

const NONE: readonly TranscriptEntry[] = Object.freeze([])
const EMPTY: HistoryView = Object.freeze({ entries: NONE, hasMore: false, isLoading: false, failure: null })

/**
 * The part of a session's transcript that is older than its projection, as far as it was asked for. It always follows on to the projection without a
 * gap: entries that leave the projection while this is read come in here at once, and are read again from the leader, since the same
 * transition may have changed them. Source: experience 10.2.
 */
export class History {
  readonly cell: Cell<HistoryView>
  readonly #options: HistoryOptions
  #projection: SessionProjection | null = null
  /** What is read belongs to this past of the root; a page of an earlier one is not taken. */
  #past = 0
  /** The entries that came from a projection and not from a page, by their numbers. */
  #unconfirmed: { readonly from: number; readonly to: number } | null = null
  #isConfirming = false
  #stopReading: () => void = () => {}

  constructor(options: HistoryOptions) {
    this.#options = options
    this.cell = new Cell(EMPTY, options.grouping, {
      begin: () => {
        this.#stopReading = options.session().subscribe(() => void this.#confirm())
      },
      end: () => this.#stopReading(),
    })
  }

  /** The session is shown like this now. Called before anybody sees it, so that nobody sees a gap. */
  follow(projection: SessionProjection | null): void {
    const before = this.#projection
    if (projection === before) return
    this.#projection = projection
    if (projection === null || (before !== null && isOtherPast(before, projection))) {
      this.#forget(projection?.transcript.hasMore ?? false)
    } else this.#followOn(before, projection)
  }

  /** Reads one page more. Never throws. */
  async loadEarlier(): Promise<void> {
    const projection = this.#projection
    const { isLoading, entries } = this.cell.getSnapshot()
    const before = entries[0]?.seq ?? projection?.transcript.firstSeq ?? 0
    if (isLoading || before <= 1) return
    const past = this.#past
    this.#change({ isLoading: true, failure: null })
    try {
      if (entries.length >= LIMITS.storeHistoryEntries) throw operationError('too_large')
      const page = await this.#page(before)
      if (past !== this.#past) return
      this.#merge(page.entries, page.entries.length > 0 && page.hasMore)
    } catch (error) {
      if (past === this.#past) this.#change({ failure: failureOf(error) })
    } finally {
      if (past === this.#past) this.#change({ isLoading: false })
    }
  }

  #forget(hasMore: boolean): void {
    this.#past += 1
    this.#unconfirmed = null
    this.cell.set(Object.freeze({ ...EMPTY, hasMore }))
  }

  #followOn(before: SessionProjection | null, { transcript }: SessionProjection): void {
    const shown = this.cell.getSnapshot()
    const known = shown.entries.filter(({ seq }) => seq < transcript.firstSeq)
    const next = (known.at(-1)?.seq ?? (before?.transcript.firstSeq ?? transcript.firstSeq) - 1) + 1
    const isKept = known.length > 0 || this.cell.isRead
    const left = isKept ? entriesBetween(before, next, transcript.firstSeq) : NONE
    const last = left.at(-1) ?? known.at(-1)
    if (last === undefined || last.seq !== transcript.firstSeq - 1) {
      // Nothing was read, or so much happened unseen that the parts do not meet.
      if (shown.entries.length > 0 || shown.hasMore !== transcript.hasMore) this.#forget(transcript.hasMore)
      return
    }
    if (left.length === 0 && known.length === shown.entries.length) return
    if (left.length > 0) this.#unconfirmed = { from: this.#unconfirmed?.from ?? next, to: last.seq }
    const hasMore = known.length > 0 ? shown.hasMore : next > 1
    this.#change({ entries: Object.freeze([...known, ...left]), hasMore })
  }

  /** Reads from the leader what came from a projection. */
  async #confirm(): Promise<void> {
    const { line, sessionId } = this.#options
    while (this.#unconfirmed !== null && !this.#isConfirming && line.freshness.state === 'live') {
      const { open } = line
      const asked = this.#unconfirmed
      const past = this.#past
      const limit = Math.min(LIMITS.transcriptPageEntries, asked.to - asked.from + 1)
      this.#isConfirming = true
      const page = await open?.transcript(sessionId, { before: asked.to + 1, limit }).catch(() => null)
      this.#isConfirming = false
      if (past !== this.#past) continue
      if (page === null || page === undefined) return
      this.#merge(page.entries, this.cell.getSnapshot().hasMore)
      // What came in meanwhile is asked for with the rest of it.
      if (this.#unconfirmed !== asked) continue
      const isWhole = page.entries.length === 0 || page.firstSeq <= asked.from
      this.#unconfirmed = isWhole ? null : { from: asked.from, to: page.firstSeq - 1 }
    }
  }

  async #page(before: number): Promise<TranscriptPage> {
    const { line, sessionId, copies, clock } = this.#options
    const options = { before, limit: LIMITS.transcriptPageEntries }
    const { open } = line
    if (open !== null && open.freshness.state === 'live') {
      const page = await unlessLost(open.transcript(sessionId, options), line, clock)
      if (page !== null) return page
    }
    const kept = await copies.read(reader => reader.transcript(sessionId, options))
    if (kept === null || kept.lastSeq !== before - 1) {
      throw operationError('offline', 'Older entries were never read here, and there is no leader to ask.')
    }
    return kept
  }

  /** Takes the entries of a page, in the place of those that are known under the same numbers. */
  #merge(page: readonly TranscriptEntry[], hasMore: boolean): void {
    const firstLive = this.#projection?.transcript.firstSeq ?? 0
    const bySeq = new Map(this.cell.getSnapshot().entries.map(entry => [entry.seq, entry]))
    for (const entry of page) if (entry.seq < firstLive) bySeq.set(entry.seq, entry)
    const entries = [...bySeq.values()].sort((a, b) => a.seq - b.seq)
    const start = entries.findLastIndex((entry, i) => entry.seq !== (entries[i + 1]?.seq ?? firstLive) - 1)
    this.#change({ entries: Object.freeze(entries.slice(start + 1)), hasMore })
  }

  #change(change: Partial<HistoryView>): void {
    this.cell.set(Object.freeze({ ...this.cell.getSnapshot(), ...change }))
  }
}

/** Refusals that no leader has made. */
const GONE: ReadonlySet<string> = new Set(['offline', 'outcome_unknown', 'timeout'])

function isOtherPast(before: SessionProjection, after: SessionProjection): boolean {
  const isOtherLineage = lineageOf(before.generation) !== lineageOf(after.generation)
  return (
    after.revision < before.revision ||
    (isOtherLineage && before.revision > after.revision - (after.projectionRevision - 1))
  )
}

function entriesBetween(projection: SessionProjection | null, from: number, to: number): readonly TranscriptEntry[] {
  return projection?.transcript.entries.filter(({ seq }) => seq >= from && seq < to) ?? NONE
}

/** The page, or null once there is no leader that would send it. A refusal of the leader is thrown. */
async function unlessLost(
  page: Promise<TranscriptPage>,
  line: LeaderLine,
  clock: Clock,
): Promise<TranscriptPage | null> {
  let stop: () => void = () => {}
  const lost = new Promise<null>(resolve => {
    const cancel = clock.after(LIMITS.storePageMs, () => resolve(null))
    const stopLine = line.onChange(() => {
      if (line.freshness.state === 'offline') resolve(null)
    })
    stop = () => {
      cancel()
      stopLine()
    }
  })
  try {
    return await Promise.race([page, lost])
  } catch (error) {
    if (GONE.has(failureOf(error).code)) return null
    throw error
  } finally {
    stop()
  }
}
