import type { ClientActor } from '../../../schema/entities/primitives.ts'
import type { EventPayloads, EventType } from '../../../schema/events.ts'
import { byteText } from '../byte-text.ts'
import { summaryOf, titleWithKind } from '../interaction-words.ts'
import {
  abortWords,
  closureWords,
  failureWords,
  interruptionWords,
  parkWords,
  surfaceWords,
  taskWords,
  toolWords,
} from '../words.ts'
import { countWords, excerpt, shortId } from './wording.ts'

/** What a record is about; filters go by it. */
export const TIMELINE_KINDS = [
  'session',
  'turn',
  'message',
  'text',
  'tool',
  'question',
  'queue',
  'plan',
  'task',
  'agent',
] as const
/** One of the kinds. */
export type TimelineKind = (typeof TIMELINE_KINDS)[number]

/** How an event is told: of which kind it is, in which words, and the id that names what it is about. */
export interface EventTelling<T extends EventType> {
  readonly kind: TimelineKind
  readonly words: (payload: EventPayloads[T]) => string
  readonly id?: (payload: EventPayloads[T]) => string
  /** Bookkeeping: told only where the record has nothing else to tell. */
  readonly isMinor?: true
}

const entry = ({ entryId }: { readonly entryId: string }): string => entryId
const tool = ({ toolCallId }: { readonly toolCallId: string }): string => toolCallId
const asked = ({ interactionId }: { readonly interactionId: string }): string => interactionId
const turn = ({ turnId }: { readonly turnId: string }): string => turnId
const proposal = ({ proposalId }: { readonly proposalId: string }): string => proposalId
const execution = ({ executionId }: { readonly executionId: string }): string => executionId
const messages = ({ entryIds }: { readonly entryIds: readonly string[] }): string =>
  countWords(entryIds.length, 'waiting message', 'waiting messages')
const ofClient = ({ surface }: ClientActor): string => surfaceWords(surface)

/** Every durable fact in plain words. Source: L1, experience 9.1. */
export const EVENT_TABLE: { readonly [T in EventType]: EventTelling<T> } = {
  session_created: { kind: 'session', words: ({ header }) => `session made for ${header.backend} in ${header.cwd}` },
  session_updated: { kind: 'session', words: ({ patch }) => `header changed: ${patchWords(patch)}` },
  session_archived: { kind: 'session', words: () => 'session put away' },
  session_unarchived: { kind: 'session', words: () => 'session taken out of the archive' },
  session_forked: {
    kind: 'session',
    words: ({ sourceSessionId, sourceTurnId }) =>
      `copied from session ${shortId(sourceSessionId)}, up to turn ${shortId(sourceTurnId)}`,
    id: ({ sourceSessionId }) => sourceSessionId,
  },
  session_deleted: { kind: 'session', words: () => 'session removed' },
  turn_admitted: {
    kind: 'turn',
    words: ({ admission }) => `turn admitted${EXECUTION[admission.execution.kind] ?? ''}`,
    id: ({ admission }) => admission.turnId,
  },
  run_created: { kind: 'turn', words: () => 'run that was brought along', id: turn },
  run_started: { kind: 'turn', words: () => 'run started', id: turn },
  user_message_appended: {
    kind: 'message',
    words: ({ content }) => `message: ${excerpt(content.displayText ?? content.text)}`,
    id: ({ messageId }) => messageId,
  },
  steering_delivered: {
    kind: 'message',
    words: ({ content }) => `steering message reached the run: ${excerpt(content.displayText ?? content.text)}`,
    id: ({ messageId }) => messageId,
  },
  text_sealed: {
    kind: 'text',
    words: ({ kind, text }) => `${kind === 'thinking' ? 'thought' : 'text'}: ${excerpt(text)}`,
    id: ({ messageId }) => messageId,
  },
  notice_appended: { kind: 'text', words: ({ text }) => `notice: ${excerpt(text)}`, id: entry },
  tool_started: {
    kind: 'tool',
    words: ({ name, title }) => `tool started: ${excerpt(titleWithKind(name, title))}`,
    id: tool,
  },
  tool_updated: {
    kind: 'tool',
    words: ({ title, status, outputTail }) =>
      `tool went on${[title, status === undefined ? undefined : toolWords(status), outputTail]
        .flatMap(text => (text === undefined || text.trim() === '' ? [] : [`: ${excerpt(text)}`]))
        .slice(0, 2)
        .join('')}`,
    id: tool,
  },
  tool_ended: {
    kind: 'tool',
    words: ({ status, output }) => `tool ${toolWords(status)}${output === null ? '' : `, gave ${sizeOf(output)}`}`,
    id: tool,
  },
  agent_plan_reported: {
    kind: 'plan',
    words: ({ entries }) => `the agent told its plan: ${countWords(entries.length, 'entry', 'entries')}`,
  },
  process_started: { kind: 'agent', words: () => 'process of the agent started' },
  agent_session_remembered: {
    kind: 'agent',
    words: ({ backend }) => `${backend} named its own session, to go on with it later`,
    isMinor: true,
  },
  usage_reported: { kind: 'agent', words: ({ usage }) => `usage told: ${usageWords(usage)}`, isMinor: true },
  run_completed: { kind: 'turn', words: () => 'run completed', id: turn },
  run_failed: {
    kind: 'turn',
    words: ({ failureClass, failureMessage }) =>
      `run failed: ${failureWords(failureClass)}${failureMessage === undefined ? '' : `: ${excerpt(failureMessage)}`}`,
    id: turn,
  },
  run_cancelled: { kind: 'turn', words: ({ abortSource }) => `run stopped: ${abortWords(abortSource)}`, id: turn },
  turn_settled: { kind: 'turn', words: () => 'turn settled', id: turn, isMinor: true },
  interaction_opened: { kind: 'question', words: ({ request }) => `asked: ${excerpt(summaryOf(request))}`, id: asked },
  interaction_answered: {
    kind: 'question',
    words: ({ outcome: { by } }) => `answered by ${by === 'leader' ? 'the leader' : ofClient(by)}`,
    id: asked,
  },
  interaction_closed: {
    kind: 'question',
    words: ({ reason }) => `question closed: ${closureWords(reason)}`,
    id: asked,
  },
  queue_entry_added: {
    kind: 'queue',
    words: ({ placement, content }) =>
      `${placement === 'current_turn' ? 'steering message' : 'message for a later turn'} waits: ${excerpt(content.displayText ?? content.text)}`,
    id: entry,
  },
  queue_entry_edited: {
    kind: 'queue',
    words: ({ content }) => `waiting message changed: ${excerpt(content.text)}`,
    id: entry,
  },
  queue_entry_removed: { kind: 'queue', words: () => 'waiting message taken back', id: entry },
  queue_entry_moved: {
    kind: 'queue',
    words: moved => `waiting message moved ${'before' in moved ? 'before' : 'behind'} another`,
    id: entry,
  },
  queue_entry_promoted: { kind: 'queue', words: () => 'waiting message made a steering one', id: entry },
  queue_entry_held: { kind: 'queue', words: ({ by }) => `waiting message held: ${ofClient(by)} changes it`, id: entry },
  queue_entry_released: { kind: 'queue', words: () => 'waiting message let go', id: entry },
  queue_entries_pulled: { kind: 'queue', words: pulled => `the run took ${messages(pulled)}`, isMinor: true },
  queue_entries_returned: { kind: 'queue', words: returned => `the run gave back ${messages(returned)}` },
  queue_entries_parked: { kind: 'queue', words: parked => `${messages(parked)} parked: ${parkWords(parked.reason)}` },
  queue_resumed: { kind: 'queue', words: resumed => `${messages(resumed)} may run again` },
  queue_retracted: { kind: 'queue', words: retracted => `${messages(retracted)} taken back` },
  queue_handed_on: { kind: 'queue', words: handed => `${messages(handed)} became this turn`, id: turn },
  plan_submitted: {
    kind: 'plan',
    words: submitted =>
      `plan proposed: ${excerpt(submitted.proposal.title)}, ${countWords(submitted.proposal.steps.length, 'step', 'steps')}`,
    id: submitted => submitted.proposal.proposalId,
  },
  plan_revision_requested: {
    kind: 'plan',
    words: ({ feedback }) => `changes to the plan asked for: ${excerpt(feedback)}`,
    id: proposal,
  },
  plan_abandoned: { kind: 'plan', words: () => 'plan dropped', id: proposal },
  plan_approved: { kind: 'plan', words: () => 'plan approved', id: proposal },
  plan_progress_updated: {
    kind: 'plan',
    words: ({ steps }) => {
      const done = steps.filter(({ status }) => status === 'completed' || status === 'skipped').length
      return `plan went on: ${done}/${steps.length}`
    },
    id: execution,
  },
  plan_execution_completed: { kind: 'plan', words: () => 'plan carried out', id: execution },
  plan_execution_cancelled: {
    kind: 'plan',
    words: () => 'plan given up',
    id: cancelled => cancelled.execution.executionId,
  },
  plan_execution_interrupted: {
    kind: 'plan',
    words: ({ reason }) => `plan interrupted: ${interruptionWords(reason)}`,
    id: execution,
  },
  plan_execution_resumed: { kind: 'plan', words: () => 'plan goes on', id: resumed => resumed.execution.executionId },
  task_created: {
    kind: 'task',
    words: ({ task }) => `task ${task.key} made: ${excerpt(task.subject)}`,
    id: ({ task }) => task.id,
  },
  task_updated: {
    kind: 'task',
    words: ({ task }) => `task ${task.key} ${taskWords(task.status)}: ${excerpt(task.subject)}`,
    id: ({ task }) => task.id,
  },
  ledger_compacted: { kind: 'session', words: () => 'what came before was put together; its single records are gone' },
}

const EXECUTION: Readonly<Record<string, string>> = {
  external_message: '',
  regenerate: ', to answer again',
  plan: ', to carry out the plan',
  linked_child_initial: ' for the session above',
  linked_child_resume: ', to go on for the session above',
  linked_child_provider_retry: ', to try again for the session above',
  claimed_agent_graph_intent: ', as an agent asked',
}

function patchWords(patch: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(patch).map(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? `${name} ${excerpt(String(value))}`
      : name,
  )
  return told.length === 0 ? 'nothing' : excerpt(told.join(', '))
}

function usageWords(usage: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(usage).flatMap(([name, value]) => (typeof value === 'number' ? [`${name} ${value}`] : []))
  return told.length === 0 ? Object.keys(usage).slice(0, 4).join(', ') : excerpt(told.join(', '))
}

function sizeOf(output: NonNullable<EventPayloads['tool_ended']['output']>): string {
  return typeof output === 'string' ? countWords(output.length, 'character', 'characters') : byteText(output.bytes)
}
