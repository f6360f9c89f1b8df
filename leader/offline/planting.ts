import * as z from 'zod/mini'
import { commands } from '../../schema/commands/index.ts'
import { readShape } from '../../schema/commands/read-shape.ts'
import { Content } from '../../schema/entities/content.ts'
import { InterruptionReason, PlanContent, PlanExecution, PlanProposal, PlanUpdate } from '../../schema/entities/plan.ts'
import { Count, chars, EntityId, JsonObject } from '../../schema/entities/primitives.ts'
import { SessionParent } from '../../schema/entities/session.ts'
import { Task } from '../../schema/entities/task.ts'
import { AbortSource, Admission, FailureClass, FailureMessage } from '../../schema/entities/turn.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'

/** Shapes of what may be planted. Source: interfaces 3. */
export const PLANTED = {
  run: z.strictObject({
    sessionId: EntityId,
    turnId: EntityId,
    runId: EntityId,
    agentId: z.optional(EntityId),
    agentName: z.optional(chars(LIMITS.titleChars)),
    resumedFromRunId: z.optional(EntityId),
    retriedFromRunId: z.optional(EntityId),
  }),
  userMessage: z.strictObject({
    sessionId: EntityId,
    turnId: EntityId,
    messageId: EntityId,
    content: Content,
    at: z.optional(Count),
  }),
  runEvent: z.strictObject({
    sessionId: EntityId,
    runId: EntityId,
    type: chars(LIMITS.toolNameChars, 1),
    payload: JsonObject,
  }),
  admission: Admission,
  child: z.extend(commands['session.create'].input, { parent: SessionParent }),
  /** What of it is the proposal's content has bounds of its own. */
  proposal: z.strictObject({ operationId: EntityId, sessionId: EntityId, turnId: EntityId, ...PlanContent.shape }),
} as const

const ToolText = z.nullable(z.union([z.string(), JsonObject]))

/** Payloads of the event types that the fold looks into; any other type is kept as it is. */
const PAYLOADS: Readonly<Record<string, z.ZodMiniType>> = {
  run_completed: z.looseObject({}),
  run_failed: z.looseObject({ failureClass: z.optional(FailureClass), failureMessage: z.optional(FailureMessage) }),
  run_cancelled: z.looseObject({ abortSource: z.optional(AbortSource) }),
  notice_appended: z.looseObject({ entryId: EntityId, text: z.string() }),
  tool_started: z.looseObject({
    toolCallId: chars(LIMITS.toolNameChars, 1),
    name: z._default(z.string(), ''),
    title: z._default(z.string(), ''),
    status: z._default(z.enum(['pending', 'in_progress']), 'in_progress'),
    input: z._default(ToolText, null),
  }),
  tool_updated: z.looseObject({ toolCallId: chars(LIMITS.toolNameChars, 1) }),
  tool_ended: z.looseObject({
    toolCallId: chars(LIMITS.toolNameChars, 1),
    status: z._default(z.enum(['completed', 'failed', 'unknown']), 'completed'),
    output: z._default(ToolText, null),
  }),
  text_sealed: z.looseObject({
    blockId: EntityId,
    kind: z.enum(['assistant', 'thinking']),
    messageId: EntityId,
    offset: Count,
    text: z.string(),
    startedAt: Count,
  }),
  plan_submitted: z.looseObject({ proposal: PlanProposal }),
  plan_revision_requested: z.looseObject({ proposalId: EntityId, feedback: z.string() }),
  plan_abandoned: z.looseObject({ proposalId: EntityId }),
  plan_approved: z.looseObject({ proposalId: EntityId, execution: PlanExecution }),
  plan_progress_updated: PlanUpdate,
  plan_execution_completed: PlanUpdate,
  plan_execution_cancelled: z.looseObject({ execution: PlanExecution }),
  plan_execution_interrupted: z.looseObject({ executionId: EntityId, reason: InterruptionReason }),
  plan_execution_resumed: z.looseObject({ execution: PlanExecution }),
  task_created: z.looseObject({ task: Task }),
  task_updated: z.looseObject({ task: Task }),
  usage_reported: z.looseObject({ usage: JsonObject }),
}

/** Facts about a session, its queue or its turns have writers of their own, or none. */
const NOT_A_RUN_EVENT =
  /^(ledger_|session_|turn_|queue_|interaction_|run_created$|run_started$|user_message_|steering_|process_|agent_)/

/** The value in its shape, with the text rule applied. Errors: `invalid_request` with the path of the first fault. */
export function checkShape<S extends z.ZodMiniType>(schema: S, value: unknown): z.infer<S> {
  return readShape(schema, JSON.parse(JSON.stringify(value ?? null)))
}

/** The payload of a run event in the shape of its type. */
export function checkPayload(type: string, payload: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (NOT_A_RUN_EVENT.test(type)) {
    throw new HeadwaterError('invalid_request', `type: '${type}' is not an event of a run`, { path: 'type' })
  }
  const schema = PAYLOADS[type]
  return schema === undefined ? { ...payload } : (checkShape(schema, payload) as Record<string, unknown>)
}
