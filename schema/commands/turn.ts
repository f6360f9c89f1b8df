import * as z from 'zod/mini'
import { Content } from '../entities/content.ts'
import { Count, EntityId } from '../entities/primitives.ts'
import { QueueEntry } from '../entities/queue.ts'
import { Placement, TurnSnapshot } from '../entities/turn.ts'
import { LIMITS } from '../limits.ts'
import { command, query } from './operation.ts'

const MaxSteps = z.number().check(z.int(), z.gte(1), z.lte(LIMITS.maxSteps))
const oneRun = { sessionId: EntityId, turnId: EntityId, runId: EntityId }

/** Starting, stopping, steering and reading turns. Source: T1, T8, Q2, Q8. */
export const turnCommands = {
  'turn.start': command(
    'turnId',
    z.strictObject({ sessionId: EntityId, turnId: EntityId, content: Content, maxSteps: z.optional(MaxSteps) }),
    z.strictObject({ kind: z.literal('started'), turn: TurnSnapshot }),
    'turn.start',
  ),
  'turn.regenerate': command(
    'turnId',
    z.strictObject({ sessionId: EntityId, sourceTurnId: EntityId, turnId: EntityId }),
    z.strictObject({ kind: z.literal('started'), turn: TurnSnapshot }),
    'turn.start',
  ),
  'turn.query': query(z.strictObject({ sessionId: EntityId, turnId: EntityId }), TurnSnapshot),
  'turn.stop': command('runId', z.strictObject(oneRun), TurnSnapshot),
  'turn.interrupt': command(
    'interruptId',
    z.strictObject({ ...oneRun, interruptId: EntityId }),
    z.strictObject({ queueRevision: Count, retracted: z.array(QueueEntry), turn: TurnSnapshot }),
  ),
  'turn.message.submit': command(
    'messageId',
    z.strictObject({
      originHostEpoch: z.string().check(z.minLength(1), z.maxLength(128)),
      sessionId: EntityId,
      messageId: EntityId,
      content: Content,
      placement: Placement,
    }),
    z.discriminatedUnion('disposition', [
      z.strictObject({ disposition: z.literal('turn_started'), turnId: EntityId }),
      z.strictObject({ disposition: z.literal('steering'), queueRevision: Count }),
      z.strictObject({ disposition: z.literal('followup'), queueRevision: Count }),
    ]),
  ),
} as const
