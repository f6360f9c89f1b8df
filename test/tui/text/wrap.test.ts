import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { cleanText, linesOf } from '../../../replica/tui/text/clean.ts'
import type { Line, Span } from '../../../replica/tui/text/line.ts'
import { graphemesOf, lineWidth, widthOf } from '../../../replica/tui/text/measure.ts'
import { cutLine, indented, wrapLine } from '../../../replica/tui/text/wrap.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { anyString, assertProperty } from '../../support/property.ts'

const textOf = (lines: readonly Line[]): string[] => lines.map(line => line.map(({ text }) => text).join(''))
const withoutSpaces = (lines: readonly Line[]): string =>
  textOf(lines)
    .join('')
    .replace(/[ \u2000-\u2006\u2008-\u200a\u205f\u3000]/g, '')

const anySpan: fc.Arbitrary<Span> = fc
  .tuple(
    fc.oneof(
      anyString,
      fc.string({
        unit: fc.constantFrom('a', 'b', ' ', '-', '漢', '字', '。', 'é', '👩‍👩‍👧', '\u0301', '🇩', '🇪'),
        maxLength: 60,
      }),
    ),
    fc.boolean(),
  )
  .map(([text, bold]) => ({ text: cleanText(text).replace(/[\n\t\u2028\u2029]/g, ' '), ...(bold ? { bold } : {}) }))
const anyLine = fc.array(anySpan, { maxLength: 5 })
const anyColumns = fc.integer({ min: 2, max: 40 })

test('experience 7.3 wrapping loses nothing but spaces at breaks, and no row is wider than the screen', () => {
  assertProperty(
    fc.property(anyLine, anyColumns, (line, columns) => {
      const rows = wrapLine(line, columns)
      expect(withoutSpaces(rows)).toBe(withoutSpaces([line]))
      for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(columns)
    }),
  )
})

test('experience 7.3 cutting loses nothing at all', () => {
  assertProperty(
    fc.property(anyLine, anyColumns, (line, columns) => {
      const rows = cutLine(line, columns)
      expect(textOf(rows).join('')).toBe(textOf([line]).join(''))
      for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(columns)
    }),
  )
})

test('experience 7.3 rows break between words, in the style of each', () => {
  const line: Line = [{ text: 'the quick ' }, { text: 'brown fox', bold: true }, { text: 'es jump' }]
  expect(wrapLine(line, 10)).toEqual([
    [{ text: 'the quick' }],
    [{ text: 'brown', bold: true }],
    [{ text: 'fox', bold: true }, { text: 'es jump' }],
  ])
})

test.each([
  [
    'a word that fits on no row begins where there is room',
    'see /a/very/long/path/that/goes/on',
    12,
    ['see /a/very/', 'long/path/th', 'at/goes/on'],
  ],
  ['scripts without spaces break anywhere but before closing marks', '你好世界。再见', 8, ['你好世', '界。再见']],
  ['an indent stays on the first row', '  indented text', 10, ['  indented', 'text']],
  ['emoji are whole', '👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 4, ['👩‍👩‍👧👩‍👩‍👧', '👩‍👩‍👧']],
  ['an empty row stays one', '', 10, ['']],
  ['only spaces', '            ', 4, ['']],
])('experience 7.3 %s', (_, text, columns, rows) => {
  expect(textOf(wrapLine([{ text }], columns))).toEqual(rows)
})

test('experience 7.3 marks without width cannot pile up in a row', () => {
  const rows = wrapLine([{ text: `e${'\u0301'.repeat(5_000)}` }], 10)
  expect(textOf(rows).join('')).toBe(`e${'\u0301'.repeat(5_000)}`)
  for (const row of textOf(rows)) expect(row.length).toBeLessThanOrEqual(10 * LIMITS.unitsPerCell)
})

test('experience 15.11 a line of a megabyte is wrapped whole', () => {
  const text = 'word '.repeat(100_000) + 'x'.repeat(524_288)
  const rows = wrapLine([{ text }], 80)
  expect(withoutSpaces(rows).length).toBe(400_000 + 524_288)
})

test('experience 7.3 rows get a mark before the first and an indent before the others', () => {
  const rows = indented([[{ text: 'a' }], [], [{ text: 'b' }]], [{ text: '› ' }], [{ text: '  ' }])
  expect(textOf(rows)).toEqual(['› a', '', '  b'])
})

test('Z6 what becomes a row has no control character, newline or bidi override left', () => {
  assertProperty(
    fc.property(anyString, text => {
      for (const row of textOf(linesOf(text)))
        expect(row).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/)
    }),
  )
  expect(textOf(linesOf('a\tb\n\u001b[31mred\u001b[0m\u202etxt'))).toEqual(['a   b', 'redtxt'])
})

test('experience 7.3 the measure is that of string-width for every character alone, and for any text', () => {
  const wrong: string[] = []
  for (let unit = 0x20; unit < 0x10000; unit++) {
    const text = String.fromCharCode(unit)
    const isControl = (unit >= 0x7f && unit <= 0x9f) || (unit >= 0xd800 && unit <= 0xdfff)
    if (!isControl && widthOf(text) !== stringWidth(text)) wrong.push(unit.toString(16))
  }
  expect(wrong).toEqual([])
  assertProperty(
    fc.property(anySpan, ({ text }) => {
      expect(widthOf(text)).toBe(stringWidth(text))
    }),
  )
})

test('experience 7.3 characters are whole also where a long text is looked at piece by piece', () => {
  const family = '👩‍👩‍👧'
  expect([...graphemesOf(`${'x'.repeat(1_020)}${family}${family}y`)]).toEqual([
    ...'x'.repeat(1_020),
    family,
    family,
    'y',
  ])
  expect([...graphemesOf(`e${'\u0301'.repeat(3_000)}`)].join('')).toBe(`e${'\u0301'.repeat(3_000)}`)
})
