import * as z from 'zod/mini'
import { AbsolutePath } from '../entities/content.ts'
import { Count, EntityId } from '../entities/primitives.ts'
import { host } from './operation.ts'

/** Where a leader is in its life. Source: E2. */
export const HostState = z.enum(['starting', 'recovering', 'ready', 'draining'])
export type HostState = z.infer<typeof HostState>

/** One thing `verify` found, or a fault the leader lives with. `kind` is one word for the check that failed. Source: D1, D2. */
export const Fault = z.strictObject({
  code: z.string(),
  sessionId: z.optional(EntityId),
  revision: z.optional(Count),
  kind: z.optional(z.string()),
  message: z.optional(z.string()),
})
export type Fault = z.infer<typeof Fault>

/** The leader itself. `host.status` and `host.shutdown` are frozen for all versions. Source: M2. */
export const hostCommands = {
  'host.status': host(
    z.strictObject({}),
    z.object({
      rootId: z.string(),
      hostEpoch: z.string(),
      state: HostState,
      connections: Count,
      activeTurns: Count,
      uptimeMs: z.number(),
      version: z.string(),
      protocol: z.object({ min: Count, max: Count }),
      faults: z.array(Fault),
    }),
  ),
  'host.shutdown': host(z.strictObject({ now: z.optional(z.boolean()) }), z.strictObject({})),
  'root.backup': host(
    z.strictObject({ path: AbsolutePath }),
    z.strictObject({ path: z.string(), records: Count, bytes: Count }),
  ),
  'root.verify': host(
    z.strictObject({}),
    z.strictObject({
      sessions: Count,
      records: Count,
      documents: Count,
      faults: z.array(Fault),
    }),
  ),
} as const
