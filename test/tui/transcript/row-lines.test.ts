import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineWidth } from '../../../replica/tui/text/measure.ts'
import { highlighted } from '../../../replica/tui/transcript/highlight.ts'
import type { FoldLevel, RowLayout } from '../../../replica/tui/transcript/rows/layout.ts'
import { RowLayouts } from '../../../replica/tui/transcript/rows/row-layouts.ts'
import { layOut } from '../../../replica/tui/transcript/rows/row-lines.ts'
import { viewLines } from '../../../replica/tui/transcript/view-lines.ts'
import { FOLLOWING } from '../../../replica/tui/transcript/window/window.ts'
import type { TranscriptRow } from '../../../replica/view/transcript/row.ts'
import { createRowModel } from '../../../replica/view/transcript/row-model.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { anyString, assertProperty } from '../../support/property.ts'
import { EntryWriter, turnOf } from '../../support/tui/entries.ts'
import { RowScreen } from '../../support/tui/row-ground.ts'
import { textOf } from '../../support/tui/text-of.ts'
import { typicalSession } from '../../support/tui/typical-session.ts'

const frame = (columns: number, level: FoldLevel = 0) => ({ columns, level, place: {} })
const lines = (layout: RowLayout): string[] => textOf(layout.lines)

function rowOf(entry: Parameters<typeof rowsOf>[0][number]): TranscriptRow {
  return rowsOf([entry]).at(-1) as TranscriptRow
}

function rowsOf(
  entries: Parameters<ReturnType<typeof createRowModel>['rows']>[0]['entries'],
): readonly TranscriptRow[] {
  return createRowModel('me').rows({ entries, hasMore: true, turns: new Map() })
}

test.each([
  ['80', 80, 0],
  ['40', 40, 0],
  ['80-unfolded', 80, 1],
] as const)('experience 6.5 a typical session at %s columns', async (name, columns, level) => {
  const { entries, turns } = typicalSession()
  const screen = new RowScreen(entries, { columns, height: 500 }, turns)
  screen.level = level
  const shown = viewLines(FOLLOWING, screen.ground, { barAt: 5, query: '' })
  for (const line of shown) expect(lineWidth(line)).toBeLessThan(columns)
  const text = textOf(shown).map(line => line.trimEnd())
  await expect(`${text.join('\n')}\n`).toMatchFileSnapshot(`frames/transcript-${name}.txt`)
})

test('experience 6.5 a thought is one line until it is unfolded; while it goes on, its newest line', () => {
  const write = new EntryWriter()
  const thought = write.text('first\nsecond line', { kind: 'thinking' })
  expect(lines(layOut(rowOf(thought), frame(40)))).toEqual(['thought · first'])
  expect(lines(layOut(rowOf({ ...thought, isStreaming: true }), frame(40)))).toEqual(['thinking · second line'])
  expect(lines(layOut(rowOf(thought), frame(40, 1)))).toEqual(['first', 'second line'])
})

test('experience 6.5 long output is left out in the middle with how much, then shown whole', () => {
  const write = new EntryWriter()
  const output = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n')
  const row = rowOf(write.tool('a.ts', { output }))
  expect(lines(layOut(row, frame(40)))).toEqual(['read: a.ts · completed · 100 lines'])
  expect(layOut(row, frame(40)).levels).toBe(3)
  const folded = lines(layOut(row, frame(40, 1)))
  expect(folded.length).toBe(2 + LIMITS.foldedLines)
  expect(folded.slice(16, 19)).toEqual(['    line 14', '    … 77 more lines', '    line 92'].map(line => line.slice(2)))
  expect(lines(layOut(row, frame(40, 2))).slice(2)).toEqual(output.split('\n').map(line => `  ${line}`))
})

test('experience 6.5 of a tool without room the title gives way, never the state', () => {
  const write = new EntryWriter()
  const row = rowOf(write.tool('src/a/very/long/path/to/some/file.ts', { status: 'unknown', output: 'x' }))
  expect(lines(layOut(row, frame(36)))).toEqual(['read: src/a/very/… · outcome unknown'])
  expect(lines(layOut(row, frame(36, 1)))).toEqual([
    'read:',
    'src/a/very/long/path/to/some/file.ts',
    'outcome unknown · 1 line',
    'output',
    '  x',
  ])
})

test('experience 6.5 a failed turn names the commands as they reach this root', () => {
  const entry = new EntryWriter().user('go')
  const turn = turnOf('t1', { failed: 'backend_error' })
  const rows = createRowModel('me').rows({
    entries: [entry],
    hasMore: false,
    turns: new Map([['t1', { turn, endedAt: null }]]),
  })
  const layout = layOut(rows.at(-1) as TranscriptRow, { ...frame(200), place: { root: '/r' } })
  expect(lines(layout)).toEqual([
    'failed: the agent failed',
    'Send the message again to try it in a new turn. `headwater --root /r logs` says more.',
  ])
})

test('experience 7.3 no row is wider than its columns, at any level', () => {
  const { entries, turns } = typicalSession()
  const rows = createRowModel('me').rows({ entries, hasMore: false, turns })
  assertProperty(
    fc.property(fc.integer({ min: 20, max: 90 }), fc.constantFrom<FoldLevel>(0, 1, 2), (columns, level) => {
      for (const row of rows)
        for (const line of layOut(row, frame(columns, level)).lines)
          expect(lineWidth(line)).toBeLessThanOrEqual(columns)
    }),
    150,
  )
})

test('Z6 no field of an entry brings a control character to the screen', () => {
  assertProperty(
    fc.property(anyString, fc.constantFrom<FoldLevel>(0, 1, 2), (bad, level) => {
      const write = new EntryWriter()
      const by = { surface: bad, clientInstanceId: 'x' }
      const entries = [
        write.user(bad, {
          submittedBy: by,
          isSteering: true,
          content: {
            text: bad,
            quotes: [{ text: bad, label: bad }],
            attachments: [{ kind: 'file', name: bad, mimeType: bad, bytes: 1, ref: { path: '/a' } }],
          },
        }),
        write.text(bad),
        write.text(bad, { kind: 'thinking' }),
        write.text(bad, { kind: 'thinking', isStreaming: true }),
        write.tool(bad, { name: bad, input: JSON.stringify({ path: bad, other: bad }), output: bad, status: 'failed' }),
        write.tool(bad, { output: { artifact: bad, bytes: 1, preview: bad } }),
        write.permission(bad, bad),
        write.plan(bad, { by }),
        write.notice(bad),
      ]
      const turn = { ...turnOf('t1', { failed: bad }), failureMessage: bad } as ReturnType<typeof turnOf>
      const rows = createRowModel().rows({ entries, hasMore: false, turns: new Map([['t1', { turn, endedAt: null }]]) })
      for (const span of rows.flatMap(row => layOut(row, frame(30, level)).lines).flat()) {
        expect(span.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
      }
    }),
  )
})

test('experience 15.11 a line of a megabyte in any field is laid out', () => {
  const write = new EntryWriter()
  const huge = '漢a'.repeat(500_000)
  for (const entry of [
    write.notice(huge),
    write.tool(huge, { output: huge }),
    write.text(huge, { kind: 'thinking' }),
    write.text(huge),
  ]) {
    expect(layOut(rowOf(entry), frame(76)).lines.length).toBeGreaterThan(0)
  }
})

test('experience 6.5 a row that is known is not laid out again, and few are remembered', () => {
  const write = new EntryWriter()
  const rows = rowsOf(
    Array.from({ length: LIMITS.transcriptRowsLaidOut + 10 }, (_, index) => write.notice(`n${index}`)),
  )
  const layouts = new RowLayouts({})
  const first = layouts.of(rows[0] as TranscriptRow, 40, 0)
  expect(layouts.of(rows[0] as TranscriptRow, 40, 0)).toBe(first)
  expect(layouts.of(rows[0] as TranscriptRow, 41, 0)).not.toBe(first)
  for (const row of rows) layouts.of(row, 40, 0)
  expect(layouts.count).toBe(rows.length + 2)
  layouts.of(rows.at(-1) as TranscriptRow, 40, 0)
  expect(layouts.count).toBe(rows.length + 2)
  layouts.of(rows[0] as TranscriptRow, 40, 0)
  expect(layouts.count).toBe(rows.length + 3)
})

test('experience 6.5 a message that streams is laid out from where it was', () => {
  const write = new EntryWriter()
  const entry = write.text('one\n\ntwo\n\nthree\n\nfour', { isStreaming: true })
  const layouts = new RowLayouts({})
  const before = layouts.of(rowOf(entry), 40, 0)
  const after = layouts.of(rowOf({ ...entry, text: `${entry.text} more` }), 40, 0)
  expect(lines(after)).toEqual(['one', '', 'two', '', 'three', '', 'four more'])
  expect(after.lines.map((line, index) => line === before.lines[index])).toEqual([
    true,
    true,
    true,
    true,
    false,
    true,
    false,
  ])
})

test('experience 6.5 what is searched for is inverted, over the borders of styles too', () => {
  expect(highlighted([{ text: 'a Lo' }, { text: 'ng line', bold: true }], 'long')).toEqual([
    { text: 'a ' },
    { text: 'Lo', inverse: true },
    { text: 'ng', bold: true, inverse: true },
    { text: ' line', bold: true },
  ])
  assertProperty(
    fc.property(fc.array(anyString, { maxLength: 4 }), anyString, (texts, query) => {
      const line = texts.map(text => ({ text }))
      expect(textOf([highlighted(line, query.toLowerCase())])).toEqual(textOf([line]))
    }),
  )
})
