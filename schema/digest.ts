import { digest } from 'lib0/hash/sha256'
import { canonicalJson } from './canonical.ts'

const encoder = new TextEncoder()

/** `sha256:<64 hex>` of a value's canonical form. The value must be plain JSON. */
export function canonicalDigest(value: unknown): string {
  let hex = ''
  for (const byte of digest(encoder.encode(canonicalJson(value)))) hex += byte.toString(16).padStart(2, '0')
  return `sha256:${hex}`
}
