import * as z from 'zod/mini'
import { AbsolutePath } from '../entities/content.ts'
import { Count, chars, EntityId } from '../entities/primitives.ts'
import { AlwaysAllowed, CollaborationMode, PermissionMode, SessionHeader, Title } from '../entities/session.ts'
import { LIMITS } from '../limits.ts'
import { command, query } from './operation.ts'

const Model = chars(LIMITS.modelChars, 1)
const session = z.strictObject({ session: SessionHeader })
const oneSession = z.strictObject({ sessionId: EntityId, operationId: z.optional(EntityId) })

/** Commands and queries on sessions as a whole. Source: S1, S2, S3, S7. */
export const sessionCommands = {
  'session.create': command(
    'sessionId',
    z.strictObject({
      sessionId: EntityId,
      title: z.optional(Title),
      cwd: AbsolutePath,
      backend: chars(LIMITS.toolNameChars, 1),
      model: z.optional(Model),
      permissionMode: z.optional(PermissionMode),
      collaborationMode: z.optional(CollaborationMode),
    }),
    session,
  ),
  /** `bytes`: about how many the session takes on the disk; what was written last is not counted yet. Source: L6. */
  'session.get': query(
    z.strictObject({ sessionId: EntityId }),
    z.strictObject({ session: SessionHeader, bytes: z.optional(Count) }),
  ),
  'session.update': command(
    'operationId',
    z.strictObject({
      sessionId: EntityId,
      operationId: z.optional(EntityId),
      expectedRevision: Count,
      patch: z.strictObject({
        title: z.optional(Title),
        cwd: z.optional(AbsolutePath),
        model: z.optional(Model),
        permissionMode: z.optional(PermissionMode),
        collaborationMode: z.optional(CollaborationMode),
        alwaysAllowed: z.optional(AlwaysAllowed),
      }),
    }),
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('committed'), session: SessionHeader }),
      z.strictObject({ kind: z.literal('revision_conflict'), expected: Count, actual: Count }),
    ]),
  ),
  'session.archive': command('operationId', oneSession, session),
  'session.unarchive': command('operationId', oneSession, session),
  'session.fork': command(
    'newSessionId',
    z.strictObject({ sessionId: EntityId, fromTurnId: EntityId, newSessionId: EntityId }),
    session,
  ),
  'session.delete': command(
    'operationId',
    z.strictObject({ sessionId: EntityId, operationId: z.optional(EntityId), expectedRevision: Count }),
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('deleted') }),
      z.strictObject({ kind: z.literal('revision_conflict'), expected: Count, actual: Count }),
    ]),
  ),
  'session.compact': command(
    'operationId',
    z.strictObject({
      sessionId: EntityId,
      operationId: z.optional(EntityId),
      beforeRevision: z.optional(Count),
    }),
    z.strictObject({ bytesBefore: Count, bytesAfter: Count }),
  ),
  'session.list': query(
    z.strictObject({
      limit: z.optional(z.number().check(z.int(), z.gte(1), z.lte(LIMITS.listPageSessions))),
      cursor: z.optional(chars(512, 1)),
      archived: z.optional(z.boolean()),
    }),
    z.strictObject({
      kind: z.literal('page'),
      sessions: z.array(SessionHeader),
      nextCursor: z.nullable(z.string()),
    }),
  ),
} as const
