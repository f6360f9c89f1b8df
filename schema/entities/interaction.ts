import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { ClientActor, Count, chars, EntityId, Instant, JsonObject } from './primitives.ts'

const text = chars(LIMITS.interactionTextChars)

/** Questions to a person, each with up to 8 options. `multiple` allows several, `allowText` words of one's own; absent: no. Source: I1. */
export const QuestionRequest = z.strictObject({
  kind: z.literal('question'),
  questions: z
    .array(
      z.strictObject({
        question: chars(LIMITS.interactionTextChars, 1),
        options: z
          .array(z.strictObject({ label: chars(LIMITS.interactionTextChars, 1), description: z.optional(text) }))
          .check(z.maxLength(LIMITS.optionsPerQuestion)),
        multiple: z.optional(z.boolean()),
        allowText: z.optional(z.boolean()),
      }),
    )
    .check(z.minLength(1), z.maxLength(LIMITS.questionsPerInteraction)),
})
export type QuestionRequest = z.infer<typeof QuestionRequest>

/** What choosing an option of a permission means. */
export const PermissionOptionKind = z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])

/** Leave to make one tool call. Source: I1. */
export const PermissionRequest = z.strictObject({
  kind: z.literal('permission'),
  toolCallId: chars(LIMITS.toolNameChars, 1),
  title: text,
  /** What `allow_always` remembers: the tool's name or kind as the backend names it. */
  toolKind: chars(LIMITS.toolNameChars, 1),
  options: z
    .array(z.strictObject({ optionId: chars(LIMITS.toolNameChars, 1), label: text, kind: PermissionOptionKind }))
    .check(z.minLength(1), z.maxLength(LIMITS.permissionOptions)),
})
export type PermissionRequest = z.infer<typeof PermissionRequest>

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** True for a form that can be filled in: a bounded number of fields, none with fields of its own. */
function isFlatForm({ type = 'object', properties = {} }: Readonly<Record<string, unknown>>): boolean {
  if (type !== 'object' || !isRecord(properties)) return false
  const fields = Object.values(properties)
  const isFlat = (field: unknown): boolean =>
    isRecord(field) && field.type !== 'object' && !(isRecord(field.items) && field.items.type === 'object')
  return fields.length <= LIMITS.formFields && fields.every(isFlat)
}

/** A flat JSON-schema object: strings, numbers, booleans and lists of choices. Source: I1. */
export const FormRequest = z.strictObject({
  kind: z.literal('form'),
  title: z.optional(text),
  message: z.optional(text),
  schema: JsonObject.check(
    z.refine(isFlatForm, `must be a flat JSON-schema object of at most ${LIMITS.formFields} fields`),
  ),
})
export type FormRequest = z.infer<typeof FormRequest>

/** What a run asks of a person. Source: I1. */
export const InteractionRequest = z.discriminatedUnion('kind', [QuestionRequest, PermissionRequest, FormRequest])
export type InteractionRequest = z.infer<typeof InteractionRequest>

/** What a person answers; its shape must fit the request. Source: I2. */
export const InteractionAnswer = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('question'),
    answers: z
      .array(
        z.nullable(
          z.strictObject({
            labels: z.array(text).check(z.maxLength(LIMITS.optionsPerQuestion)),
            text: z.optional(chars(LIMITS.interactionTextChars)),
          }),
        ),
      )
      .check(z.maxLength(LIMITS.questionsPerInteraction)),
  }),
  z.strictObject({ kind: z.literal('permission'), optionId: chars(LIMITS.toolNameChars, 1) }),
  z.strictObject({ kind: z.literal('form'), values: JsonObject }),
])
export type InteractionAnswer = z.infer<typeof InteractionAnswer>

/** Why an interaction was closed without an answer. Source: I5. */
export const ClosureReason = z.enum(['turn_stopped', 'turn_terminal', 'host_restarted', 'expired'])
export type ClosureReason = z.infer<typeof ClosureReason>

/** How an interaction was settled: by a person (or by a permission mode, `leader`), or by circumstances. Source: I2. */
export const InteractionOutcome = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('answer'),
    answer: InteractionAnswer,
    by: z.union([ClientActor, z.literal('leader')]),
    at: Instant,
  }),
  z.strictObject({ kind: z.literal('closure'), reason: ClosureReason, at: Instant }),
])
export type InteractionOutcome = z.infer<typeof InteractionOutcome>

/** A wait for a person; only pending becomes answered or closed, revision 1 becomes 2. Source: I2. */
export const InteractionSnapshot = z.strictObject({
  interactionId: EntityId,
  sessionId: EntityId,
  turnId: EntityId,
  runId: EntityId,
  revision: Count,
  request: InteractionRequest,
  status: z.enum(['pending', 'answered', 'closed']),
  outcome: z.nullable(InteractionOutcome),
})
export type InteractionSnapshot = z.infer<typeof InteractionSnapshot>
