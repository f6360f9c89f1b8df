import { LIMITS } from '../../../schema/limits.ts'
import { VERSION } from '../../../schema/version.ts'
import type { AcceptedFrame, ChallengeFrame, LeaderFrame } from '../../../schema/wire/frames.ts'
import { type ProofFields, proofMessage } from '../../../schema/wire/proof.ts'
import type { Credential, Endpoint } from '../ports.ts'
import type { VersionRange } from '../types.ts'
import { isEqualInConstantTime, toBase64url } from './base64url.ts'
import type { Refusal } from './machine.ts'

/** Who the client says it is, and with which key it proves it over TCP. */
export interface Introduction {
  readonly surface: string
  readonly clientInstanceId: string
  readonly protocol: { readonly min: number; readonly max: number }
  readonly credential?: Credential
}

/** What a frame of the leader leads to. `another_root`: something else lives at this address. */
export type HandshakeStep =
  | { readonly kind: 'send'; readonly frame: string }
  | { readonly kind: 'accepted'; readonly accepted: AcceptedFrame }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly leader?: VersionRange }
  | { readonly kind: 'another_root' }
  | { readonly kind: 'ignored' }

const NONCE_BYTES = 32

/**
 * One handshake on one socket. Over TCP the leader must prove that it knows the key before this side proves anything: whoever accepts
 * without a proof, sends this side's own nonce back, or proves for another address, is a stranger. Source: W3, Z3.
 */
export class Handshake {
  readonly #who: Introduction
  readonly #endpoint: Endpoint
  readonly #nonce: string
  #proved: ChallengeFrame | undefined

  constructor(who: Introduction, endpoint: Endpoint, randomBytes: (count: number) => Uint8Array) {
    this.#who = who
    this.#endpoint = endpoint
    this.#nonce = toBase64url(randomBytes(NONCE_BYTES))
  }

  /** The first frame. */
  hello(): string {
    const { surface, clientInstanceId, protocol, credential } = this.#who
    const keyId = credential === undefined || this.#endpoint.isLocal ? {} : { keyId: credential.keyId }
    return JSON.stringify({
      kind: 'hello',
      protocol,
      surface: surface.slice(0, LIMITS.surfaceChars),
      clientInstanceId,
      version: VERSION,
      nonce: this.#nonce,
      ...keyId,
    })
  }

  /** Reads one frame of the leader that came before `accepted`; only a challenge takes its time. */
  read(frame: LeaderFrame): HandshakeStep | Promise<HandshakeStep> {
    switch (frame.kind) {
      case 'challenge':
        return this.#prove(frame)
      case 'accepted':
        return this.#accept(frame)
      case 'incompatible':
        return {
          kind: 'refused',
          why: 'incompatible',
          leader: { ...frame.protocol, version: frame.serverVersion },
        }
      case 'draining':
        return { kind: 'refused', why: 'draining' }
      case 'ping':
      case 'pong':
      case 'state':
        return { kind: 'ignored' }
    }
  }

  async #prove(challenge: ChallengeFrame): Promise<HandshakeStep> {
    const { credential } = this.#who
    if (credential === undefined) return { kind: 'refused', why: 'unauthorized' }
    if (!this.#isExpectedRoot(challenge.rootId)) return { kind: 'another_root' }
    const isFresh = this.#proved === undefined && challenge.nonce !== this.#nonce
    const expected = toBase64url(await credential.sign(this.#message('leader', challenge)))
    if (!isFresh || !this.#speaks(challenge.protocol) || !isEqualInConstantTime(expected, challenge.proof)) {
      return { kind: 'refused', why: 'stranger' }
    }
    this.#proved = challenge
    const proof = toBase64url(await credential.sign(this.#message('replica', challenge)))
    return { kind: 'send', frame: JSON.stringify({ kind: 'proof', proof }) }
  }

  #message(role: ProofFields['role'], challenge: ChallengeFrame): Uint8Array {
    const { protocol, rootId, hostEpoch, nonce } = challenge
    const nonces = { clientNonce: this.#nonce, leaderNonce: nonce }
    return proofMessage({ role, protocol, rootId, hostEpoch, ...nonces, address: this.#endpoint.address })
  }

  #accept(accepted: AcceptedFrame): HandshakeStep {
    if (!this.#isExpectedRoot(accepted.rootId)) return { kind: 'another_root' }
    if (!this.#speaks(accepted.protocol)) return { kind: 'refused', why: 'stranger' }
    if (!this.#endpoint.isLocal) {
      const { rootId, hostEpoch, protocol } = this.#proved ?? {}
      const isProved = rootId === accepted.rootId && hostEpoch === accepted.hostEpoch && protocol === accepted.protocol
      if (!isProved) return { kind: 'refused', why: 'stranger' }
    }
    return { kind: 'accepted', accepted }
  }

  #isExpectedRoot(rootId: string): boolean {
    return this.#endpoint.rootId === undefined || this.#endpoint.rootId === rootId
  }

  #speaks(protocol: number): boolean {
    return protocol >= this.#who.protocol.min && protocol <= this.#who.protocol.max
  }
}
