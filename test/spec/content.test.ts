import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, isCanonicallyEqual, normalizeContent } from '../../schema/canonical.ts'
import { Content } from '../../schema/entities/content.ts'
import { isEntityId } from '../../schema/ids.ts'
import { assertProperty, wellFormedString } from '../support/property.ts'

const KIB = 1024
const artifact = `sha256:${'0'.repeat(64)}`
const attachment = { kind: 'file' as const, name: 'a.txt', mimeType: 'text/plain', bytes: 1, ref: { path: '/a.txt' } }
const fits = (content: unknown): boolean => Content.safeParse(content).success

test('C1 text has 1 byte to 48 KiB, counted in UTF-8', () => {
  expect(fits({ text: '' })).toBe(false)
  expect(fits({ text: 'a'.repeat(48 * KIB) })).toBe(true)
  expect(fits({ text: 'a'.repeat(48 * KIB + 1) })).toBe(false)
  expect(fits({ text: '€'.repeat(16 * KIB) })).toBe(true)
  expect(fits({ text: `${'€'.repeat(16 * KIB)}a` })).toBe(false)
  expect(fits({ text: '😀'.repeat(12 * KIB) })).toBe(true)
})

test('C1 the whole content has at most 96 KiB as JSON', () => {
  const half = 'a'.repeat(48 * KIB - 100)
  expect(fits({ text: half, displayText: half })).toBe(true)
  expect(fits({ text: half, displayText: half, quotes: [{ text: 'a'.repeat(200) }] })).toBe(false)
  expect(fits({ text: '\u0001'.repeat(40 * KIB) })).toBe(false)
})

test('C1 attachments: at most 8, closed, by artifact or absolute path', () => {
  const withAttachment = (change: object): boolean => fits({ text: 'a', attachments: [{ ...attachment, ...change }] })
  expect(fits({ text: 'a', attachments: Array(8).fill(attachment) })).toBe(true)
  expect(fits({ text: 'a', attachments: Array(9).fill(attachment) })).toBe(false)
  expect(withAttachment({ kind: 'image', ref: { artifact } })).toBe(true)
  expect(withAttachment({ ref: { path: 'C:\\a.txt' } })).toBe(true)
  expect(withAttachment({ ref: { path: 'a.txt' } })).toBe(false)
  expect(withAttachment({ ref: { artifact: 'sha256:abc' } })).toBe(false)
  expect(withAttachment({ ref: { artifact, path: '/a' } })).toBe(false)
  expect(withAttachment({ name: 'a'.repeat(256) })).toBe(false)
  expect(withAttachment({ mimeType: 'a'.repeat(256) })).toBe(false)
  expect(withAttachment({ bytes: -1 })).toBe(false)
  expect(withAttachment({ kind: 'folder' })).toBe(false)
  expect(withAttachment({ more: 1 })).toBe(false)
})

test('C1 quotes: at most 16, text 32 000 chars, label 200', () => {
  const withQuote = (quote: object): boolean => fits({ text: 'a', quotes: [quote] })
  expect(fits({ text: 'a', quotes: Array(16).fill({ text: 'q' }) })).toBe(true)
  expect(fits({ text: 'a', quotes: Array(17).fill({ text: 'q' }) })).toBe(false)
  expect(withQuote({ text: 'q'.repeat(32_000), label: 'l'.repeat(200), sourceTurnId: 't-1' })).toBe(true)
  expect(withQuote({ text: 'q'.repeat(32_001) })).toBe(false)
  expect(withQuote({ text: 'q', label: 'l'.repeat(201) })).toBe(false)
  expect(withQuote({ text: 'q', sourceTurnId: 'no id' })).toBe(false)
})

test('C1 unknown keys are refused', () => {
  expect(fits({ text: 'a', more: 1 })).toBe(false)
})

test('C2 an equal display text and empty lists are dropped, a different one and order are kept', () => {
  const quotes = [{ text: 'b' }, { text: 'a' }]
  expect(normalizeContent({ text: 'a', displayText: 'a', attachments: [], quotes: [] })).toEqual({ text: 'a' })
  expect(normalizeContent({ text: 'a', displayText: '', quotes })).toEqual({ text: 'a', displayText: '', quotes })
  expect(isCanonicallyEqual({ text: 'a', quotes }, { text: 'a', quotes: quotes.toReversed() })).toBe(false)
})

test('C2 normalising twice is normalising once, and key order never matters', () => {
  const content = fc.record(
    {
      text: wellFormedString,
      displayText: wellFormedString,
      attachments: fc.array(fc.constant(attachment), { maxLength: 2 }),
      quotes: fc.array(fc.record({ text: wellFormedString }), { maxLength: 2 }),
    },
    { requiredKeys: ['text'] },
  )
  assertProperty(
    fc.property(content, value => {
      const once = normalizeContent(value)
      expect(normalizeContent(once)).toEqual(once)
      const turned = Object.fromEntries(Object.entries(once).toReversed())
      expect(canonicalJson(turned)).toBe(canonicalJson(once))
    }),
  )
})

test('C2 the canonical form is that of RFC 8785: its example of literals, numbers and strings', () => {
  const value: unknown = JSON.parse(
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
  )
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
})

test('C2 the canonical form is that of RFC 8785: keys are sorted by UTF-16 units', () => {
  const keys = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6']
  const value = Object.fromEntries(keys.map(key => [key, key]))
  expect(Object.keys(JSON.parse(canonicalJson(value)) as object)).toHaveLength(7)
  const order = [...canonicalJson(value).matchAll(/"((?:[^"\\]|\\.)+)":/g)].map(match => JSON.parse(`"${match[1]}"`))
  expect(order).toEqual(['\r', '1', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'])
})

test.each([
  [0, '0'],
  [-0, '0'],
  [5e-324, '5e-324'],
  [1.7976931348623157e308, '1.7976931348623157e+308'],
  [9007199254740992, '9007199254740992'],
  [295147905179352830000, '295147905179352830000'],
  [9.999999999999997e22, '9.999999999999997e+22'],
  [1e23, '1e+23'],
  [0.000001, '0.000001'],
  [1e-7, '1e-7'],
])('C2 the canonical form of the number %d is %s', (value, text) => {
  expect(canonicalJson(value)).toBe(text)
})

test('C2 what is not JSON has no canonical form', () => {
  expect(() => canonicalJson({ a: Number.NaN })).toThrow(TypeError)
  expect(() => canonicalJson([Number.POSITIVE_INFINITY])).toThrow(TypeError)
  expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}')
})

test('C2 the canonical form of any JSON value reads back as that value and is its own canonical form', () => {
  assertProperty(
    fc.property(fc.jsonValue(), value => {
      const json: unknown = JSON.parse(JSON.stringify(value))
      const text = canonicalJson(json)
      expect(JSON.parse(text)).toEqual(json)
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
  )
})

test('W4 ids: their characters, their length, and the names that are none', () => {
  expect(['a', 'A-z_0', '0', '-', 'x'.repeat(128), 'valueOf'].filter(id => !isEntityId(id))).toEqual([])
  const refused = [
    '',
    'x'.repeat(129),
    'a b',
    'a/b',
    'ä',
    'a\n',
    '\na',
    'a.b',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
  ]
  expect(refused.filter(isEntityId)).toEqual([])
  expect([undefined, null, 1, {}, ['a']].filter(isEntityId)).toEqual([])
})
