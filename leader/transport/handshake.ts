import { readAtDoor } from '../../schema/text.ts'
import { PROTOCOL, VERSION } from '../../schema/version.ts'
import { type ChallengeFrame, HelloFrame, type IncompatibleFrame, ProofFrame } from '../../schema/wire/frames.ts'
import type { ProofFields } from '../../schema/wire/proof.ts'
import { type Credential, isProof, makeProof, newNonce } from './auth.ts'

/** What a first frame amounts to. `protocol` is the newest version both sides speak. Source: W3, M2. */
export type HelloOutcome =
  | { readonly kind: 'malformed' }
  | { readonly kind: 'incompatible'; readonly frame: IncompatibleFrame }
  | { readonly kind: 'hello'; readonly hello: HelloFrame; readonly protocol: number }

/**
 * Reads a hello. The protocol range is looked at first, because a version far from ours may have a hello with other fields: it must
 * still learn which versions this leader speaks. What it says of its client is stored, so the rules of the door hold for it. Source: C3, C4.
 */
export function readHello(frame: Readonly<Record<string, unknown>>): HelloOutcome {
  const range = frame.protocol as { min?: unknown; max?: unknown } | null | undefined
  if (frame.kind !== 'hello' || typeof range?.min !== 'number' || typeof range.max !== 'number') {
    return { kind: 'malformed' }
  }
  const protocol = Math.min(range.max, PROTOCOL.max)
  if (!(protocol >= Math.max(range.min, PROTOCOL.min))) {
    return { kind: 'incompatible', frame: { kind: 'incompatible', protocol: PROTOCOL, serverVersion: VERSION } }
  }
  const door = readAtDoor(frame)
  const hello = HelloFrame.safeParse(door.ok ? door.value : undefined)
  return hello.success ? { kind: 'hello', hello: hello.data, protocol } : { kind: 'malformed' }
}

/** A challenge that was sent, and what its answer must prove. */
export interface Challenge {
  readonly frame: ChallengeFrame
  readonly credential: Credential
  readonly expected: ProofFields
}

/** The leader's half of the mutual proof: it proves first. `address` is what the replica dialled. Source: Z3. */
export function makeChallenge(credential: Credential, agreed: Omit<ProofFields, 'role' | 'leaderNonce'>): Challenge {
  const leaderNonce = newNonce()
  const { protocol, rootId, hostEpoch } = agreed
  const proof = makeProof(credential.keyHash, { ...agreed, leaderNonce, role: 'leader' })
  return {
    frame: { kind: 'challenge', protocol, rootId, hostEpoch, nonce: leaderNonce, proof },
    credential,
    expected: { ...agreed, leaderNonce, role: 'replica' },
  }
}

/** True if the frame is the right answer to the challenge. */
export function answersChallenge(frame: unknown, challenge: Challenge): boolean {
  const answer = ProofFrame.safeParse(frame)
  return answer.success && isProof(answer.data.proof, challenge.credential.keyHash, challenge.expected)
}
