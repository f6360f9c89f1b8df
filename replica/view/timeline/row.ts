import type { EventType, LedgerEvent, LedgerRecord } from '../../../schema/events.ts'
import { surfaceWords } from '../words.ts'
import { EVENT_TABLE, type EventTelling, type TimelineKind } from './event-table.ts'
import { type StepMark, stepMarks } from './step-marks.ts'
import { excerpt, shortId } from './wording.ts'

/** A record as a timeline shows it. Small and bounded, whatever the record holds. Source: experience 9.1. */
export interface TimelineRow {
  readonly revision: number
  /** The leader's time. Unit: ms. */
  readonly at: number
  readonly epochNumber: number
  /** Who caused it: a kind of replica, the run, or the leader itself. */
  readonly who: string
  /** Which of the replicas of this kind, in short; '' where it was none. */
  readonly client: string
  readonly kinds: readonly TimelineKind[]
  readonly words: string
  /** The turn it belongs to, as far as the record itself says so. */
  readonly turnId: string | null
  /** The id of what it is about: of a message, a question, a tool call, …; null where it names nothing. */
  readonly subjectId: string | null
  /** Where steps begin and end. */
  readonly marks: readonly StepMark[]
  readonly hash: string
  readonly prevHash: string
  /** Nothing came before it, or what did is gone. */
  readonly isFirst: boolean
}

/** Words of so many events of one record are told; of the others only how many they are. */
const TOLD_EVENTS = 4

/** A record as a row. Records of an importer or of a later build are told as far as they are known. Source: L1. */
export function timelineRow(record: LedgerRecord): TimelineRow {
  const told = record.events.map(tellingOf)
  const major = told.filter(({ isMinor }) => !isMinor)
  const shown = major.length > 0 ? major : told
  const more = shown.length - TOLD_EVENTS
  const words = shown.slice(0, TOLD_EVENTS).map(({ words }) => words)
  return {
    revision: record.revision,
    at: record.at,
    epochNumber: record.epochNumber,
    who: actorWords(record.actor),
    client: clientOf(record.actor),
    kinds: [...new Set(told.map(({ kind }) => kind))],
    words: excerpt(`${words.join(' · ')}${more > 0 ? ` · and ${more} more` : ''}`),
    turnId: turnOf(record.events),
    subjectId: shown.find(({ id }) => id !== null)?.id ?? null,
    marks: record.events.flatMap(event => safely(() => stepMarks(event, record.at), [])),
    hash: record.hash,
    prevHash: record.prevHash,
    isFirst: record.revision === 1 || record.events.some(({ type }) => type === 'ledger_compacted'),
  }
}

/** Who caused a record, in words. Source: L1. */
export function actorWords(actor: unknown): string {
  if (actor === 'leader') return 'the leader'
  if (actor === 'run') return 'the run'
  const { surface } = (actor ?? {}) as Readonly<Record<string, unknown>>
  return typeof surface === 'string' ? excerpt(surfaceWords(surface)) : 'nobody known'
}

function clientOf(actor: unknown): string {
  const { clientInstanceId } = (actor ?? {}) as Readonly<Record<string, unknown>>
  return typeof clientInstanceId === 'string' ? shortId(clientInstanceId) : ''
}

/** An event in plain words; one of a type or shape that is not known here by its name. */
export function eventWords(event: LedgerEvent): string {
  return tellingOf(event).words
}

interface Told {
  readonly kind: TimelineKind
  readonly words: string
  readonly id: string | null
  readonly isMinor: boolean
}

function tellingOf({ type, payload }: LedgerEvent): Told {
  const named = excerpt(type.replaceAll('_', ' '))
  if (!Object.hasOwn(EVENT_TABLE, type)) return { kind: 'session', words: named, id: null, isMinor: false }
  const telling = EVENT_TABLE[type as EventType] as unknown as EventTelling<EventType>
  const id = safely(() => telling.id?.(payload as never), undefined)
  return {
    kind: telling.kind,
    words: safely(() => excerpt(telling.words(payload as never)), named),
    id: typeof id === 'string' ? id : null,
    isMinor: telling.isMinor === true,
  }
}

/** What was planted in a ledger may have any shape; that must not hide the rest of it. */
function safely<T>(tell: () => T, otherwise: T): T {
  try {
    return tell()
  } catch {
    return otherwise
  }
}

function turnOf(events: readonly LedgerEvent[]): string | null {
  for (const { payload } of events) {
    const { turnId, admission } = payload as {
      readonly turnId?: unknown
      readonly admission?: { readonly turnId?: unknown }
    }
    const id = turnId ?? admission?.turnId
    if (typeof id === 'string') return id
  }
  return null
}
