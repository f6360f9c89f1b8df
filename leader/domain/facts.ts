import type { Content } from '../../schema/entities/content.ts'
import type { Admission, Run, UserMessage } from '../../schema/entities/turn.ts'
import {
  type EventPayloads,
  eventIdAt,
  isTerminalEvent,
  type LedgerEvent,
  type LedgerRecord,
  type RunEvent,
} from '../../schema/events.ts'

/** What the ledger says of one turn, whatever its state. */
export interface TurnFacts {
  readonly turnId: string
  readonly admission: Admission | null
  /** How often it was admitted: more than once is a contradiction. Source: X12. */
  readonly admissions: number
  readonly admittedRevision: number
  readonly runs: readonly Run[]
  readonly userMessages: readonly UserMessage[]
  readonly events: readonly RunEvent[]
  readonly terminalEvents: readonly RunEvent[]
  /** The terminal event the turn's snapshot names, or null while it names none. */
  readonly settledBy: string | null
}

/** What a turn's terminal events say together. Source: interfaces 3. */
export type Classification =
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }
  | {
      readonly kind: 'fact'
      readonly fact: { readonly runStatus: string; readonly failureClass?: string; readonly abortSource?: string }
    }

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] }
type Draft = Mutable<TurnFacts>

/** Collects the facts of every turn that these records name, in order of first mention. */
export function collectTurnFacts(sessionId: string, records: readonly LedgerRecord[]): TurnFacts[] {
  const turns = new Map<string, Draft>()
  for (const record of records) {
    record.events.forEach((event, index) => {
      const turnId = turnOf(event)
      if (turnId === null) return
      const draft = turns.get(turnId) ?? emptyDraft(turnId)
      turns.set(turnId, draft)
      collect(draft, event, { sessionId, record, eventId: eventIdAt(record.revision, index) })
    })
  }
  return [...turns.values()]
}

function emptyDraft(turnId: string): Draft {
  return {
    turnId,
    admission: null,
    admissions: 0,
    admittedRevision: 0,
    runs: [],
    userMessages: [],
    events: [],
    terminalEvents: [],
    settledBy: null,
  }
}

function turnOf(event: LedgerEvent): string | null {
  if (event.type === 'turn_admitted')
    return (event.payload as unknown as EventPayloads['turn_admitted']).admission.turnId
  const { turnId, runId } = event.payload
  return typeof turnId === 'string' && typeof runId === 'string' ? turnId : null
}

interface Place {
  readonly sessionId: string
  readonly record: LedgerRecord
  /** The id of an event that carries none. */
  readonly eventId: string
}

function collect(draft: Draft, event: LedgerEvent, { sessionId, record, ...place }: Place): void {
  if (event.type === 'turn_admitted') {
    draft.admissions += 1
    if (draft.admission !== null) return
    draft.admission = (event.payload as unknown as EventPayloads['turn_admitted']).admission
    draft.admittedRevision = record.revision
    return
  }
  const payload = event.payload as { turnId: string; runId: string; eventId?: string }
  const { turnId, runId } = payload
  const eventId = payload.eventId ?? place.eventId
  const { revision, at } = record
  const runEvent: RunEvent = {
    eventId,
    sessionId,
    turnId,
    runId,
    type: event.type,
    payload: event.payload,
    revision,
    at,
  }
  draft.events.push(runEvent)
  if (isTerminalEvent(event.type)) draft.terminalEvents.push(runEvent)
  if (event.type === 'run_created' || event.type === 'run_started') addRun(sessionId, draft, event, at)
  else if (event.type === 'user_message_appended') draft.userMessages.push(messageOf(event))
  else if (event.type === 'turn_settled')
    draft.settledBy = (payload as { terminalEventId?: string }).terminalEventId ?? null
}

function addRun(sessionId: string, draft: Draft, event: LedgerEvent, at: number): void {
  const { turnId, runId, ...origin } = event.payload as EventPayloads['run_started'] & Record<string, unknown>
  const status = event.type === 'run_started' ? 'running' : 'created'
  const index = draft.runs.findIndex(run => run.runId === runId)
  const run: Run = { runId, turnId, sessionId, status, startedAt: at, ...origin }
  if (index < 0) draft.runs.push(run)
  else draft.runs[index] = { ...run, startedAt: (draft.runs[index] as Run).startedAt }
}

function messageOf(event: LedgerEvent): UserMessage {
  const payload = event.payload as unknown as EventPayloads['user_message_appended']
  const { messageId, turnId, runId, submittedBy, at } = payload
  return { messageId, turnId, runId, content: payload.content as Content, submittedBy, at }
}

/** Tool calls that a run started and that have no outcome, oldest first. Source: X11. */
export function openToolCalls({ events }: Pick<TurnFacts, 'events'>, runId: string): readonly string[] {
  const open = new Set<string>()
  for (const { type, payload, runId: of } of events) {
    const { toolCallId } = payload
    if (of !== runId || typeof toolCallId !== 'string') continue
    if (type === 'tool_started') open.add(toolCallId)
    else if (type === 'tool_ended') open.delete(toolCallId)
  }
  return [...open]
}

/** The run with what its terminal event says, if it has one. */
export function endedRun(run: Run, facts: Pick<TurnFacts, 'terminalEvents'>): Run {
  const terminal = facts.terminalEvents.find(e => e.runId === run.runId)
  if (terminal === undefined) return run
  const { failureClass, failureMessage, abortSource } = terminal.payload as Partial<Run>
  return {
    ...run,
    status: statusOf(terminal.type),
    endedAt: terminal.at,
    ...(failureClass === undefined ? {} : { failureClass }),
    ...(failureMessage === undefined ? {} : { failureMessage }),
    ...(abortSource === undefined ? {} : { abortSource }),
    terminalEventId: terminal.eventId,
  }
}

function statusOf(type: string): 'completed' | 'failed' | 'cancelled' {
  return type === 'run_completed' ? 'completed' : type === 'run_failed' ? 'failed' : 'cancelled'
}

/** How a turn ended by its terminal events alone: not at all, in one way, or in several at once. */
export function classify(facts: Pick<TurnFacts, 'terminalEvents'>): Classification {
  const [first, second] = facts.terminalEvents
  if (first === undefined) return { kind: 'none' }
  if (second !== undefined) return { kind: 'ambiguous' }
  const { failureClass, abortSource } = first.payload as Partial<Run>
  return {
    kind: 'fact',
    fact: {
      runStatus: statusOf(first.type),
      ...(failureClass === undefined ? {} : { failureClass }),
      ...(abortSource === undefined ? {} : { abortSource }),
    },
  }
}
