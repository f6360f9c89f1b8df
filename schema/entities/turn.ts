import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { utf8Bytes } from '../text.ts'
import { Content } from './content.ts'
import { bytes, ClientActor, chars, EntityId, Instant, JsonObject } from './primitives.ts'

const turnKeys = { sessionId: EntityId, turnId: EntityId, runId: EntityId }

/** Why a run failed, in one word; open. Source: T11. */
export const FailureClass = chars(LIMITS.failureClassChars, 1)
/** What there is to say about a failure: at most 1 KiB. */
export const FailureMessage = bytes(LIMITS.failureMessageBytes)
/** Who cancelled a run: `user_stop`, `leader_shutdown`, … */
export const AbortSource = chars(LIMITS.failureClassChars, 1)

/** A turn as everyone sees it, also in replies; exactly these keys per status. Source: section T of SPEC.md. */
export const TurnSnapshot = z.discriminatedUnion('status', [
  z.strictObject({ ...turnKeys, status: z.enum(['admitted', 'running', 'waiting_for_user']) }),
  z.strictObject({ ...turnKeys, status: z.literal('completed'), terminalEventId: EntityId }),
  z.strictObject({
    ...turnKeys,
    status: z.literal('failed'),
    failureClass: FailureClass,
    failureMessage: z.optional(FailureMessage),
    terminalEventId: EntityId,
  }),
  z.strictObject({ ...turnKeys, status: z.literal('cancelled'), abortSource: AbortSource, terminalEventId: EntityId }),
])
export type TurnSnapshot = z.infer<typeof TurnSnapshot>
/** The status of a turn. */
export type TurnStatus = TurnSnapshot['status']

/** True for a turn that has ended. */
export function isTerminal(status: TurnStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

const agent = { agentId: EntityId, agentName: chars(LIMITS.titleChars) }

/** Why a turn may run. Source: T4. */
export const Execution = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('external_message') }),
  z.strictObject({ kind: z.literal('regenerate'), sourceTurnId: EntityId }),
  z.strictObject({ kind: z.literal('plan'), executionId: EntityId }),
  z.strictObject({ kind: z.literal('linked_child_initial'), ...agent }),
  z.strictObject({ kind: z.literal('linked_child_resume'), ...agent, sourceRunId: EntityId }),
  z.strictObject({ kind: z.literal('linked_child_provider_retry'), ...agent, sourceRunId: EntityId }),
  z.strictObject({
    kind: z.literal('claimed_agent_graph_intent'),
    ...agent,
    claim: JsonObject.check(
      z.refine(
        claim => utf8Bytes(JSON.stringify(claim)) <= LIMITS.claimBytes,
        `must be at most ${LIMITS.claimBytes} bytes as JSON`,
      ),
    ),
  }),
])
export type Execution = z.infer<typeof Execution>

/** Where a message goes while a turn runs: into it, or into a later one. */
export const Placement = z.enum(['current_turn', 'next_turn'])
export type Placement = z.infer<typeof Placement>

/** One message as it was submitted, before it became part of a turn. `disposition` says how it got there. */
export const SourceMessage = z.strictObject({
  messageId: EntityId,
  content: Content,
  placement: Placement,
  disposition: z.enum(['turn_started', 'steering', 'followup']),
  submittedBy: z.nullable(ClientActor),
})
export type SourceMessage = z.infer<typeof SourceMessage>

/**
 * The durable record that a turn may run, written before its run exists. A session's admissions form one chain through
 * `previousRootTurnId`. `maxSteps` is absent where the sender gave none. Source: T3, T4.
 */
export const Admission = z
  .strictObject({
    turnId: EntityId,
    runId: EntityId,
    userMessageId: z.nullable(EntityId),
    execution: Execution,
    previousRootTurnId: z.nullable(EntityId),
    normalizedInput: z.nullable(Content),
    sourceMessages: z.array(SourceMessage).check(z.maxLength(LIMITS.queueEntries)),
    submittedBy: z.nullable(ClientActor),
    admittedAt: Instant,
    maxSteps: z.optional(z.number().check(z.int(), z.gte(1), z.lte(LIMITS.maxSteps))),
  })
  .check(
    z.refine(
      a =>
        (a.userMessageId !== null && a.normalizedInput !== null) || a.execution.kind === 'linked_child_provider_retry',
      'userMessageId and normalizedInput may be null only for linked_child_provider_retry',
    ),
    z.refine(a => claimFault(a) === null, {
      message: 'names another turn or run than this admission',
      path: ['execution', 'claim'],
    }),
  )
export type Admission = z.infer<typeof Admission>

/**
 * The member of a claim that names another session, turn or run than its own admission, or null. The session is looked at where it is
 * given. Source: T4.
 */
export function claimFault(
  { execution, turnId, runId }: { readonly execution: Execution; readonly turnId: string; readonly runId: string },
  sessionId?: string,
): string | null {
  if (execution.kind !== 'claimed_agent_graph_intent') return null
  const own = { targetSessionId: sessionId, targetTurnId: turnId, targetRunId: runId }
  for (const [key, id] of Object.entries(own)) {
    const named = execution.claim[key]
    if (id !== undefined && named !== undefined && named !== id) return key
  }
  return null
}

/** The status of a run. Source: T3. */
export const RunStatus = z.enum(['created', 'running', 'waiting_for_user', 'completed', 'failed', 'cancelled'])
export type RunStatus = z.infer<typeof RunStatus>

/** The execution of a turn; what does not apply is absent. Source: T3. */
export const Run = z.strictObject({
  runId: EntityId,
  turnId: EntityId,
  sessionId: EntityId,
  status: RunStatus,
  startedAt: Instant,
  endedAt: z.optional(Instant),
  agentId: z.optional(EntityId),
  agentName: z.optional(chars(LIMITS.titleChars)),
  resumedFromRunId: z.optional(EntityId),
  retriedFromRunId: z.optional(EntityId),
  regeneratedFromTurnId: z.optional(EntityId),
  failureClass: z.optional(FailureClass),
  failureMessage: z.optional(FailureMessage),
  abortSource: z.optional(AbortSource),
  terminalEventId: z.optional(EntityId),
})
export type Run = z.infer<typeof Run>

/** The user's message of a turn, or a steer that reached its run. */
export interface UserMessage {
  readonly messageId: string
  readonly turnId: string
  readonly runId?: string
  readonly content: Content
  readonly submittedBy: ClientActor | null
  readonly at: number
}
