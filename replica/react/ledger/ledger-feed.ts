import type { LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { type TimelineRow, timelineRow } from '../../view/timeline/row.ts'
import type { StepName } from '../../view/timeline/step-marks.ts'
import { type StepSummary, StepTimes, type TimedRow } from '../../view/timeline/step-times.ts'
import { Cell, Grouping } from '../store/cell.ts'
import { type Failure, failureOf } from '../store/failure.ts'
import type { Readable, ReplicaStore, SessionView } from '../types.ts'

/** The ledger of a session as far as it was read here, the newest record last. */
export interface LedgerView {
  readonly rows: readonly TimedRow[]
  /** Older records can be read. */
  readonly hasOlder: boolean
  readonly isLoading: boolean
  /** Why reading stopped, other than for want of a leader. */
  readonly failure: Failure | null
  readonly durations: readonly StepSummary[]
  /** The newest durations of a step, in order. Unit: ms. */
  readonly values: Readonly<Record<'turn' | 'answer', readonly number[]>>
}

/** The ledger of a session while somebody looks at it. */
export interface LedgerFeed extends Readable<LedgerView> {
  /** Reads one page of older records. Never throws. */
  loadOlder(): Promise<void>
  /** One record as it is stored. Rejects as the connection does. */
  record(revision: number): Promise<LedgerRecord | null>
}

const EMPTY: LedgerView = Object.freeze({
  rows: Object.freeze([]),
  hasOlder: false,
  isLoading: false,
  failure: null,
  durations: Object.freeze([]),
  values: Object.freeze({ turn: Object.freeze([]), answer: Object.freeze([]) }),
})
const WAITS: ReadonlySet<string> = new Set(['offline', 'timeout', 'outcome_unknown', 'host_not_ready', 'host_draining'])

/** Follows a ledger from its newest records on: only what is new is read, and a bounded number of rows is kept. Source: L1, experience 9.1. */
export function createLedgerFeed(store: ReplicaStore, sessionId: string): LedgerFeed {
  const feed = new Feed(store, sessionId)
  return {
    getSnapshot: feed.cell.getSnapshot,
    subscribe: feed.cell.subscribe,
    loadOlder: () => feed.loadOlder(),
    record: revision => feed.record(revision),
  }
}

class Feed {
  readonly cell: Cell<LedgerView>
  readonly #store: ReplicaStore
  readonly #sessionId: string
  readonly #session: Readable<SessionView>
  #times = new StepTimes()
  #aside: SessionView['aside'] = null
  /** Counts how often all was read anew, so that a page of before is not taken. */
  #past = 0
  #isFollowing = false
  #stop: () => void = () => {}

  constructor(store: ReplicaStore, sessionId: string) {
    this.#store = store
    this.#sessionId = sessionId
    this.#session = store.session(sessionId)
    this.cell = new Cell(EMPTY, new Grouping(queueMicrotask), {
      begin: () => {
        this.#stop = this.#session.subscribe(() => void this.#follow())
        void this.#follow()
      },
      end: () => this.#stop(),
    })
  }

  async loadOlder(): Promise<void> {
    const { rows, hasOlder, isLoading } = this.cell.getSnapshot()
    const [first] = rows
    const leader = this.#leader()
    if (first === undefined || !hasOlder || isLoading || leader === null) return
    const past = this.#past
    this.#change({ isLoading: true, failure: null })
    try {
      const room = LIMITS.timelineRows - rows.length
      const from = Math.max(0, first.revision - 1 - Math.min(room, LIMITS.ledgerPageRecords))
      const older = await this.#rowsBetween(leader, from, first.revision - 1)
      if (past === this.#past) this.#prepend(older)
    } catch (error) {
      if (past === this.#past) this.#change({ failure: failureOf(error) })
    } finally {
      if (past === this.#past) this.#change({ isLoading: false })
    }
  }

  async record(revision: number): Promise<LedgerRecord | null> {
    const leader = this.#leader()
    if (leader === null) return null
    const { records } = await this.#page(leader, revision - 1, 1)
    return records[0]?.revision === revision ? records[0] : null
  }

  async #follow(): Promise<void> {
    while (this.cell.isRead && !this.#isFollowing) {
      const { projection, aside } = this.#session.getSnapshot()
      const leader = this.#leader()
      if (projection === null || leader === null) return
      const newest = this.cell.getSnapshot().rows.at(-1)?.revision ?? 0
      if (projection.revision < newest || aside !== this.#aside) this.#forget(aside)
      else if (projection.revision === newest) return
      if (!(await this.#readTo(leader, projection.revision))) return
    }
  }

  /** False where it has to be tried again later. */
  async #readTo(leader: LeaderConnection, revision: number): Promise<boolean> {
    const past = this.#past
    const newest = this.cell.getSnapshot().rows.at(-1)
    // What happened while nobody looked may be far more than is shown: then it begins at the newest page again.
    const isNear = newest !== undefined && revision - newest.revision <= LIMITS.timelineRows
    if (!isNear && newest !== undefined) this.#forget(this.#aside)
    this.#isFollowing = true
    try {
      const after = isNear ? newest.revision : Math.max(0, revision - LIMITS.ledgerPageRecords)
      const rows = await this.#rowsBetween(leader, after, revision)
      if (isNear && past !== this.#past) return true
      if (isNear && rows[0] !== undefined && rows[0].prevHash !== newest.hash && !rows[0].isFirst) {
        this.#forget(this.#aside)
        return true
      }
      this.#append(rows)
      return rows.length > 0
    } catch (error) {
      this.#fail(error)
      return false
    } finally {
      this.#isFollowing = false
    }
  }

  #leader(): LeaderConnection | null {
    const { freshness } = this.#session.getSnapshot()
    return freshness.state === 'live' ? this.#store.connection : null
  }

  async #rowsBetween(leader: LeaderConnection, after: number, through: number): Promise<readonly TimelineRow[]> {
    const rows: TimelineRow[] = []
    for (let at = after; at < through && rows.length < LIMITS.timelineRows; ) {
      const { records } = await this.#page(leader, at, Math.min(LIMITS.ledgerPageRecords, through - at))
      for (const record of records) if (record.revision <= through) rows.push(timelineRow(record))
      const last = records.at(-1)
      if (last === undefined || last.revision <= at) break
      at = last.revision
    }
    return rows
  }

  async #page(leader: LeaderConnection, after: number, limit: number): Promise<{ records: readonly LedgerRecord[] }> {
    const page = await leader.request('ledger.page', { sessionId: this.#sessionId, after, limit })
    return page as unknown as { records: readonly LedgerRecord[] }
  }

  #forget(aside: SessionView['aside']): void {
    this.#past += 1
    this.#aside = aside
    this.#times = new StepTimes()
    this.cell.set(EMPTY)
  }

  #append(rows: readonly TimelineRow[]): void {
    const known = this.cell.getSnapshot().rows
    const all = [...known, ...rows.map(row => this.#times.add(row))]
    this.#show(all.slice(-LIMITS.timelineRows))
  }

  /** Steps that begin in the older part end in the newer one, so all are measured again. */
  #prepend(older: readonly TimelineRow[]): void {
    if (older.length === 0) {
      this.#change({ hasOlder: false })
      return
    }
    this.#times = new StepTimes()
    this.#show([...older, ...this.cell.getSnapshot().rows].map(row => this.#times.add(row)))
  }

  #show(rows: readonly TimedRow[]): void {
    const [first] = rows
    const values = (step: StepName): readonly number[] => Object.freeze([...this.#times.values(step)])
    this.#change({
      rows: Object.freeze(rows),
      hasOlder: first !== undefined && !first.isFirst && rows.length < LIMITS.timelineRows,
      failure: null,
      durations: Object.freeze(this.#times.summary()),
      values: Object.freeze({ turn: values('turn'), answer: values('answer') }),
    })
  }

  #fail(error: unknown): void {
    const failure = failureOf(error)
    if (!WAITS.has(failure.code)) this.#change({ failure })
  }

  #change(change: Partial<LedgerView>): void {
    this.cell.set(Object.freeze({ ...this.cell.getSnapshot(), ...change }))
  }
}
