import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS } from '../../schema/limits.ts'
import { readAtDoor, truncateBytes, truncateBytesFromEnd, truncateChars, utf8Bytes } from '../../schema/text.ts'
import { anyString, assertProperty, wellFormedString } from '../support/property.ts'

const FAMILY = '👨‍👩‍👧‍👦'
const encoder = new TextEncoder()

/** A value as the door lets it in. */
function atDoor(value: unknown): unknown {
  const read = readAtDoor(value)
  if (!read.ok) throw new Error(`${read.path} ${read.message}`)
  return read.value
}

test.each([
  ['a lone high surrogate', 'a\ud83d', 'a\ufffd'],
  ['a lone low surrogate', '\udc00b', '\ufffdb'],
  ['two high surrogates', '\ud83d\ud83d\ude00', '\ufffd\ud83d\ude00'],
  ['a pair the wrong way round', '\ude00\ud83d', '\ufffd\ufffd'],
  ['lone surrogates in the middle', 'x\ud800y\udfffz', 'x\ufffdy\ufffdz'],
])('C3 %s is replaced before anything is stored', (_, given, stored) => {
  expect(atDoor({ text: given, list: [given] })).toEqual({ text: stored, list: [stored] })
})

test.each([
  ['NUL', 'a\0b'],
  ['CRLF and a lone CR', 'a\r\nb\rc'],
  ['a joined family', FAMILY],
  ['combining marks, not composed', 'e\u0301 \u1100\u1161'],
  ['a byte order mark', '\ufeffa'],
  ['right-to-left overrides', '\u202eabc\u2069'],
  ['line separators', 'a\u2028b\u2029c'],
  ['control characters', '\u0001\u001b[31m\u009b'],
  ['noncharacters', '\uffff\ufffe\u{10ffff}'],
])('C3 %s is kept as it is', (_, text) => {
  expect(atDoor(text)).toBe(text)
  expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoder.encode(text))).toBe(text)
})

test('C3 what needs no change keeps its identity', () => {
  const value = { a: ['x', { b: FAMILY }], c: 1, d: null, e: true }
  expect(atDoor(value)).toBe(value)
})

test('C3 keys are text too', () => {
  expect(atDoor({ 'k\ud800': 1 })).toEqual({ 'k\ufffd': 1 })
})

test('C3 any value comes out well-formed, and a second time unchanged', () => {
  assertProperty(
    fc.property(fc.jsonValue({ maxDepth: 4 }), anyString, (json, text) => {
      // Forbidden keys are another rule's (C4).
      fc.pre(readAtDoor({ json, [text]: text }).ok)
      const once = atDoor({ json, text, [text]: [text] }) as Record<string, unknown>
      expect(JSON.stringify(once).isWellFormed()).toBe(true)
      expect(JSON.stringify(once)).not.toMatch(/\\ud[89a-f]/)
      expect(atDoor(once)).toBe(once)
    }),
  )
})

test.each(['__proto__', 'constructor', 'prototype'])('C4 a key named %s is refused at any depth', key => {
  const hostile: unknown = JSON.parse(`{"a":[{"b":{"${key}":{"polluted":true}}}]}`)
  expect(readAtDoor(hostile)).toEqual({ ok: false, path: `a[0].b.${key}`, message: 'is a forbidden key' })
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('C4 the forbidden words are free as values', () => {
  expect(atDoor({ text: '__proto__' })).toEqual({ text: '__proto__' })
})

test('C4 the first fault is named when there are several', () => {
  const hostile: unknown = JSON.parse('{"a":{"constructor":1},"b":{"prototype":1}}')
  expect(readAtDoor(hostile)).toMatchObject({ ok: false, path: 'a.constructor' })
})

test('C3 nesting is bounded', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 'end' : [nested(depth - 1)])
  expect(readAtDoor(nested(LIMITS.jsonDepth)).ok).toBe(true)
  expect(readAtDoor(nested(LIMITS.jsonDepth + 1)).ok).toBe(false)
  expect(readAtDoor(nested(5_000)).ok).toBe(false)
})

test('C3 the length in bytes is that of the encoded text', () => {
  assertProperty(
    fc.property(wellFormedString, text => {
      expect(utf8Bytes(text)).toBe(encoder.encode(text).length)
    }),
  )
})

test('C3 a pair at the limit is kept or left out whole', () => {
  expect(truncateChars('ab😀', 3)).toBe('ab')
  expect(truncateChars('ab😀', 4)).toBe('ab😀')
  expect(truncateChars('😀', 0)).toBe('')
  expect(truncateBytes('ab😀', 5)).toBe('ab')
  expect(truncateBytes('ab😀', 6)).toBe('ab😀')
  expect(truncateBytes('é', 1)).toBe('')
  expect(truncateBytesFromEnd('😀ab', 5)).toBe('ab')
  expect(truncateBytesFromEnd('😀ab', 6)).toBe('😀ab')
  expect(truncateBytesFromEnd('ab', 0)).toBe('')
})

test('C3 cutting by bytes gives the longest whole prefix or suffix that fits', () => {
  assertProperty(
    fc.property(wellFormedString, fc.integer({ min: 0, max: 200 }), (text, max) => {
      const points = [...text]
      const bytes = points.map(point => encoder.encode(point).length)
      const fitting = (sizes: readonly number[]): number => {
        let sum = 0
        const over = sizes.findIndex(size => {
          sum += size
          return sum > max
        })
        return over === -1 ? sizes.length : over
      }
      expect(truncateBytes(text, max)).toBe(points.slice(0, fitting(bytes)).join(''))
      const kept = fitting(bytes.toReversed())
      expect(truncateBytesFromEnd(text, max)).toBe(points.slice(points.length - kept).join(''))
    }),
  )
})

test('C3 cutting by chars never splits a character and loses at most one unit', () => {
  assertProperty(
    fc.property(wellFormedString, fc.integer({ min: 0, max: 80 }), (text, max) => {
      const cut = truncateChars(text, max)
      expect(text.startsWith(cut) && cut.isWellFormed()).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(max)
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, max) - 1)
    }),
  )
})
