import * as z from 'zod/mini'
import { Content } from '../entities/content.ts'
import { Count, EntityId } from '../entities/primitives.ts'
import { QueueEntry } from '../entities/queue.ts'
import { command } from './operation.ts'

const entry = {
  sessionId: EntityId,
  operationId: z.optional(EntityId),
  entryId: EntityId,
  expectedEntryRevision: Count,
}
const changed = z.strictObject({ queueRevision: Count, entry: QueueEntry })

/** Commands on waiting messages. Source: Q6, Q8, Q9. */
export const queueCommands = {
  'queue.edit': command('operationId', z.strictObject({ ...entry, content: Content }), changed),
  'queue.remove': command('operationId', z.strictObject(entry), changed),
  'queue.move': command(
    'operationId',
    z.union([z.strictObject({ ...entry, before: EntityId }), z.strictObject({ ...entry, after: EntityId })]),
    changed,
  ),
  'queue.promote': command('operationId', z.strictObject(entry), changed),
  'queue.hold': command('operationId', z.strictObject({ ...entry, release: z.optional(z.boolean()) }), changed),
  'queue.retract': command(
    'retractId',
    z.strictObject({ sessionId: EntityId, retractId: EntityId }),
    z.strictObject({ queueRevision: Count, retracted: z.array(QueueEntry) }),
  ),
  'queue.resume': command(
    'operationId',
    z.strictObject({ sessionId: EntityId, operationId: z.optional(EntityId) }),
    z.strictObject({ queueRevision: Count }),
  ),
} as const
