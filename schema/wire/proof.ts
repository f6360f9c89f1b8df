/** Tag of the construction; another construction gets another tag. */
const PROOF_TAG = 'headwater-v1'

/**
 * What both sides of a TCP handshake prove that they agree on.
 * `role` says who proves, so that a proof cannot be sent back to its maker. `protocol` is the chosen version. `nonce`s are the
 * base64url texts of the frames. `address` is `host:port` as the replica dialled it, which the leader reads from the Host header.
 */
export interface ProofFields {
  readonly role: 'leader' | 'replica'
  readonly protocol: number
  readonly rootId: string
  readonly hostEpoch: string
  readonly clientNonce: string
  readonly leaderNonce: string
  readonly address: string
}

/**
 * The bytes whose HMAC-SHA-256 is a proof: the tag and each field, in the order of `ProofFields`, as 4 bytes of length (big endian) and
 * UTF-8. The key of the HMAC is SHA-256 of the credential's text, the proof on the wire is base64url without padding. Source: Z3.
 */
export function proofMessage(fields: ProofFields): Uint8Array {
  const { role, protocol, rootId, hostEpoch, clientNonce, leaderNonce, address } = fields
  const parts = [PROOF_TAG, role, String(protocol), rootId, hostEpoch, clientNonce, leaderNonce, address]
  const encoded = parts.map(part => new TextEncoder().encode(part))
  const message = new Uint8Array(encoded.reduce((sum, part) => sum + 4 + part.length, 0))
  const view = new DataView(message.buffer)
  let offset = 0
  for (const part of encoded) {
    view.setUint32(offset, part.length)
    message.set(part, offset + 4)
    offset += 4 + part.length
  }
  return message
}
