import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { utf8Bytes } from '../text.ts'
import { bytes, Count, chars, Digest, EntityId, Instant } from './primitives.ts'

const stepKeys = {
  id: EntityId,
  title: chars(LIMITS.planStepTitleChars, 1),
  description: bytes(LIMITS.planStepDescriptionBytes),
  files: z.optional(z.array(bytes(LIMITS.pathBytes, 1)).check(z.maxLength(LIMITS.planStepFiles))),
  complexity: z.optional(chars(LIMITS.toolNameChars, 1)),
}

/** One step of a proposal. Source: section P of SPEC.md. */
export const PlanStep = z.strictObject(stepKeys)
export type PlanStep = z.infer<typeof PlanStep>

const Steps = z.array(PlanStep).check(
  z.minLength(1),
  z.maxLength(LIMITS.planSteps),
  z.refine(steps => new Set(steps.map(s => s.id)).size === steps.length, 'step ids must be unique'),
)

const contentKeys = {
  title: chars(LIMITS.titleChars, 1),
  overview: z.optional(bytes(LIMITS.planTextBytes)),
  steps: Steps,
  risks: z.optional(
    z.union([bytes(LIMITS.planTextBytes), z.array(bytes(LIMITS.planTextBytes)).check(z.maxLength(LIMITS.planSteps))]),
  ),
}

/** What a run proposes; `contentDigest` of a proposal is the canonical digest of exactly this. At most 64 KiB as JSON. */
export const PlanContent = z
  .strictObject(contentKeys)
  .check(
    z.refine(
      content => utf8Bytes(JSON.stringify(content)) <= LIMITS.planProposalBytes,
      `must be at most ${LIMITS.planProposalBytes} bytes as JSON`,
    ),
  )
export type PlanContent = z.infer<typeof PlanContent>

/** Where a proposal stands; only the latest one can be pending. */
export const ProposalStatus = z.enum(['pending_approval', 'stale', 'approved'])

/**
 * A plan as a run submitted it. `revision` counts the proposals under one `planId` from 1. `feedback` is what a person asked to change.
 * Source: P1–P4.
 */
export const PlanProposal = z.strictObject({
  planId: EntityId,
  proposalId: EntityId,
  sessionId: EntityId,
  turnId: EntityId,
  revision: Count,
  contentDigest: Digest,
  supersedesProposalId: z.optional(EntityId),
  ...contentKeys,
  status: ProposalStatus,
  submittedAt: Instant,
  feedback: z.optional(bytes(LIMITS.planFeedbackBytes, 1)),
})
export type PlanProposal = z.infer<typeof PlanProposal>

/** Where a step of an execution stands. */
export const StepStatus = z.enum(['pending', 'in_progress', 'completed', 'skipped'])
export type StepStatus = z.infer<typeof StepStatus>

/** One step of an execution. */
export const ExecutionStep = z.strictObject({
  ...stepKeys,
  status: StepStatus,
  note: z.optional(bytes(LIMITS.planStepDescriptionBytes)),
})
export type ExecutionStep = z.infer<typeof ExecutionStep>

/** Why an execution was interrupted. Source: P11. */
export const InterruptionReason = z.enum(['turn_failed', 'turn_cancelled', 'leader_stopped', 'leader_restarted'])
export type InterruptionReason = z.infer<typeof InterruptionReason>

/** The carrying out of one approved proposal; `contentDigest` is the proposal's. Source: P4–P8. */
export const PlanExecution = z.strictObject({
  executionId: EntityId,
  planId: EntityId,
  proposalId: EntityId,
  contentDigest: Digest,
  title: chars(LIMITS.titleChars, 1),
  status: z.enum(['active', 'completed', 'cancelled', 'interrupted']),
  steps: z.array(ExecutionStep),
  startedAt: Instant,
  endedAt: z.optional(Instant),
  interruptionReason: z.optional(InterruptionReason),
})
export type PlanExecution = z.infer<typeof PlanExecution>

/** What a run says about the steps of the active execution; every step must be named. Source: P5. */
export const PlanUpdate = z.strictObject({
  executionId: EntityId,
  steps: z
    .array(
      z.strictObject({
        id: EntityId,
        status: StepStatus,
        note: z.optional(bytes(LIMITS.planStepDescriptionBytes)),
      }),
    )
    .check(z.minLength(1), z.maxLength(LIMITS.planSteps)),
})
export type PlanUpdate = z.infer<typeof PlanUpdate>

/** The types of the facts about plans; `storeVersion` is their number. Source: section P. */
export const PlanEventType = z.enum([
  'plan_submitted',
  'plan_revision_requested',
  'plan_abandoned',
  'plan_approved',
  'plan_progress_updated',
  'plan_execution_completed',
  'plan_execution_cancelled',
  'plan_execution_interrupted',
  'plan_execution_resumed',
])
export type PlanEventType = z.infer<typeof PlanEventType>

/** The stored result of a plan change: a replay returns exactly it. Source: P9. */
export const PlanControlResult = z.strictObject({
  sessionId: EntityId,
  storeVersion: Count,
  eventType: PlanEventType,
  proposalId: z.nullable(EntityId),
  executionId: z.nullable(EntityId),
})
export type PlanControlResult = z.infer<typeof PlanControlResult>
