import * as z from 'zod/mini'
import { DIGEST_PATTERN, isEntityId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { utf8Bytes } from '../text.ts'

/** An id a client chose. Source: W4. */
export const EntityId = z
  .string()
  .check(z.refine(isEntityId, 'must match ^[A-Za-z0-9_-]{1,128}$ and be no reserved name'))

/** A count or revision: a non-negative safe integer. */
export const Count = z.number().check(z.int(), z.gte(0))

/** An instant of the leader's clock. Unit: ms since the epoch. */
export const Instant = z.number().check(z.int())

/** `sha256:<64 hex>`. */
export const Digest = z.string().check(z.regex(DIGEST_PATTERN))

/** A string of at most `max` UTF-16 units. */
export function chars(max: number, min = 0) {
  return z.string().check(z.minLength(min), z.maxLength(max))
}

/** A string of at most `max` UTF-8 bytes. */
export function bytes(max: number, min = 0) {
  return z.string().check(
    z.minLength(min),
    z.refine(text => text.length <= max && utf8Bytes(text) <= max, `must be at most ${max} bytes of UTF-8`),
  )
}

/** A plain JSON object whose keys are not looked at. */
export const JsonObject = z.record(z.string(), z.unknown())

/** Who sent a command. `surface` is the kind of replica, `clientInstanceId` one run of it. */
export const ClientActor = z.strictObject({
  surface: chars(LIMITS.surfaceChars, 1),
  clientInstanceId: EntityId,
})
export type ClientActor = z.infer<typeof ClientActor>

/** Who caused a ledger record: a client, the leader itself, or a run. Source: L1. */
export type Actor = ClientActor | 'leader' | 'run'
