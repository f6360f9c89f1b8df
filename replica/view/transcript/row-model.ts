import type { TextEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { dayWords } from '../time-words.ts'
import { authorWords } from './author-words.ts'
import {
  type BrokenTurn,
  type EndRow,
  placeOf,
  type TextRow,
  type TranscriptRow,
  type TurnDuration,
  type TurnRow,
} from './row.ts'
import type { TurnView, TurnViews } from './turn-views.ts'

/** What rows are made of. `entries` are in order of `seq`, older ones exist if `hasMore`. */
export interface RowInput {
  readonly entries: readonly TranscriptEntry[]
  readonly hasMore: boolean
  readonly turns: TurnViews
}

/** Gives the rows of a session, time after time. */
export interface RowModel {
  /** Rows whose entries are the same objects stay the same objects; so does the list if nothing changed. */
  rows(input: RowInput): readonly TranscriptRow[]
}

/** A model for one session; `selfId` is the `clientInstanceId` of this replica. Source: experience 6.5. */
export function createRowModel(selfId?: string): RowModel {
  return new Rows(selfId)
}

/** Entries of one turn that stand together. `row` is where its head is, −1 for a turn whose beginning is not here. */
interface Group {
  readonly turnId: string
  readonly firstIndex: number
  readonly row: number
  readonly by: string | null
  readonly at: number
  readonly isNewDay: boolean
}

class Rows implements RowModel {
  readonly #selfId: string | undefined
  /** The row that ends with an entry, the head before it, and the end of a turn. */
  readonly #made = new WeakMap<TranscriptEntry, TranscriptRow>()
  readonly #heads = new WeakMap<TranscriptEntry, TurnRow>()
  readonly #ends = new WeakMap<TurnSnapshot, EndRow>()
  #input: RowInput = { entries: [], hasMore: false, turns: new Map() }
  #rows: TranscriptRow[] = []
  /** For each row the index of its first entry; for an end the one behind the turn. */
  #starts: number[] = []
  #groups: Group[] = []

  constructor(selfId: string | undefined) {
    this.#selfId = selfId
  }

  rows(input: RowInput): readonly TranscriptRow[] {
    const last = this.#input
    const isSameFrame = input.turns === last.turns && input.hasMore === last.hasMore
    const kept = isSameFrame ? samePrefix(last.entries, input.entries) : 0
    if (isSameFrame && kept === last.entries.length && kept === input.entries.length) return this.#rows
    this.#input = input
    for (let index = this.#cutBack(kept); index < input.entries.length; index++) this.#add(index)
    this.#finish(input.entries.length)
    return this.#rows
  }

  /** Takes away the rows that may change and gives the index of the first entry that needs a row again. */
  #cutBack(kept: number): number {
    let cut = this.#rows.length
    while (
      cut > 0 &&
      !(placeOf(this.#rows[cut - 1] as TranscriptRow) === 1 && (this.#starts[cut - 1] as number) < kept)
    )
      cut--
    const from = cut === 0 ? 0 : (this.#starts[cut - 1] as number)
    this.#rows = this.#rows.slice(0, Math.max(0, cut - 1))
    this.#starts = this.#starts.slice(0, this.#rows.length)
    while (this.#groups.length > 0 && (this.#groups.at(-1) as Group).row >= this.#rows.length) this.#groups.pop()
    if (cut === 0) this.#groups = []
    return from
  }

  #add(index: number): void {
    const { entries } = this.#input
    const entry = entries[index] as TranscriptEntry
    const previous = index > 0 ? (entries[index - 1] as TranscriptEntry) : undefined
    if (previous !== undefined && entry.seq <= previous.seq) return
    if (this.#beginsTurn(entry)) this.#open(entry, index)
    const row = this.#rows.at(-1)
    if (isText(entry) && row !== undefined && continues(row, entry)) {
      this.#rows[this.#rows.length - 1] = this.#textRow([...row.pieces, entry])
    } else this.#push(isText(entry) ? this.#textRow([entry]) : this.#entryRow(entry), index)
  }

  /** A person's decision about a plan may name a turn that is over. */
  #beginsTurn(entry: TranscriptEntry): boolean {
    const group = this.#groups.at(-1)
    return group === undefined || (entry.turnId !== group.turnId && entry.kind !== 'plan')
  }

  #open(entry: TranscriptEntry, index: number): void {
    this.#finish(index)
    const isBeginning = index > 0 || !this.#input.hasMore || (entry.kind === 'user' && entry.isSteering !== true)
    const before = this.#groups.at(-1)
    const group: Group = {
      turnId: entry.turnId,
      firstIndex: index,
      row: isBeginning ? this.#rows.length : -1,
      by: entry.kind === 'user' ? authorWords(entry.submittedBy, this.#selfId) : null,
      at: entry.at,
      isNewDay: before === undefined || dayWords(before.at) !== dayWords(entry.at),
    }
    this.#groups.push(group)
    if (isBeginning) this.#push(this.#heads.get(entry) ?? this.#head(group, null), index)
  }

  /** Says in the head how the turn came out, and behind it why it did not come to its own end. */
  #finish(end: number): void {
    const group = this.#groups.at(-1)
    if (group === undefined) return
    const view = this.#input.turns.get(group.turnId)
    const last = this.#input.entries[end - 1] as TranscriptEntry
    if (group.row !== -1) {
      const isOver = view === undefined ? end < this.#input.entries.length : 'terminalEventId' in view.turn
      this.#rows[group.row] = this.#head(group, isOver ? durationOf(group.at, last, view) : null)
    }
    if (view !== undefined && isBroken(view.turn)) this.#push(this.#end(view.turn, last), end)
  }

  #head({ turnId, firstIndex, by, at, isNewDay }: Group, duration: TurnDuration | null): TurnRow {
    const first = this.#input.entries[firstIndex] as TranscriptEntry
    const { seq } = first
    const status = this.#input.turns.get(turnId)?.turn.status ?? null
    const row: TurnRow = { id: `${seq}.0`, seq, lastSeq: seq, turnId, at, kind: 'turn', by, status, duration, isNewDay }
    const made = this.#heads.get(first)
    if (made !== undefined && isSameHead(made, row)) return made
    this.#heads.set(first, row)
    return row
  }

  #end(turn: BrokenTurn, { seq, at }: TranscriptEntry): EndRow {
    const made = this.#ends.get(turn)
    if (made?.seq === seq) return made
    const row: EndRow = { id: `${seq}.2`, seq, lastSeq: seq, turnId: turn.turnId, at, kind: 'end', turn }
    this.#ends.set(turn, row)
    return row
  }

  #textRow(pieces: readonly TextEntry[]): TextRow {
    const first = pieces[0] as TextEntry
    const last = pieces.at(-1) as TextEntry
    const made = this.#made.get(last)
    if (made !== undefined && 'pieces' in made && made.pieces.length === pieces.length && made.pieces[0] === first)
      return made
    const { seq, turnId, at, kind } = first
    const row: TextRow = {
      id: `${seq}.1`,
      seq,
      lastSeq: last.seq,
      turnId,
      at,
      kind,
      pieces,
      isStreaming: last.isStreaming === true,
    }
    this.#made.set(last, row)
    return row
  }

  #entryRow(entry: Exclude<TranscriptEntry, TextEntry>): TranscriptRow {
    const by = entry.kind === 'user' ? this.#ownAuthor(entry) : null
    const made = this.#made.get(entry)
    if (made !== undefined && (made.kind !== 'user' || made.by === by)) return made
    const { seq, turnId, at } = entry
    const keys = { id: `${seq}.1`, seq, lastSeq: seq, turnId, at }
    const row = { ...keys, kind: entry.kind, entry, ...(entry.kind === 'user' ? { by } : {}) } as TranscriptRow
    this.#made.set(entry, row)
    return row
  }

  #ownAuthor({ submittedBy, isSteering }: Extract<TranscriptEntry, { kind: 'user' }>): string | null {
    const by = authorWords(submittedBy, this.#selfId)
    const group = this.#groups.at(-1)
    return isSteering !== true && group !== undefined && group.row !== -1 && group.by === by ? null : by
  }

  #push(row: TranscriptRow, start: number): void {
    this.#rows.push(row)
    this.#starts.push(start)
  }
}

function samePrefix(a: readonly TranscriptEntry[], b: readonly TranscriptEntry[]): number {
  const most = Math.min(a.length, b.length)
  let same = 0
  while (same < most && a[same] === b[same]) same++
  return same
}

function isText(entry: TranscriptEntry): entry is TextEntry {
  return entry.kind === 'assistant' || entry.kind === 'thinking'
}

/** True if the entry goes on where the row ends, and the row is not too long for that. */
function continues(row: TranscriptRow, entry: TextEntry): row is TextRow {
  if (!('pieces' in row) || row.kind !== entry.kind) return false
  const first = row.pieces[0] as TextEntry
  const last = row.pieces.at(-1) as TextEntry
  const isNext = last.messageId === entry.messageId && last.offset + last.text.length === entry.offset
  return isNext && entry.offset + entry.text.length - first.offset <= LIMITS.transcriptRowChars
}

function isBroken(turn: TurnSnapshot): turn is BrokenTurn {
  return turn.status === 'failed' || turn.status === 'cancelled'
}

function durationOf(from: number, last: TranscriptEntry, view: TurnView | undefined): TurnDuration {
  if (view !== undefined && view.endedAt !== null) return { ms: Math.max(0, view.endedAt - from), isExact: true }
  const seen =
    last.kind === 'tool' ? (last.endedAt ?? last.at) : last.kind === 'interaction' ? last.outcome.at : last.at
  return { ms: Math.max(0, seen - from), isExact: false }
}

function isSameHead(a: TurnRow, b: TurnRow): boolean {
  return (
    a.id === b.id &&
    a.turnId === b.turnId &&
    a.by === b.by &&
    a.status === b.status &&
    a.isNewDay === b.isNewDay &&
    a.duration?.ms === b.duration?.ms &&
    a.duration?.isExact === b.duration?.isExact
  )
}
