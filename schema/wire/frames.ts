import * as z from 'zod/mini'
import { HostState } from '../commands/host.ts'
import { Count, chars, EntityId } from '../entities/primitives.ts'
import { LIMITS } from '../limits.ts'

/** 32 random bytes or an HMAC, base64url without padding. Source: Z3. */
const Proof = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/))
const Range = z.strictObject({ min: Count, max: Count })

/** First frame of a replica on `/v1/commands`. Source: W3. */
export const HelloFrame = z.object({
  kind: z.literal('hello'),
  protocol: Range,
  surface: chars(LIMITS.surfaceChars, 1),
  clientInstanceId: EntityId,
  version: chars(64),
  nonce: Proof,
  keyId: z.optional(z.string().check(z.regex(/^[0-9a-f]{16}$/))),
})
export type HelloFrame = z.infer<typeof HelloFrame>

/** Over TCP: the leader proves that it knows the key before the replica does. Source: Z3. */
export const ChallengeFrame = z.object({
  kind: z.literal('challenge'),
  protocol: Count,
  rootId: z.string(),
  hostEpoch: z.string(),
  nonce: Proof,
  proof: Proof,
})
export type ChallengeFrame = z.infer<typeof ChallengeFrame>

/** The replica's answer to a challenge. Source: Z3. */
export const ProofFrame = z.object({ kind: z.literal('proof'), proof: Proof })
export type ProofFrame = z.infer<typeof ProofFrame>

/** The handshake is over; commands may follow. `ticket` opens `/v1/sync` and HTTP routes while this connection lives. */
export const AcceptedFrame = z.object({
  kind: z.literal('accepted'),
  rootId: z.string(),
  hostEpoch: z.string(),
  connectionId: z.string(),
  protocol: Count,
  state: HostState,
  serverVersion: z.string(),
  ticket: z.string(),
  /** The leader's clock. Unit: ms. */
  at: z.optional(z.number()),
})
export type AcceptedFrame = z.infer<typeof AcceptedFrame>

/** There is no common protocol version; the leader closes with 4406. Source: W3. */
export const IncompatibleFrame = z.object({
  kind: z.literal('incompatible'),
  protocol: Range,
  serverVersion: z.string(),
})
export type IncompatibleFrame = z.infer<typeof IncompatibleFrame>

/** The leader is stopping; connect to its successor. Source: W3. */
export const DrainingFrame = z.object({ kind: z.literal('draining') })

/** Liveness, both ways: the other side answers `ping` with `pong` and the leader's time. Source: V9. */
export const PingFrame = z.object({ kind: z.literal('ping'), id: Count })
/** The answer to a ping; `at` is the leader's time, absent from a replica. Source: V9. */
export const PongFrame = z.object({ kind: z.literal('pong'), id: Count, at: z.optional(z.number()) })

/** The replica leaves; the leader forgets it and then closes with 1000. Source: V12. */
export const ByeFrame = z.object({ kind: z.literal('bye') })

/** The leader's state changed (`ready`, `draining`), or a storage fault came or went. */
export const StateFrame = z.object({ kind: z.literal('state'), state: HostState })

/** Frames the leader sends that are no replies. */
export const LeaderFrame = z.discriminatedUnion('kind', [
  ChallengeFrame,
  AcceptedFrame,
  IncompatibleFrame,
  DrainingFrame,
  PingFrame,
  PongFrame,
  StateFrame,
])
export type LeaderFrame = z.infer<typeof LeaderFrame>

/** Frames a replica sends that are no commands. */
export const ReplicaFrame = z.discriminatedUnion('kind', [HelloFrame, ProofFrame, PingFrame, PongFrame, ByeFrame])
export type ReplicaFrame = z.infer<typeof ReplicaFrame>

/** A command or query. `input` is checked by the operation's own schema. Source: W2. */
export const CommandFrame = z.strictObject({
  requestId: chars(128, 1),
  operation: chars(64, 1),
  input: z.record(z.string(), z.unknown()),
})
export type CommandFrame = z.infer<typeof CommandFrame>

/** An error as it travels: code, message, and what the receiver needs to go on. */
export interface WireError {
  readonly code: string
  readonly message: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/** A reply; `revision` is the session's revision at which it was computed. */
export type ReplyFrame =
  | { readonly requestId: string; readonly ok: true; readonly result: unknown; readonly revision?: number }
  | { readonly requestId: string; readonly ok: false; readonly error: WireError }

/** Progress of a long request. */
export interface ProgressFrame {
  readonly requestId: string
  readonly progress: Readonly<Record<string, unknown>>
}
