import { canonicalDigest } from '../../schema/digest.ts'
import type { CacheEntry, CacheKey } from './contract.ts'

/** Version of how entries are written; another one is a cold start. */
const FORMAT = 1

/** An entry as text: one line that says what it is and the digest of what follows, then the entry as JSON. Source: O1. */
export function encodeEntry(key: CacheKey, entry: CacheEntry): string {
  const body = JSON.stringify(entry)
  return `${JSON.stringify({ format: FORMAT, ...key, digest: canonicalDigest(body) })}\n${body}`
}

/** The entry of exactly this key, or null where the text is torn, altered or of something else. Source: O1, O3. */
export function decodeEntry<T>(key: CacheKey, text: string): CacheEntry<T> | null {
  const end = text.indexOf('\n')
  if (end < 0) return null
  try {
    const head = JSON.parse(text.slice(0, end)) as Partial<CacheKey & { format: number; digest: string }>
    const isThis = head.format === FORMAT && head.rootId === key.rootId && head.kind === key.kind && head.id === key.id
    const body = text.slice(end + 1)
    return isThis && head.digest === canonicalDigest(body) ? (JSON.parse(body) as CacheEntry<T>) : null
  } catch {
    return null
  }
}
