import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanText } from '../../../replica/tui/text/clean.ts'
import type { Line } from '../../../replica/tui/text/line.ts'
import { type LexedMarkdown, lexMarkdown } from '../../../replica/tui/text/markdown/lex.ts'
import { targetOf } from '../../../replica/tui/text/markdown/link.ts'
import { markdownLines } from '../../../replica/tui/text/markdown/markdown-lines.ts'
import { lineWidth } from '../../../replica/tui/text/measure.ts'
import { anyString, assertProperty } from '../../support/property.ts'
import { textOf } from '../../support/tui/text-of.ts'

const shown = (text: string, columns = 40): readonly Line[] => markdownLines(lexMarkdown(cleanText(text)), columns)
const shownText = (text: string, columns = 40): string => textOf(shown(text, columns)).join('\n')

/** Pieces that open, close and break each other's constructs. */
const PIECES = [
  'word',
  ' ',
  '  ',
  '    ',
  '\n',
  '\n\n',
  '\n',
  '- ',
  '* ',
  '1. ',
  '2. ',
  '1',
  '.',
  '> ',
  '# ',
  '#',
  '***',
  '**',
  '*',
  '_',
  '`',
  '```',
  '```ts\n',
  '~~~',
  '~',
  '|',
  'a | b',
  '\n-|-\n',
  '---',
  '-',
  '[x] ',
  '[',
  '](http://h.io)',
  '![',
  '<b>',
  '<div>',
  '<!--',
  '-->',
  '&amp;',
  '\\',
  '\t',
  'http://h.io/p',
  '=',
  '===',
  '漢',
]
const anyMarkdown = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 })

test('experience 6.5 a message that streams is at every moment what it is when read whole', () => {
  assertProperty(
    fc.property(anyMarkdown, pieces => {
      let text = ''
      let lexed: LexedMarkdown | undefined
      for (const piece of pieces) {
        text += piece
        lexed = lexMarkdown(text, lexed)
        expect(textOf(markdownLines(lexed, 30))).toEqual(textOf(markdownLines(lexMarkdown(text), 30)))
      }
    }),
    1_500,
  )
})

test('experience 6.5 a piece that is added leaves the blocks before the last ones as they are', () => {
  const head = Array.from({ length: 200 }, (_, index) => `Paragraph ${index} with *marks*.\n\n`).join('')
  const before = lexMarkdown(`${head}and the la`)
  const after = lexMarkdown(`${head}and the last`, before)
  expect(before.blocks.length).toBe(201)
  expect(after.blocks.filter((block, index) => block !== before.blocks[index]).length).toBeLessThanOrEqual(2)
  expect(after.blocks).toEqual(lexMarkdown(`${head}and the last`).blocks)
})

test('experience 6.5 a text whose beginning changed is read anew', () => {
  const before = lexMarkdown('one\n\ntwo\n\nthree\n\nfour')
  expect(lexMarkdown('ONE\n\ntwo\n\nthree\n\nfour', before)).toEqual(lexMarkdown('ONE\n\ntwo\n\nthree\n\nfour'))
})

test('experience 7.3 no row of a message is wider than the screen', () => {
  assertProperty(
    fc.property(anyMarkdown, fc.integer({ min: 20, max: 60 }), (pieces, columns) => {
      for (const line of shown(pieces.join(''), columns)) expect(lineWidth(line)).toBeLessThanOrEqual(columns)
    }),
  )
})

test('experience 6.5 no word of a message is lost', () => {
  assertProperty(
    fc.property(
      fc.array(fc.constantFrom('alpha', 'beta', ' ', '\n', '\n\n', '- ', '> ', '# ', '*', '`', '| ', '**', '1. '), {
        maxLength: 40,
      }),
      pieces => {
        const words = (text: string) => text.match(/alpha|beta/g) ?? []
        expect(words(shownText(pieces.join(''), 200))).toEqual(words(pieces.join('')))
      },
    ),
  )
})

describe('experience 6.5 what is shown of', () => {
  test('headings, emphasis, code and breaks', () => {
    expect(shown('# Title\n\nsome **bold** *it* ~~no~~ ~5 `x y` a\nb')).toEqual([
      [{ text: 'Title', tone: 'heading', bold: true }],
      [],
      [
        { text: 'some ' },
        { text: 'bold', bold: true },
        { text: ' ' },
        { text: 'it', italic: true },
        { text: ' ' },
        { text: 'no', strike: true },
        { text: ' ~5 ' },
        { text: 'x y', tone: 'code' },
        { text: ' a' },
      ],
      [{ text: 'b' }],
    ])
  })

  test('lists in lists, and tasks', () => {
    expect(
      shownText(
        '9. nine\n10. ten is a longer item that is wrapped here\n    - inner\n      - more\n\n- [x] done\n- [ ] open',
      ),
    ).toBe(
      [
        ' 9. nine',
        '10. ten is a longer item that is wrapped',
        '    here',
        '    ◦ inner',
        '      ▪ more',
        '',
        '• [x] done',
        '• [ ] open',
      ].join('\n'),
    )
  })

  test('code, also while its end has not come yet', () => {
    expect(shownText('```ts\nconst a = 1\n\tif (a) {\n')).toBe('  ts\n  const a = 1\n      if (a) {')
    expect(shownText('```\nx\n```\nafter')).toBe('  x\n\nafter')
  })

  test('quotes, rules and HTML', () => {
    expect(shownText('> said\n> > before\n\n---\n\n<b>x</b><script>alert(1)</script>', 30)).toBe(
      ['│ said', '│ ', '│ │ before', '', '─'.repeat(30), '', '<b>x</b><script>alert(1)</scri', 'pt>'].join('\n'),
    )
  })

  test('images and links with where they lead', () => {
    expect(shownText('![plan](https://i.io/p.png) [docs](https://d.io/x) https://e.io/y [src](src/a.ts:12)', 200)).toBe(
      '[image: plan] (i.io) docs (d.io) https://e.io/y src (src/a.ts:12)',
    )
  })

  test('a table that fits, one that is wrapped, and one without room', () => {
    const table = '| name | what it does |\n|--|--:|\n| wrap | breaks rows |\n| lex | reads `blocks` of text |'
    expect(shownText(table)).toBe(
      [
        'name │         what it does',
        '─────┼─────────────────────',
        'wrap │          breaks rows',
        'lex  │ reads blocks of text',
      ].join('\n'),
    )
    expect(shownText(table, 20)).toBe(
      [
        'name │  what it does',
        '─────┼──────────────',
        'wrap │   breaks rows',
        'lex  │  reads blocks',
        '     │       of text',
      ].join('\n'),
    )
    expect(shownText(table, 12)).toBe(
      [
        'name: wrap',
        'what it',
        '  does:',
        '  breaks',
        '  rows',
        '',
        'name: lex',
        'what it',
        '  does:',
        '  reads',
        '  blocks of',
        '  text',
      ].join('\n'),
    )
  })
})

test.each([
  ['https://d.io/x', 'https://d.io/x', 'https://d.io/x', ''],
  ['https://d.io/x', 'd.io/x', 'https://d.io/x', ''],
  ['https://evil.io/', 'https://bank.io/', 'https://evil.io/', 'evil.io'],
  ['https://bank.io@evil.io/', 'bank', 'https://bank.io@evil.io/', 'evil.io'],
  ['https://аpple.com/', 'apple.com', 'https://xn--pple-43d.com/', 'xn--pple-43d.com'],
  ['mailto:a@b.io', 'a@b.io', 'mailto:a@b.io', ''],
  ['javascript:alert(1)', 'x', null, 'javascript:alert(1)'],
  ['file:///etc/passwd', 'x', null, 'file:///etc/passwd'],
  ['ssh://h.io', 'x', null, 'ssh://h.io'],
])('Z6 of a link to %s called %s a terminal may open %s', (href, text, opened, told) => {
  expect(targetOf(href, text)).toEqual({ href: opened, told })
})

test('Z6 no field of a message brings a control character, or a link target, to the terminal', () => {
  const hostile = [
    '\u001b[31m',
    '\u001b]0;t\u0007',
    '\u001b]8;;http://e.io\u001b\\',
    '\u001bPq\u001b\\',
    '\u009b31m',
    '\u0000',
    '\r',
    '\u202e',
    '\u2028',
    '\u0007',
  ]
  const spots = [
    '# ~',
    '**~**',
    '`~`',
    '```~\n~\n```',
    '[~](http://h.io/~ "~")',
    '![~](~)',
    '| ~ |\n|--|\n| ~ |',
    '> ~',
    '- [x] ~',
    '<b ~>',
    'http://h.io/~',
    '&~;',
    '\\~',
  ]
  for (const spot of spots) {
    for (const bad of hostile) {
      for (const span of shown(spot.replaceAll('~', `a${bad}b`)).flat()) {
        expect(span.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
        expect(span.href ?? 'http://').toMatch(/^(?:https?:\/\/|mailto:)[\x21-\x7e]*$/)
      }
    }
  }
  assertProperty(
    fc.property(anyString, text => {
      for (const span of shown(text).flat())
        expect(span.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
    }),
  )
})

test.each([
  '> ',
  '>',
  '- ',
  '->',
  '* > 1. ',
  '*a ',
  '**a',
  '[',
  '![',
  '`a``',
  'a\n-\n',
  'a|b\n-|-|-\n',
  '<!--',
  '[a](',
  '- *a*\n',
  `${'  '.repeat(9)}- a\n`,
  'e\u0301',
  '漢字',
  '\u001bX\u001b',
])('experience 15.11 a message of 256 KiB of %j is shown and does not overflow', unit => {
  const text = unit.repeat(Math.ceil((256 * 1024) / unit.length))
  expect(shown(text).length).toBeGreaterThan(0)
})
