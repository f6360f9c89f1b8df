import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { Content } from './content.ts'
import { InteractionOutcome, InteractionRequest } from './interaction.ts'
import { PlanEventType } from './plan.ts'
import { ClientActor, Count, chars, Digest, EntityId, Instant } from './primitives.ts'

const entry = { seq: Count, id: EntityId, turnId: EntityId, runId: z.optional(EntityId), at: Instant }

/** A text stored once by its hash, with what can be shown at once. Source: L5. */
export const ArtifactReference = z.strictObject({
  artifact: Digest,
  bytes: Count,
  preview: z.string(),
})
export type ArtifactReference = z.infer<typeof ArtifactReference>

/** Text of a tool: inline, or by reference when it is over 32 KiB. */
export const ToolText = z.union([z.string(), ArtifactReference])
export type ToolText = z.infer<typeof ToolText>

/** Where a tool call stands; `unknown` after a crash that left it without an outcome. Source: X11. */
export const ToolStatus = z.enum(['pending', 'in_progress', 'completed', 'failed', 'unknown'])
export type ToolStatus = z.infer<typeof ToolStatus>

/**
 * One line of a session's history; `seq` is contiguous per session from 1.
 * A message of the assistant is one or more entries with the same `messageId`; `offset` (UTF-16 units) is where the entry's text
 * starts in it. An entry with `isStreaming` is an open block: its text still grows. Source: L2, L4.
 */
export const TranscriptEntry = z.discriminatedUnion('kind', [
  z.strictObject({
    ...entry,
    kind: z.literal('user'),
    content: Content,
    submittedBy: z.nullable(ClientActor),
    isSteering: z.optional(z.boolean()),
  }),
  z.strictObject({
    ...entry,
    kind: z.enum(['assistant', 'thinking']),
    messageId: EntityId,
    offset: Count,
    text: z.string(),
    isStreaming: z.optional(z.boolean()),
  }),
  z.strictObject({ ...entry, kind: z.literal('notice'), text: z.string() }),
  z.strictObject({
    ...entry,
    kind: z.literal('tool'),
    toolCallId: chars(LIMITS.toolNameChars, 1),
    name: chars(LIMITS.toolNameChars),
    title: z.string(),
    status: ToolStatus,
    input: z.nullable(ToolText),
    output: z.nullable(ToolText),
    endedAt: z.optional(Instant),
  }),
  z.strictObject({
    ...entry,
    kind: z.literal('interaction'),
    interactionId: EntityId,
    request: InteractionRequest,
    outcome: InteractionOutcome,
  }),
  z.strictObject({
    ...entry,
    kind: z.literal('plan'),
    text: z.string(),
    event: z.optional(PlanEventType),
    proposalId: z.optional(EntityId),
    executionId: z.optional(EntityId),
    by: z.optional(ClientActor),
  }),
])
export type TranscriptEntry = z.infer<typeof TranscriptEntry>
/** The entry of a tool call. */
export type ToolEntry = Extract<TranscriptEntry, { kind: 'tool' }>
/** The entry of a piece of streamed text. */
export type TextEntry = Extract<TranscriptEntry, { kind: 'assistant' | 'thinking' }>

/** A page of history: entries in order of `seq`, and whether older ones exist. */
export const TranscriptPage = z.strictObject({
  entries: z.array(TranscriptEntry),
  firstSeq: Count,
  lastSeq: Count,
  hasMore: z.boolean(),
})
export type TranscriptPage = z.infer<typeof TranscriptPage>
