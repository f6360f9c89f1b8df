import * as z from 'zod/mini'
import { InteractionAnswer, InteractionSnapshot } from '../entities/interaction.ts'
import { chars, EntityId } from '../entities/primitives.ts'
import { command, query } from './operation.ts'

/** Reading and answering what waits for a person. Source: I4, I6, I7. */
export const interactionCommands = {
  'interaction.query': query(
    z.strictObject({ sessionId: z.optional(EntityId), interactionId: EntityId }),
    InteractionSnapshot,
  ),
  'interaction.answer': command(
    'interactionId',
    z.strictObject({ sessionId: z.optional(EntityId), interactionId: EntityId, answer: InteractionAnswer }),
    InteractionSnapshot,
  ),
  'interaction.list': query(
    z.strictObject({ cursor: z.optional(chars(512, 1)) }),
    z.strictObject({ interactions: z.array(InteractionSnapshot), nextCursor: z.nullable(z.string()) }),
  ),
} as const
