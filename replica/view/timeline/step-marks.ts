import type { DomainEvent, LedgerEvent } from '../../../schema/events.ts'

/** What takes time between two records. */
export const STEPS = ['start', 'first_text', 'turn', 'tool', 'answer', 'queue', 'plan'] as const
/** One of the steps. */
export type StepName = (typeof STEPS)[number]

/** What each step is, in words that go before its duration. */
export const STEP_WORDS: Readonly<Record<StepName, string>> = {
  start: 'started after',
  first_text: 'first text after',
  turn: 'turn took',
  tool: 'tool took',
  answer: 'answered after',
  queue: 'delivered after',
  plan: 'decided after',
}

/** A step begins or ends here; `key` says which one of them. */
export interface StepMark {
  readonly step: StepName
  readonly key: string
  readonly does: 'begin' | 'end' | 'drop'
  /** Unit: ms. */
  readonly at: number
}

/** The marks of an event that happened at `at`. `drop`: it came to nothing, and nobody waited for it to the end. */
export function stepMarks(event: LedgerEvent, at: number): StepMark[] {
  const mark = (step: StepName, does: StepMark['does'], key: string, when = at): StepMark => ({
    step,
    key,
    does,
    at: when,
  })
  // A type that is not known here gives no marks.
  const known = event as unknown as DomainEvent
  switch (known.type) {
    case 'turn_admitted': {
      const { runId } = known.payload.admission
      return [mark('turn', 'begin', runId), mark('start', 'begin', runId)]
    }
    case 'run_created':
      return [mark('turn', 'begin', known.payload.runId)]
    case 'run_started':
      return [mark('start', 'end', known.payload.runId), mark('first_text', 'begin', known.payload.runId)]
    case 'text_sealed':
      return [mark('first_text', 'end', known.payload.runId, Math.min(at, known.payload.startedAt))]
    case 'run_completed':
    case 'run_failed':
    case 'run_cancelled': {
      const { runId } = known.payload
      return [mark('start', 'drop', runId), mark('first_text', 'drop', runId), mark('turn', 'end', runId)]
    }
    case 'tool_started':
      return [mark('tool', 'begin', known.payload.toolCallId)]
    case 'tool_ended':
      return [mark('tool', 'end', known.payload.toolCallId)]
    case 'interaction_opened':
      return [mark('answer', 'begin', known.payload.interactionId)]
    case 'interaction_answered':
      return [mark('answer', 'end', known.payload.interactionId)]
    case 'interaction_closed':
      return [mark('answer', 'drop', known.payload.interactionId)]
    case 'queue_entry_added':
      return [mark('queue', 'begin', known.payload.entryId)]
    case 'steering_delivered':
      return [mark('queue', 'end', known.payload.entryId)]
    case 'queue_handed_on':
      return known.payload.entryIds.map(entryId => mark('queue', 'end', entryId))
    case 'queue_entry_removed':
      return [mark('queue', 'drop', known.payload.entryId)]
    case 'queue_retracted':
      return known.payload.entryIds.map(entryId => mark('queue', 'drop', entryId))
    case 'plan_submitted':
      return [mark('plan', 'begin', known.payload.proposal.proposalId)]
    case 'plan_approved':
    case 'plan_revision_requested':
    case 'plan_abandoned':
      return [mark('plan', 'end', known.payload.proposalId)]
    default:
      return []
  }
}
