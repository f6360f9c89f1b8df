import type { Content } from './entities/content.ts'

/**
 * The canonical JSON of a plain JSON value: keys sorted by UTF-16 units, no white space, absent for `undefined`.
 * Source: RFC 8785; strings must be well-formed (C3) and numbers finite.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new TypeError('canonical JSON has no NaN or Infinity')
    return JSON.stringify(value) ?? 'null'
  }
  if (Array.isArray(value)) {
    let out = '['
    for (let i = 0; i < value.length; i++) out += i === 0 ? canonicalJson(value[i]) : `,${canonicalJson(value[i])}`
    return `${out}]`
  }
  const object = value as Record<string, unknown>
  let out = '{'
  for (const key of Object.keys(object).sort()) {
    const member = object[key]
    if (member === undefined) continue
    out += `${out.length === 1 ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`
  }
  return `${out}}`
}

/** True when two plain JSON values have the same canonical form. */
export function isCanonicallyEqual(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b)
}

/** A message content in canonical shape: no `displayText` equal to `text`, no empty lists; order kept. Source: C2. */
export function normalizeContent(content: Content): Content {
  const { text, displayText, attachments, quotes } = content
  return {
    text,
    ...(displayText !== undefined && displayText !== text ? { displayText } : {}),
    ...(attachments !== undefined && attachments.length > 0 ? { attachments } : {}),
    ...(quotes !== undefined && quotes.length > 0 ? { quotes } : {}),
  }
}
