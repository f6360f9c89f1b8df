import { normalizeContent } from '../../../schema/canonical.ts'
import type { Attachment, Content, Quote } from '../../../schema/entities/content.ts'
import type { ClientActor } from '../../../schema/entities/primitives.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { Admission, Execution, SourceMessage } from '../../../schema/entities/turn.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { QueueRecord } from '../../../schema/projection/layout.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import { type DecideContext, event } from '../decision.ts'
import { activeTurn, type SessionState } from '../state.ts'
import { titleFrom } from './session.ts'

/** What a new turn is made from. */
export interface TurnInput {
  readonly turnId: string
  /** Null where nobody says anything: an earlier input is done again. Source: T4. */
  readonly userMessageId: string | null
  readonly content: Content
  readonly sourceMessages: readonly SourceMessage[]
  readonly submittedBy: ClientActor | null
  readonly maxSteps?: number
  /** Default: a message from outside. Source: T4. */
  readonly execution?: Execution
  /** The epoch the message was written under, where a message starts the turn. Source: Q3. */
  readonly originHostEpoch?: string
}

/** The id of a user message that the leader names: as random as its run's, so that no client's message has it. */
export function leaderMessageId(context: Pick<DecideContext, 'freshRunId'>): string {
  return `input-${context.freshRunId}`
}

/** The events that admit a turn; the first message also names a session without a title. Source: T1, T3, S1. */
export function admit(state: SessionState, input: TurnInput, context: DecideContext): DomainEvent[] {
  const admission: Admission = {
    turnId: input.turnId,
    runId: context.freshRunId,
    userMessageId: input.userMessageId,
    execution: input.execution ?? { kind: 'external_message' },
    previousRootTurnId: state.root?.admission.turnId ?? null,
    normalizedInput: normalizeContent(input.content),
    sourceMessages: [...input.sourceMessages],
    submittedBy: input.submittedBy,
    admittedAt: context.at,
    ...(input.maxSteps === undefined ? {} : { maxSteps: input.maxSteps }),
  }
  const { originHostEpoch } = input
  const origin = originHostEpoch === undefined ? {} : { originHostEpoch }
  const events: DomainEvent[] = [event('turn_admitted', { admission, ...origin })]
  const header = state.header as SessionHeader
  if (header.title === '' && !header.titleIsManual) {
    const title = titleFrom(input.content.displayText ?? input.content.text)
    if (title !== '') events.push(event('session_updated', { patch: { title } }))
  }
  return events
}

/** A message as it was submitted, for the admission it became part of. */
export function sourceOf(record: QueueRecord): SourceMessage {
  const { messageId, content, placement, submittedBy } = record.entry
  const disposition = placement === 'current_turn' ? 'steering' : 'followup'
  return { messageId, content, placement, disposition, submittedBy }
}

/** Entries the next hand-off takes, in order of delivery: steering first, then follow-ups; parked ones are passed over. Source: Q7. */
export function handOffEntries(queue: readonly QueueRecord[]): readonly QueueRecord[] {
  const waiting = queue.filter(record => record.entry.state === 'queued' && record.entry.heldBy === undefined)
  const inOrder = [
    ...waiting.filter(r => r.entry.placement === 'current_turn'),
    ...waiting.filter(r => r.entry.placement === 'next_turn'),
  ]
  let taken = inOrder.slice(0, 1)
  for (let count = 2; count <= inOrder.length; count++) {
    const more = inOrder.slice(0, count)
    if (!fitsOneMessage(joinContents(more.map(r => r.entry.content)))) break
    taken = more
  }
  return taken
}

/** Several messages as one content; one alone stays as it is. Source: Q7. */
export function joinContents(contents: readonly Content[]): Content {
  const [only] = contents
  if (contents.length === 1 && only !== undefined) return normalizeContent(only)
  const attachments: Attachment[] = contents.flatMap(c => c.attachments ?? [])
  const quotes: Quote[] = contents.flatMap(c => c.quotes ?? [])
  const hasDisplayText = contents.some(c => c.displayText !== undefined)
  return normalizeContent({
    text: contents.map(c => c.text).join('\n\n'),
    ...(hasDisplayText ? { displayText: contents.map(c => c.displayText ?? c.text).join('\n\n') } : {}),
    attachments,
    quotes,
  })
}

function fitsOneMessage(content: Content): boolean {
  return (
    utf8Bytes(content.text) <= LIMITS.messageTextBytes &&
    utf8Bytes(content.displayText ?? '') <= LIMITS.messageTextBytes &&
    (content.attachments?.length ?? 0) <= LIMITS.attachmentsPerMessage &&
    (content.quotes?.length ?? 0) <= LIMITS.quotesPerMessage &&
    utf8Bytes(JSON.stringify(content)) <= LIMITS.messageContentBytes
  )
}

/** The transition that makes waiting entries the successor turn, or null while a turn is active or none may go. Source: Q7, T12. */
export function handOn(state: SessionState, context: DecideContext): DomainEvent[] | null {
  if (activeTurn(state) !== null) return null
  const records = handOffEntries(state.queue)
  const [first] = records
  if (first === undefined) return null
  const turnId = context.freshTurnId
  const isAlone = records.length === 1
  const input: TurnInput = {
    turnId,
    userMessageId: isAlone ? first.entry.messageId : leaderMessageId(context),
    content: joinContents(records.map(r => r.entry.content)),
    sourceMessages: records.map(sourceOf),
    submittedBy: isAlone ? first.entry.submittedBy : null,
  }
  const entryIds = records.map(r => r.entry.entryId)
  return [event('queue_handed_on', { entryIds, turnId }), ...admit(state, input, context)]
}
