import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTerminalStream, inertJson, terminalLine, terminalText } from '../../replica/view/terminal-text.ts'

const ESC = '\u001b'
const BEL = '\u0007'
const ST = `${ESC}\\`

/** What no terminal may be sent: C0 but newline and tab, DEL, C1, embeddings, overrides, isolates. */
const FORBIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

describe('Z6 BL-24 nothing in a text can drive the terminal', () => {
  test.each([
    ['colour', `a${ESC}[31mb${ESC}[0mc`, 'abc'],
    ['cursor and erase', `a${ESC}[2J${ESC}[1;1H${ESC}[3Jb`, 'ab'],
    ['private modes', `a${ESC}[?1049h${ESC}[?25lb`, 'ab'],
    ['C1 CSI', 'a\u009b31mb', 'ab'],
    ['device report', `a${ESC}[6n${ESC}[>0cb`, 'ab'],
    ['OSC 0 title', `a${ESC}]0;title${BEL}b`, 'ab'],
    ['OSC 2 title, ST', `a${ESC}]2;title${ST}b`, 'ab'],
    ['OSC 8 link', `a${ESC}]8;;http://evil${ST}link${ESC}]8;;${ST}b`, 'alinkb'],
    ['OSC 52 clipboard', `a${ESC}]52;c;ZXZpbA==${BEL}b`, 'ab'],
    ['C1 OSC', 'a\u009d52;c;ZXZpbA==\u009cb', 'ab'],
    ['DCS', `a${ESC}P1$r0m${ST}b`, 'ab'],
    ['C1 DCS', 'a\u0090q~\u009cb', 'ab'],
    ['nested DCS', `a${ESC}Ptmux;${ESC}${ESC}]52;c;ZXZpbA==${BEL}${ST}b`, 'ab'],
    ['APC', `a${ESC}_payload${ST}b`, 'ab'],
    ['PM and SOS', `a${ESC}^x${ST}${ESC}Xy${ST}b`, 'ab'],
    ['reset', `a${ESC}cb`, 'ab'],
    ['charset', `a${ESC}(0b`, 'ab'],
    ['save and restore', `a${ESC}7${ESC}8b`, 'ab'],
    ['bell, backspace, carriage return, form feed', 'a\u0007b\bc\rd\fe', 'abcde'],
    ['NUL and DEL', 'a\u0000b\u007fc', 'abc'],
    ['lone C1', 'a\u0085b\u0084c', 'abc'],
    [
      'bidi overrides, embeddings, isolates',
      'a\u202eb\u202dc\u202ad\u202be\u202cf\u2066g\u2067h\u2068i\u2069j',
      'abcdefghij',
    ],
    ['newline and tab stay', 'a\n\tb', 'a\n\tb'],
    ['CRLF becomes a newline', 'a\r\nb', 'a\nb'],
    ['emoji, ZWJ, right-to-left text and its marks stay', '👩‍👩‍👧 שלום\u200f مرحبا', '👩‍👩‍👧 שלום\u200f مرحبا'],
    ['cut CSI', `a${ESC}[31`, 'a'],
    ['lone ESC', `a${ESC}`, 'a'],
    ['ESC inside a sequence', `a${ESC}${ESC}[31mb`, 'ab'],
  ])('Z6 %s', (_name, hostile, clean) => {
    expect(terminalText(hostile)).toBe(clean)
  })

  test.each([
    ['OSC', `before${ESC}]52;c;QUJD and the rest\nof the text`],
    ['C1 OSC', 'before\u009d0;title and the rest'],
    ['DCS', `before${ESC}P and the rest`],
    ['APC', `before${ESC}_ and the rest`],
  ])('Z6 an unterminated %s swallows nothing and does nothing', (_name, hostile) => {
    const shown = terminalText(hostile)
    expect(shown).not.toMatch(FORBIDDEN)
    expect(shown).toContain('before')
    expect(shown).toContain('and the rest')
  })

  test('Z6 no text whatever gives a forbidden character', () => {
    const pieces = fc.constantFrom(
      ESC,
      BEL,
      ST,
      '[',
      ']',
      '\u009b',
      '\u009d',
      '\u0090',
      '\u009c',
      '31m',
      '0;x',
      'P',
      '_',
      '\\',
      '\u202e',
      'a',
      '\n',
      '\ud83d',
    )
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 40 }).map(all => all.join('')),
    )
    fc.assert(
      fc.property(hostile, text => {
        expect(terminalText(text)).not.toMatch(FORBIDDEN)
        expect(terminalText(terminalText(text))).toBe(terminalText(text))
      }),
      { numRuns: 2_000 },
    )
  })

  test('Z6 long hostile text is stripped in linear time', () => {
    for (const unit of [ESC, `${ESC}[`, `${ESC}]`, `${ESC}P`, '\u0090', '\u009b', `${ESC}[1;`, `${ESC}P${ESC}${ESC}`]) {
      const small = spent(() => terminalText(unit.repeat(20_000)))
      const large = spent(() => terminalText(unit.repeat(200_000)))
      expect(large).toBeLessThan(Math.max(small, 2) * 60)
    }
  })

  test('Z6 a table cell or a prompt stays on its line', () => {
    expect(terminalLine(`a\n${ESC}[2Jb\tc\u2028d`)).toBe('a b c d')
  })
})

describe('Z6 streamed text', () => {
  test('Z6 a sequence split over pieces is one sequence', () => {
    const stream = createTerminalStream()
    const shown = [`a${ESC}`, '[3', '1mb', `${ESC}]0;ti`, `tle${BEL}c`, `${ESC}]8;;x${ESC}`, '\\d'].map(stream.push)
    expect(shown.join('') + stream.end()).toBe('abcd')
  })

  test('Z6 half a character waits for its other half', () => {
    const stream = createTerminalStream()
    expect(stream.push('a\ud83d')).toBe('a')
    expect(stream.push('\ude00b')).toBe('😀b')
  })

  test('Z6 a sequence that never ends holds back only so much', () => {
    const stream = createTerminalStream()
    let shown = stream.push(`a${ESC}]0;`)
    for (let i = 0; i < 100; i++) shown += stream.push('x'.repeat(100))
    shown += stream.end()
    expect(shown).not.toMatch(FORBIDDEN)
    expect(shown.length).toBeGreaterThan(9_000)
  })

  test('Z6 pieces give no forbidden character, however the text is cut', () => {
    const text = `x${ESC}[31mred${ESC}[0m ${ESC}]8;;http://a${ST}link${ESC}]8;;${ST} ${ESC}Pq${ST}\u009b1mend\u202e`
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 8 }), cuts => {
        const stream = createTerminalStream()
        const at = [0, ...cuts.sort((a, b) => a - b), text.length]
        const shown = at.slice(1).map((to, i) => stream.push(text.slice(at[i], to)))
        expect(shown.join('') + stream.end()).toBe('xred link end')
      }),
    )
  })
})

test('Z6 JSON has no raw control character and says the same', () => {
  const value = { text: `a${ESC}[31m\u009b31m\u0007\u007f\u202e\u2028\n` }
  expect(inertJson(value)).not.toMatch(FORBIDDEN)
  expect(JSON.parse(inertJson(value))).toEqual(value)
})

function spent(work: () => void): number {
  const from = performance.now()
  work()
  return performance.now() - from
}

test.each(['\u001bX\u001b', '\u001b^a\u001b', '\u001bP\u001b\u001b', '\u0090', '\u001b[', '\u001b]8;;x', '\u009d'])(
  'Z6 a megabyte of unfinished sequences like %j is read in one pass',
  unit => {
    expect(terminalText(unit.repeat(Math.ceil(1_000_000 / unit.length)))).not.toMatch(/[\u001b\u0080-\u009f]/)
  },
)
