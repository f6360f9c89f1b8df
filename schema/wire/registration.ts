import * as z from 'zod/mini'
import { HostState } from '../commands/host.ts'
import { Count, chars, Instant } from '../entities/primitives.ts'
import { LIMITS } from '../limits.ts'

const Decimal = z.string().check(z.regex(/^[0-9]{1,20}$/))

/**
 * `leader.json`: how to reach a root's leader. A hint, never evidence: it may be stale or forged, and costs a client at most one refused
 * handshake. `url` is null for a leader that has no TCP port, `socketPath` a Unix socket or named pipe. `pid` is for people and
 * messages only. `directory`: which directory is served, as its inode and birth time say; a copy or a restored backup has the same `rootId`.
 * Keys that this version does not know are ignored. Source: R2, R8.
 */
export const Registration = z.object({
  rootId: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  hostEpoch: chars(128, 1),
  url: z.nullable(chars(2_048, 1)),
  socketPath: chars(LIMITS.pathBytes, 1),
  pid: Count,
  protocol: z.strictObject({ min: Count, max: Count }),
  state: HostState,
  createdAt: Instant,
  directory: z.optional(z.object({ inode: Decimal, birthTimeNs: z.nullable(Decimal) })),
})
export type Registration = z.infer<typeof Registration>

/** The file's text. */
export function encodeRegistration(registration: Registration): string {
  return `${JSON.stringify(Registration.parse(registration))}\n`
}

/** The registration in a file's text; undefined for anything that is none: empty, torn, too long, another shape. */
export function decodeRegistration(text: string): Registration | undefined {
  if (text.length > LIMITS.registrationBytes) return undefined
  try {
    const parsed = Registration.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}

/** True unless the registration says that its leader serves another directory than this one. What is absent on either side is not compared. */
export function isOfDirectory(
  { directory }: Registration,
  found: { readonly inode: string; readonly birthTimeNs: string | null },
): boolean {
  if (directory === undefined) return true
  if (directory.inode !== found.inode) return false
  return directory.birthTimeNs === null || found.birthTimeNs === null || directory.birthTimeNs === found.birthTimeNs
}
