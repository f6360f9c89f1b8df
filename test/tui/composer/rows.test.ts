import fc from 'fast-check'
import { expect, test } from 'vitest'
import { widthOf } from '../../../replica/tui/text/measure.ts'
import { type EditorState, EMPTY_EDITOR, editorOf, movedTo, pasted } from '../../../replica/view/composer/editor.ts'
import { movedDown, movedUp } from '../../../replica/view/composer/moves.ts'
import { type Row, type RowFinder, rowFinder } from '../../../replica/view/composer/rows.ts'
import { viewportOf } from '../../../replica/view/composer/viewport.ts'
import { anyString, assertProperty } from '../../support/property.ts'

const someText = fc
  .array(
    fc.oneof(
      fc.constantFrom('word ', 'a', ' ', '\n', '日本', 'e\u0301', '👩‍👧', '\t', '\u200b', '\u{100000}'),
      anyString,
    ),
    {
      maxLength: 20,
    },
  )
  .map(parts => parts.join(''))

const plain = (text: string): EditorState => editorOf({ text, folds: {} })
const rowsOf = (text: string, finder: RowFinder): readonly string[] =>
  allRows(finder).map(({ from, to }) => text.slice(from, to))

function allRows(finder: RowFinder): readonly Row[] {
  const rows = [finder.at(0)]
  for (let next = finder.below(rows[0] as Row); next !== null; next = finder.below(next)) rows.push(next)
  return rows
}

test('experience 7.1 lines are broken behind words, at wide characters, and where there is no other place', () => {
  expect(rowsOf('one two three', rowFinder(plain('one two three'), 8, widthOf))).toEqual(['one two ', 'three'])
  expect(rowsOf('one two three', rowFinder(plain('one two three'), 7, widthOf))).toEqual(['one two ', 'three'])
  expect(rowsOf('abcdefgh', rowFinder(plain('abcdefgh'), 3, widthOf))).toEqual(['abc', 'def', 'gh'])
  expect(rowsOf('日本語', rowFinder(plain('日本語'), 4, widthOf))).toEqual(['日本', '語'])
  expect(rowsOf('a\n\nb', rowFinder(plain('a\n\nb'), 4, widthOf))).toEqual(['a', '', 'b'])
  const folded = pasted(plain('see '), 'x\n'.repeat(9))
  expect(rowsOf(folded.text, rowFinder(folded, 10, widthOf))).toEqual(['see ', '\u{100000}'])
})

test('experience 7.1 all of a text is in its rows, each fits, and every way through them agrees', () => {
  assertProperty(
    fc.property(someText, fc.integer({ min: 1, max: 30 }), (text, room) => {
      const state = pasted(EMPTY_EDITOR, text)
      const finder = rowFinder(state, room, widthOf)
      const rows = allRows(finder)
      expect(rows.map(({ from, to, isLast }) => state.text.slice(from, to) + (isLast ? '\n' : '')).join('')).toBe(
        `${state.text}\n`,
      )
      for (const [index, row] of rows.entries()) {
        const cells = finder.cells(row)
        const width = cells.reduce((sum, cell) => sum + cell.width, 0)
        expect(cells.length <= 1 || width <= room + 1).toBe(true)
        expect(cells.every(cell => cell.width > 0 && widthOf(cell.text) === cell.width)).toBe(true)
        expect(cells.map(cell => cell.text).join('')).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        )
        expect(finder.above(row)).toEqual(rows[index - 1] ?? null)
        expect(finder.at(row.from)).toEqual(row)
        for (const cell of cells) expect(finder.at(cell.from)).toEqual(row)
      }
    }),
    300,
  )
})

test('experience 7.1 the rows that are shown have the cursor and are all there is room for, wherever it goes', () => {
  assertProperty(
    fc.property(
      someText,
      fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
      fc.record({ room: fc.integer({ min: 1, max: 8 }), columns: fc.integer({ min: 1, max: 20 }) }),
      (text, places, { room, columns }) => {
        let state = pasted(EMPTY_EDITOR, text)
        const finder = rowFinder(state, columns, widthOf)
        const all = allRows(finder)
        let top = 0
        for (const place of places) {
          state = movedTo(state, place % (state.text.length + 1))
          const view = viewportOf(finder, { cursor: state.cursor, top, room })
          top = view.top
          const first = all.findIndex(row => row.from === top)
          expect(view.rows).toEqual(all.slice(first, first + room))
          expect(view.rows).toHaveLength(Math.min(room, all.length))
          expect(view.rows[view.cursorRow]).toEqual(finder.at(state.cursor))
          expect([view.hasAbove, view.hasBelow]).toEqual([first > 0, first + room < all.length])
        }
      },
    ),
    300,
  )
})

test('experience 7.1 the rows stay where they are while the cursor moves within them', () => {
  const text = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n')
  const finder = rowFinder(plain(text), 40, widthOf)
  const topAt = (cursor: number, top: number): number => viewportOf(finder, { cursor, top, room: 5 }).top
  const end = topAt(text.length, 0)
  expect(text.slice(end, end + 7)).toBe('line 15')
  expect(topAt(text.indexOf('line 16'), end)).toBe(end)
  expect(topAt(text.indexOf('line 14'), end)).toBe(text.indexOf('line 14'))
  expect(topAt(text.indexOf('line 3'), end)).toBe(text.indexOf('line 3'))
})

test('experience 7.2 up and down keep the column, over short rows and wide characters', () => {
  const text = 'abcdef\nab\n日本語x'
  const finder = rowFinder(plain(text), 40, widthOf)
  const start = movedTo(plain(text), 5)
  const down = movedDown(start, finder) as EditorState
  expect(down.cursor).toBe(text.indexOf('ab\n日') + 2)
  const further = movedDown(down, finder) as EditorState
  expect(text.slice(further.cursor)).toBe('語x')
  expect(movedDown(further, finder)).toBe(null)
  expect((movedUp(movedUp(further, finder) as EditorState, finder) as EditorState).cursor).toBe(5)
  expect(movedUp(start, finder)).toBe(null)
})

test('Z6 what a terminal would take for a command is shown as a picture of it', () => {
  const text = 'a\u001b[2Jb\u009b3Jc\u202ed\u0000'
  const finder = rowFinder(plain(text), 40, widthOf)
  const shown = finder.cells(finder.at(0)).map(cell => cell.text)
  expect(shown.join('')).toBe('a␛[2Jb·3Jc·d␀')
})
