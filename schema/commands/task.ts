import * as z from 'zod/mini'
import { chars, Digest, EntityId } from '../entities/primitives.ts'
import { Task, TaskRef } from '../entities/task.ts'
import { query } from './operation.ts'

/** Reading a session's tasks; runs write them. Source: K3. */
export const taskCommands = {
  'task.ledger.query': query(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('list_start'), sessionId: EntityId }),
      z.strictObject({
        kind: z.literal('list_continue'),
        sessionId: EntityId,
        revision: Digest,
        cursor: chars(512, 1),
      }),
      z.strictObject({ kind: z.literal('get'), sessionId: EntityId, taskRef: TaskRef }),
    ]),
    z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('page'),
        sessionId: EntityId,
        revision: Digest,
        tasks: z.array(Task),
        nextCursor: z.nullable(z.string()),
      }),
      z.strictObject({ kind: z.literal('task'), revision: Digest, task: z.nullable(Task) }),
      z.strictObject({ kind: z.literal('revision_changed'), expected: Digest, actual: Digest }),
    ]),
  ),
} as const
