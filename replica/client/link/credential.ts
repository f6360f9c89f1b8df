import type { Credential } from '../ports.ts'
import { toHex } from './base64url.ts'

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const

/** A key of the platform's own, which may be one that cannot be read. */
export type HmacKey = Parameters<typeof crypto.subtle.sign>[1]

/**
 * The credential of a token's text: its key is SHA-256 of the text, its `keyId` the first 16 hex digits of that. The token itself is
 * not kept. Source: Z2, Z3.
 */
export async function credentialOfToken(token: string): Promise<Credential> {
  const keyHash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  const key = await crypto.subtle.importKey('raw', keyHash, HMAC, false, ['sign'])
  return credentialOfKey(toHex(keyHash).slice(0, 16), key)
}

/** A credential over a key that cannot be read back, as a page keeps it. Source: Z2. */
export function credentialOfKey(keyId: string, key: HmacKey): Credential {
  return {
    keyId,
    sign: async message => new Uint8Array(await crypto.subtle.sign('HMAC', key, message as Uint8Array<ArrayBuffer>)),
  }
}
