import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { AbsolutePath } from './content.ts'
import { Count, chars, EntityId, Instant } from './primitives.ts'

/** What the agent may do without asking: read only, ask first, or everything. Source: I7. */
export const PermissionMode = z.enum(['explore', 'ask', 'bypass'])
export type PermissionMode = z.infer<typeof PermissionMode>

/** Whether the agent acts or plans. */
export const CollaborationMode = z.enum(['agent', 'plan'])
export type CollaborationMode = z.infer<typeof CollaborationMode>

/** Derived, never counted in `revision`; `damaged` is never stored. */
export const SessionStatus = z.enum(['idle', 'running', 'waiting_for_user', 'damaged'])
export type SessionStatus = z.infer<typeof SessionStatus>

/** Title of a session; empty until the first message names it. */
export const Title = chars(LIMITS.titleChars)

/** The tool names or kinds that are allowed in this session without asking, as the backend names them. Source: I7. */
export const AlwaysAllowed = z.array(chars(LIMITS.toolNameChars, 1)).check(z.maxLength(LIMITS.alwaysAllowedEntries))

/** The turn and agent a child session belongs to. */
export const SessionParent = z.strictObject({
  sessionId: EntityId,
  turnId: EntityId,
  agentId: EntityId,
  agentName: chars(LIMITS.titleChars),
})
export type SessionParent = z.infer<typeof SessionParent>

/** A session as a whole. `revision` grows by one with every header write. Source: section S of SPEC.md. */
export const SessionHeader = z.strictObject({
  sessionId: EntityId,
  title: Title,
  titleIsManual: z.boolean(),
  cwd: AbsolutePath,
  backend: chars(LIMITS.toolNameChars, 1),
  model: z.optional(chars(LIMITS.modelChars)),
  permissionMode: PermissionMode,
  collaborationMode: CollaborationMode,
  alwaysAllowed: z.optional(AlwaysAllowed),
  status: SessionStatus,
  isArchived: z.boolean(),
  parent: z.optional(SessionParent),
  createdAt: Instant,
  lastActivityAt: Instant,
  revision: Count,
})
export type SessionHeader = z.infer<typeof SessionHeader>
