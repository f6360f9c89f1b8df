import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from '../../replica/cli/input/duration.ts'
import { hasColour } from '../../replica/cli/output/has-colour.ts'
import { renderTable, textWidth } from '../../replica/cli/output/table.ts'
import { nearest } from '../../replica/view/nearest.ts'

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['5m', 300_000],
  ['1.5h', 5_400_000],
  ['0s', 0],
])('experience 3.2 the duration %s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each(['', '5', 's', '-5s', '5 s', '5d', '1e3s', '5sx', '99999h', '.5s', '+5s'])(
  'experience 3.2 "%s" is no duration',
  text => {
    expect(parseDuration(text)).toBeUndefined()
  },
)

test('experience 3.2 a duration in words', () => {
  expect([0, 850, 12_000, 60_000, 200_000, 7_500_000].map(formatDuration)).toEqual([
    '0ms',
    '850ms',
    '12s',
    '1m',
    '3m 20s',
    '2h 5m',
  ])
})

test('experience 3.2 the nearest spelling is found, and none where nothing is near', () => {
  const words = ['status', 'stop', 'session', 'serve', 'send']
  expect(nearest('stauts', words)).toEqual(['status'])
  expect(nearest('sesion', words)).toEqual(['session'])
  expect(nearest('zzzzzz', words)).toEqual([])
})

test('experience 4.4 what decides over colours, strongest first', () => {
  const on = (flag: string | undefined, env: Record<string, string>, isTerminal: boolean) =>
    hasColour({ flag, env, isTerminal })
  expect(on('always', { NO_COLOR: '1' }, false)).toBe(true)
  expect(on('never', { FORCE_COLOR: '1' }, true)).toBe(false)
  expect(on('auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true)).toBe(false)
  expect(on(undefined, { NO_COLOR: '', FORCE_COLOR: '1' }, false)).toBe(true)
  expect(on(undefined, { CLICOLOR_FORCE: '1', TERM: 'dumb' }, false)).toBe(true)
  expect(on(undefined, { TERM: 'dumb' }, true)).toBe(false)
  expect([on(undefined, {}, true), on(undefined, {}, false)]).toEqual([true, false])
})

const columns = [{ heading: 'ID' }, { heading: 'TITLE', canShrink: true }]

test('experience 4.1 a table is aligned in a terminal and tab-separated without headings in a pipe', () => {
  const rows = [
    ['a', 'one'],
    ['bbbb', 'two\ttabs\nand lines'],
  ]
  expect(renderTable(columns, rows)).toBe('a\tone\nbbbb\ttwo tabs and lines\n')
  expect(renderTable(columns, rows, 80)).toBe('ID    TITLE\na     one\nbbbb  two tabs and lines\n')
})

test('experience 4.1 a table fits the width of the terminal, wide characters counted', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '字', '😀', 'é', 'e\u0301', ' ', '\u001b[31m'), maxLength: 80 })
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), fc.integer({ min: 20, max: 100 }), (titles, width) => {
      const lines = renderTable(
        columns,
        titles.map((title, i) => [`id-${i}`, title]),
        width,
      ).split('\n')
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width)
    }),
  )
})
