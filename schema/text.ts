import { LIMITS } from './limits.ts'

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** The outcome of `readAtDoor`: the value with the text rule applied, or the path of the first forbidden thing. */
export type DoorResult = { ok: true; value: unknown } | { ok: false; path: string; message: string }

/**
 * Applies the text rule to a JSON value that comes from a client or a backend: lone surrogates become U+FFFD, forbidden keys are
 * refused, nesting is bounded, and numbers too large for a double (`1e999`), which no JSON can carry on, are refused. Values that need no change are returned as they are. Source: C3, C4.
 */
export function readAtDoor(value: unknown): DoorResult {
  const fault: { at?: string; why?: string } = {}
  const clean = cleanValue(value, '', 0, fault)
  return fault.why === undefined ? { ok: true, value: clean } : { ok: false, path: fault.at ?? '', message: fault.why }
}

function cleanValue(value: unknown, path: string, depth: number, fault: { at?: string; why?: string }): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number' && !Number.isFinite(value)) {
    fault.at ??= path
    fault.why ??= 'must be a finite number'
    return value
  }
  if (value === null || typeof value !== 'object') return value
  if (depth >= LIMITS.jsonDepth) {
    fault.at ??= path
    fault.why ??= 'is nested too deeply'
    return value
  }
  if (Array.isArray(value)) {
    let changed: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const clean = cleanValue(value[i], `${path}[${i}]`, depth + 1, fault)
      if (clean !== value[i]) {
        changed ??= value.slice()
        changed[i] = clean
      }
    }
    return changed ?? value
  }
  return cleanObject(value as Record<string, unknown>, path, depth, fault)
}

function cleanObject(
  value: Record<string, unknown>,
  path: string,
  depth: number,
  fault: { at?: string; why?: string },
): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const keyPath = path === '' ? key : `${path}.${key}`
    if (FORBIDDEN_KEYS.has(key)) {
      fault.at ??= keyPath
      fault.why ??= 'is a forbidden key'
      continue
    }
    const clean = cleanValue(value[key], keyPath, depth + 1, fault)
    const cleanKey = key.toWellFormed()
    if (clean !== value[key] || cleanKey !== key) {
      changed ??= { ...value }
      if (cleanKey !== key) delete changed[key]
      changed[cleanKey] = clean
    }
  }
  return changed ?? value
}

/** The UTF-8 length of a well-formed string, without encoding it. Unit: bytes. */
export function utf8Bytes(text: string): number {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
      bytes += 4
      i += 1
    } else bytes += 3
  }
  return bytes
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes that does not split a character. Source: C3. */
export function truncateBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  let bytes = 0
  for (let i = 0; i < text.length; ) {
    const point = text.codePointAt(i) as number
    const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    if (bytes + size > maxBytes) return text.slice(0, i)
    bytes += size
    i += point > 0xffff ? 2 : 1
  }
  return text
}

/** The longest suffix of at most `maxBytes` UTF-8 bytes that does not split a character. Source: C3, L4. */
export function truncateBytesFromEnd(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  let bytes = 0
  let i = text.length
  while (i > 0) {
    const low = text.charCodeAt(i - 1)
    const isPair = low >= 0xdc00 && low < 0xe000 && i > 1 && (text.charCodeAt(i - 2) & 0xfc00) === 0xd800
    const size = isPair ? 4 : low < 0x80 ? 1 : low < 0x800 ? 2 : 3
    if (bytes + size > maxBytes) break
    bytes += size
    i -= isPair ? 2 : 1
  }
  return text.slice(i)
}

/** The longest prefix of at most `maxChars` UTF-16 units that does not split a character. Source: C3. */
export function truncateChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const end = (text.charCodeAt(maxChars - 1) & 0xfc00) === 0xd800 ? maxChars - 1 : maxChars
  return text.slice(0, end)
}
