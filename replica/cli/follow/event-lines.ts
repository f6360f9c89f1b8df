import type { EventPayloads, EventType, LedgerEvent, LedgerRecord } from '../../../schema/events.ts'

/** One line of `--format jsonl`. `seq` is the ledger revision, so lines can be asked for again. Source: experience 4.1. */
export interface EventLine {
  readonly v: 1
  readonly seq: number
  readonly type: string
  /** The leader's time. Unit: ms. */
  readonly at: number
  readonly sessionId: string
  readonly [field: string]: unknown
}

/** A line with its head. */
export function eventLine(
  head: { sessionId: string; seq: number; at: number },
  type: string,
  fields: object,
): EventLine {
  return { v: 1, seq: head.seq, type, at: head.at, sessionId: head.sessionId, ...fields }
}

/** The lines of a ledger record, in order of its events; bookkeeping events give none. Source: L1. */
export function linesOfRecord(
  sessionId: string,
  record: Pick<LedgerRecord, 'revision' | 'at' | 'events'>,
): EventLine[] {
  const head = { sessionId, seq: record.revision, at: record.at }
  return record.events.flatMap(event => {
    const mapped = mapEvent(event, record.at)
    return mapped === undefined ? [] : [eventLine(head, mapped.type, mapped.fields)]
  })
}

interface Mapped {
  readonly type: string
  readonly fields: object
}

type Mappers = { readonly [T in EventType]?: (payload: EventPayloads[T], at: number) => Mapped }

const SILENT: ReadonlySet<string> = new Set([
  'turn_settled',
  'run_created',
  'process_started',
  'agent_session_remembered',
])

const MAPPERS: Mappers = {
  session_created: ({ header }) => ({ type: 'session.created', fields: { session: header } }),
  session_updated: ({ patch }) => ({ type: 'session.changed', fields: { patch } }),
  session_archived: () => ({ type: 'session.archived', fields: {} }),
  session_unarchived: () => ({ type: 'session.unarchived', fields: {} }),
  turn_admitted: ({ admission: { turnId, runId, execution, submittedBy } }) => ({
    type: 'turn.admitted',
    fields: { turnId, runId, execution, submittedBy },
  }),
  run_started: ({ turnId, runId }) => ({ type: 'turn.started', fields: { turnId, runId } }),
  run_completed: ({ turnId, runId, eventId }) => ({
    type: 'turn.completed',
    fields: { turnId, runId, terminalEventId: eventId },
  }),
  run_failed: ({ eventId, ...rest }) => ({ type: 'turn.failed', fields: { ...rest, terminalEventId: eventId } }),
  run_cancelled: ({ eventId, ...rest }) => ({ type: 'turn.cancelled', fields: { ...rest, terminalEventId: eventId } }),
  user_message_appended: ({ turnId, runId, messageId, content, submittedBy }) =>
    item('item.completed', { turnId, runId }, { kind: 'user', id: messageId, content, submittedBy }),
  steering_delivered: ({ turnId, runId, messageId, content, submittedBy }) =>
    item('item.completed', { turnId, runId }, { kind: 'user', id: messageId, content, submittedBy, isSteering: true }),
  text_sealed: ({ turnId, runId, blockId, kind, messageId, offset, text }) =>
    item('item.completed', { turnId, runId }, { kind, id: blockId, messageId, offset, text }),
  notice_appended: ({ turnId, runId, entryId, text }) =>
    item('item.completed', { turnId, runId }, { kind: 'notice', id: entryId, text }),
  tool_started: ({ turnId, runId, toolCallId, ...tool }) =>
    item('item.started', { turnId, runId }, { kind: 'tool', id: toolCallId, ...tool }),
  tool_updated: ({ turnId, runId, toolCallId, ...tool }) =>
    item('item.changed', { turnId, runId }, { kind: 'tool', id: toolCallId, ...tool }),
  tool_ended: ({ turnId, runId, toolCallId, ...tool }) =>
    item('item.completed', { turnId, runId }, { kind: 'tool', id: toolCallId, ...tool }),
  agent_plan_reported: ({ turnId, runId, entries }) => ({ type: 'plan.reported', fields: { turnId, runId, entries } }),
  plan_submitted: ({ turnId, runId, proposal }) => ({ type: 'plan.proposed', fields: { turnId, runId, proposal } }),
  plan_revision_requested: payload => planSettled('revision_requested', payload),
  plan_abandoned: payload => planSettled('abandoned', payload),
  plan_approved: payload => planSettled('approved', payload),
  plan_progress_updated: payload => planChanged('progress_updated', payload),
  plan_execution_completed: payload => planChanged('completed', payload),
  plan_execution_cancelled: payload => planChanged('cancelled', payload),
  plan_execution_interrupted: payload => planChanged('interrupted', payload),
  plan_execution_resumed: payload => planChanged('resumed', payload),
  task_created: payload => taskChanged('created', payload),
  task_updated: payload => taskChanged('updated', payload),
  usage_reported: ({ turnId, runId, usage }) => ({ type: 'usage.reported', fields: { turnId, runId, usage } }),
  interaction_opened: ({ turnId, runId, interactionId, request }) => ({
    type: 'interaction.opened',
    fields: { turnId, runId, interactionId, request },
  }),
  interaction_answered: ({ turnId, runId, interactionId, outcome }) => ({
    type: 'interaction.settled',
    fields: { turnId, runId, interactionId, status: 'answered', outcome },
  }),
  interaction_closed: ({ turnId, runId, interactionId, reason }, at) => ({
    type: 'interaction.settled',
    fields: { turnId, runId, interactionId, status: 'closed', outcome: { kind: 'closure', reason, at } },
  }),
}

/** A person decided about a proposal. */
function planSettled(outcome: string, payload: object): Mapped {
  return { type: 'plan.settled', fields: { outcome, ...payload } }
}

/** A plan is carried out, or not any more. */
function planChanged(change: string, payload: object): Mapped {
  return { type: 'plan.changed', fields: { change, ...payload } }
}

/** The whole task as it is afterwards. */
function taskChanged(change: string, { turnId, runId, task }: EventPayloads['task_created']): Mapped {
  return { type: 'task.changed', fields: { change, turnId, runId, task } }
}

function item(type: string, of: { turnId: string; runId: string }, fields: object): Mapped {
  return { type, fields: { ...of, item: fields } }
}

function mapEvent(event: LedgerEvent, at: number): Mapped | undefined {
  if (SILENT.has(event.type)) return undefined
  if (event.type.startsWith('queue_')) {
    return {
      type: 'queue.changed',
      fields: { change: event.type.slice('queue_'.length), ...withoutHead(event.payload) },
    }
  }
  const mapper = Object.hasOwn(MAPPERS, event.type) ? MAPPERS[event.type as EventType] : undefined
  // A type of a later build is passed on as it is, so that nothing is hidden.
  if (mapper === undefined) return { type: 'event.other', fields: { event } }
  return (mapper as (payload: unknown, at: number) => Mapped)(event.payload, at)
}

/** A payload's own fields must not replace those of the line. */
function withoutHead({
  v: _v,
  seq: _s,
  type: _t,
  at: _a,
  sessionId: _i,
  ...rest
}: Readonly<Record<string, unknown>>): object {
  return rest
}
