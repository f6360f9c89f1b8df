import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '../../schema/limits.ts'
import { type ProofFields, proofMessage } from '../../schema/wire/proof.ts'

/** What a credential may do: everything, or only look. */
export type Scope = 'full' | 'watch'

/** A row of the credential table; the key itself is never kept. `keyHash` is SHA-256 of its text. Source: Z2. */
export interface Credential {
  readonly id: string
  readonly scope: Scope
  readonly keyHash: Buffer
  readonly createdAt: number
  lastSeenAt: number | null
}

/** The id of the root token's row. */
export const ROOT_CREDENTIAL_ID = 'root'

const BEARER_CHARS = 256

/** SHA-256 of a credential's text. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** The name of a key in a hello: the first 16 hex digits of its hash. Source: Z3. */
export function keyIdOf(keyHash: Uint8Array): string {
  return Buffer.from(keyHash).toString('hex').slice(0, 16)
}

/** Who may come in: the root token's row and those made later. Look-ups take the same time whether or not there is a match. */
export class CredentialTable {
  readonly #rows = new Map<string, Credential>()

  constructor(rows: readonly Credential[]) {
    for (const row of rows) this.add(row)
  }

  /** A table with the root token alone. */
  static ofRootToken(token: string, createdAt: number): CredentialTable {
    const row: Credential = {
      id: ROOT_CREDENTIAL_ID,
      scope: 'full',
      keyHash: hashKey(token),
      createdAt,
      lastSeenAt: null,
    }
    return new CredentialTable([row])
  }

  get rows(): readonly Credential[] {
    return [...this.#rows.values()]
  }

  /** Adds or replaces a row; false when the table is full. */
  add(row: Credential): boolean {
    if (!this.#rows.has(row.id) && this.#rows.size >= LIMITS.credentials) return false
    this.#rows.set(row.id, row)
    return true
  }

  /** Removes a row. Its open sockets are the listeners' to close: `Listeners.revoke`. */
  remove(id: string): boolean {
    return this.#rows.delete(id)
  }

  find(id: string): Credential | undefined {
    return this.#rows.get(id)
  }

  /** The row whose key this is. */
  findByKey(key: string): Credential | undefined {
    if (key.length > BEARER_CHARS) return undefined
    const hash = hashKey(key)
    let found: Credential | undefined
    for (const row of this.#rows.values()) if (timingSafeEqual(row.keyHash, hash)) found = row
    return found
  }

  /** The row with this key id; without one the root token's. */
  findByKeyId(keyId: string | undefined): Credential | undefined {
    if (keyId === undefined) return this.#rows.get(ROOT_CREDENTIAL_ID)
    for (const row of this.#rows.values()) if (keyIdOf(row.keyHash) === keyId) return row
    return undefined
  }
}

/** 32 random bytes as the frames carry them. */
export function newNonce(): string {
  return randomBytes(32).toString('base64url')
}

/** The proof of one side of a handshake. Source: Z3. */
export function makeProof(keyHash: Uint8Array, fields: ProofFields): string {
  return createHmac('sha256', keyHash).update(proofMessage(fields)).digest('base64url')
}

/** True if `proof` is the proof over `fields`; takes the same time either way. */
export function isProof(proof: string, keyHash: Uint8Array, fields: ProofFields): boolean {
  return isSameText(proof, makeProof(keyHash, fields))
}

/** What opens `/v1/sync` and HTTP routes for a client while its command connection lives. Source: Z3. */
export function makeTicket(keyHash: Uint8Array, connectionId: string, hostEpoch: string): string {
  return createHmac('sha256', keyHash).update(`sync\0${connectionId}\0${hostEpoch}`).digest('base64url')
}

/** Compares secrets of any length in constant time. */
export function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(hashKey(left), hashKey(right))
}
