/** Names that must never become object keys, even though they look like ids. */
const RESERVED_IDS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', 'toString'])

const ENTITY_ID = /^[A-Za-z0-9_-]{1,128}$/

/** True for an id a client may choose for a session, turn, message or other entity. Source: W4. */
export function isEntityId(value: unknown): value is string {
  return typeof value === 'string' && ENTITY_ID.test(value) && !RESERVED_IDS.has(value)
}

/** `sha256:` and 64 hex digits: the digest of a canonical form or of an artifact's bytes. Source: C2, L5. */
export const DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/

/** The `prevHash` of a session's first ledger record. Source: A8, L1. */
export const GENESIS_HASH = `sha256:${'0'.repeat(64)}`
