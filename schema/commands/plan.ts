import * as z from 'zod/mini'
import { PlanControlResult, PlanExecution, PlanProposal } from '../entities/plan.ts'
import { bytes, Count, chars, EntityId } from '../entities/primitives.ts'
import { TurnSnapshot } from '../entities/turn.ts'
import { LIMITS } from '../limits.ts'
import { command, query } from './operation.ts'

const change = { sessionId: EntityId, operationId: z.optional(EntityId) }
const expected = { proposalId: EntityId, expectedRevision: Count, expectedStoreVersion: Count }
const Cursor = chars(512, 1)

/** Decisions of people about plans, and reading them. Source: P9, P10, P12. */
export const planCommands = {
  'plan.control': command(
    'operationId',
    z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('request_revision'),
        ...change,
        proposalId: EntityId,
        feedback: bytes(LIMITS.planFeedbackBytes, 1),
      }),
      z.strictObject({ kind: z.literal('abandon_proposal'), ...change, proposalId: EntityId }),
      z.strictObject({ kind: z.literal('approve_proposal'), ...change, ...expected }),
      z.strictObject({ kind: z.literal('resume_execution'), ...change, executionId: EntityId }),
      z.strictObject({ kind: z.literal('cancel_execution'), ...change, executionId: EntityId }),
    ]),
    PlanControlResult,
  ),
  'plan.turn.start': command(
    'turnId',
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('approve_proposal'), sessionId: EntityId, ...expected, turnId: EntityId }),
      z.strictObject({
        kind: z.literal('resume_execution'),
        sessionId: EntityId,
        executionId: EntityId,
        turnId: EntityId,
      }),
    ]),
    z.strictObject({ plan: PlanControlResult, turn: TurnSnapshot }),
    'turn.start',
  ),
  'plan.query': query(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('list_start'), sessionId: EntityId }),
      z.strictObject({
        kind: z.literal('list_continue'),
        sessionId: EntityId,
        storeVersion: Count,
        cursor: Cursor,
      }),
    ]),
    z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('page'),
        sessionId: EntityId,
        storeVersion: Count,
        latestProposalId: z.nullable(EntityId),
        activeExecutionId: z.nullable(EntityId),
        items: z.array(
          z.discriminatedUnion('kind', [
            z.strictObject({ kind: z.literal('proposal'), proposal: PlanProposal }),
            z.strictObject({ kind: z.literal('execution'), execution: PlanExecution }),
          ]),
        ),
        nextCursor: z.nullable(z.string()),
      }),
      z.strictObject({ kind: z.literal('revision_changed'), expected: Count, actual: Count }),
    ]),
  ),
} as const
