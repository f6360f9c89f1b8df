import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EDITINGS, editingOf } from '../../../replica/view/composer/editing-keys.ts'
import {
  type EditorState,
  EMPTY_EDITOR,
  editorOf,
  erasedBack,
  hasTrailingBackslash,
  movedTo,
  pasted,
  typed,
  undone,
  unfolded,
  withNewline,
  withText,
  withTextBefore,
} from '../../../replica/view/composer/editor.ts'
import {
  bytesOf,
  expanded,
  foldedText,
  foldLabel,
  isFold,
  normalised,
  refolded,
} from '../../../replica/view/composer/folded-text.ts'
import { isBlank, refusalOf, sizeWords } from '../../../replica/view/composer/size.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { anyString, assertProperty } from '../../support/property.ts'

const LONG = Array.from({ length: 120 }, (_, line) => `line ${line}`).join('\n')

/** Pieces whose borders move when they stand beside each other: joiners, flags, marks, jamo, folded characters of their own. */
const piece = fc.oneof(
  fc.constantFrom(
    'a',
    ' ',
    '\n',
    'word ',
    '\u0301',
    '\u200d',
    '👩',
    '👧',
    '🇩',
    '🇪',
    '日本',
    '각',
    'ᄀ',
    'ᅡ',
    'क',
    '्',
    'ष',
  ),
  fc.constantFrom('\r\n', '\r', '\t', '\u001b[2J', '\u202e', '\u{100000}', '\u{10FFFD}x', LONG, 'x'.repeat(1_001)),
  anyString,
)
type Step = (state: EditorState) => EditorState
const step: fc.Arbitrary<Step> = fc.oneof(
  piece.map(
    (text): Step =>
      state =>
        typed(state, text),
  ),
  piece.map(
    (text): Step =>
      state =>
        pasted(state, text),
  ),
  piece.map(
    (text): Step =>
      state =>
        withText(state, foldedText(text, 'paste')),
  ),
  piece.map(
    (text): Step =>
      state =>
        withTextBefore(state, foldedText(text, 'large')),
  ),
  fc.constantFrom<Step>(withNewline, ...EDITINGS.map(({ apply }) => apply)),
  fc.nat().map(
    (at): Step =>
      state =>
        movedTo(state, at % (state.text.length + 1)),
  ),
)
const someState = fc.array(step, { maxLength: 40 }).map(steps => steps.reduce((state, go) => go(state), EMPTY_EDITOR))

function bordersOf(text: string): ReadonlySet<number> {
  const borders = new Set([0, text.length])
  for (const { index } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) borders.add(index)
  return borders
}

const edit = (state: EditorState, chord: string): EditorState => {
  const found = editingOf(chord)
  if (found === undefined) throw new Error(`${chord} does nothing`)
  return found.apply(state)
}
const keys = (state: EditorState, ...chords: string[]): EditorState => chords.reduce(edit, state)
const at = (text: string): EditorState => {
  const cursor = text.indexOf('|')
  return movedTo(editorOf({ text: text.replace('|', ''), folds: {} }), cursor)
}
const show = ({ text, cursor }: EditorState): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`

test('experience 6.1 the cursor is always between characters, and nothing stands folded that is not known', () => {
  assertProperty(
    fc.property(someState, state => {
      expect(bordersOf(state.text).has(state.cursor)).toBe(true)
      const folds = [...state.text].filter(isFold)
      expect(new Set(folds)).toEqual(new Set(Object.keys(state.folds)))
      expect(expanded(state)).toBe(expanded(state).toWellFormed())
      expect(bytesOf(state)).toBe(Buffer.byteLength(expanded(state)))
    }),
    300,
  )
})

test('experience 6.1 undo takes back exactly what a key did', () => {
  assertProperty(
    fc.property(someState, step, (state, go) => {
      // A move ends what is undone together.
      const before = movedTo(state, state.cursor)
      const after = go(before)
      fc.pre(after.undo !== before.undo && after.undo.length > before.undo.length)
      const { text, folds, cursor } = undone(after)
      expect({ text, folds, cursor }).toEqual({ text: before.text, folds: before.folds, cursor: before.cursor })
    }),
    300,
  )
})

test('experience 6.1 undo leads back to the beginning, a word at a time', () => {
  const letters = [...'one two three'].reduce(typed, EMPTY_EDITOR)
  const steps = [letters]
  while ((steps.at(-1) as EditorState).undo.length > 0) steps.push(undone(steps.at(-1) as EditorState))
  expect(steps.map(({ text }) => text)).toEqual(['one two three', 'one two ', 'one two', 'one ', 'one', ''])
  assertProperty(
    fc.property(someState, state => {
      const first = state.undo[0]
      let back = state
      for (let count = state.undo.length; count > 0; count--) back = undone(back)
      expect(back.text).toBe(first?.text ?? state.text)
      expect(undone(back)).toBe(back)
    }),
    100,
  )
})

test('experience 6.1 C3 what comes in is there with all its characters, folded or not', () => {
  assertProperty(
    fc.property(someState, piece, fc.constantFrom(typed, pasted), (state, text, put) => {
      const left = expanded({ ...state, text: state.text.slice(0, state.cursor) })
      const right = expanded({ ...state, text: state.text.slice(state.cursor) })
      expect(expanded(put(state, text))).toBe(left + normalised(text) + right)
    }),
    300,
  )
})

test('experience 6.1 what is cut comes back as it was, folded pastes too', () => {
  assertProperty(
    fc.property(someState, fc.constantFrom('ctrl+w', 'ctrl+u', 'ctrl+k', 'alt+d', 'alt+backspace'), (state, cut) => {
      const before = movedTo(state, state.cursor)
      const between = edit(before, cut)
      // Where what is left joins into one character, the cursor goes behind it.
      const removed = before.text.length - between.text.length
      fc.pre(between.cursor === (cut === 'ctrl+k' || cut === 'alt+d' ? before.cursor : before.cursor - removed))
      const after = edit(between, 'ctrl+y')
      if (after.kills.length > before.kills.length) expect(expanded(after)).toBe(expanded(before))
    }),
    300,
  )
})

test('experience 6.1 a large paste stands as one character that is deleted as one', () => {
  const state = pasted(at('see | please'), LONG)
  expect(show(state)).toBe('see \u{100000}| please')
  expect(Object.values(state.folds).map(foldLabel)).toEqual(['[pasted 120 lines]'])
  expect(expanded(state)).toBe(`see ${LONG} please`)
  expect(show(erasedBack(state))).toBe('see | please')
  expect(erasedBack(state).folds).toEqual({})
  expect(show(edit(state, 'left'))).toBe('see |\u{100000} please')
  expect(expanded(unfolded(state))).toBe(expanded(state))
  expect(unfolded(state).folds).toEqual({})
  expect(unfolded(edit(state, 'left')).text).toBe(`see ${LONG} please`)
  expect(Object.keys(pasted(state, 'x'.repeat(1_001)).folds)).toHaveLength(2)
})

test.each([
  ['a\nb\nc\nd\ne', false],
  ['a\nb\nc\nd\ne\n', false],
  ['a\nb\nc\nd\ne\nf', true],
  ['x'.repeat(1_000), false],
  ['x'.repeat(1_001), true],
])('experience 6.1 a paste of more than 5 lines or 1 000 characters is folded: %j', (text, isFolded) => {
  expect(Object.keys(pasted(EMPTY_EDITOR, text).folds).length === 1).toBe(isFolded)
})

test('experience 6.1 a paste of 2 000 lines is sent whole, and a key stays fast behind it', () => {
  const lines = Array.from({ length: 2_000 }, (_, line) => `${line}: äöü 日本語 ${'x'.repeat(50)}`).join('\r\n')
  let state = pasted(EMPTY_EDITOR, lines)
  expect(Object.values(state.folds).map(foldLabel)).toEqual(['[pasted 2,000 lines]'])
  const before = state
  for (let i = 0; i < 500; i++) state = typed(state, 'y')
  expect(state.undo.length - before.undo.length).toBe(1)
  expect(expanded(state)).toBe(lines.replaceAll('\r\n', '\n') + 'y'.repeat(500))
})

test('experience 6.1 folds of one kind meet folds of another and keep their texts', () => {
  const first = pasted(EMPTY_EDITOR, LONG)
  const cut = edit(first, 'ctrl+u')
  const other = pasted(cut, 'z'.repeat(2_000))
  const both = edit(other, 'ctrl+y')
  expect(expanded(both)).toBe('z'.repeat(2_000) + LONG)
  expect(expanded(keys(both, 'ctrl+a', 'ctrl+y'))).toBe(LONG + 'z'.repeat(2_000) + LONG)
})

test('experience 6.1 what comes from an editor is folded where it was', () => {
  const state = pasted(pasted(at('a | b'), LONG), 'z'.repeat(2_000))
  const written = expanded(state).replace('a ', 'changed ')
  expect(refolded(written, state)).toEqual({ text: state.text.replace('a ', 'changed '), folds: state.folds })
  expect(expanded(refolded(written.replace('line 7\n', ''), state))).toBe(written.replace('line 7\n', ''))
  assertProperty(
    fc.property(someState, anyString, (before, text) => {
      expect(expanded(refolded(text, before))).toBe(normalised(text))
      expect(expanded(refolded(expanded(before), before))).toBe(expanded(before))
    }),
    200,
  )
})

test.each<[string, string[], string]>([
  ['one two| three', ['ctrl+a'], '|one two three'],
  ['one two| three', ['ctrl+e'], 'one two three|'],
  ['one|\ntwo', ['ctrl+f', 'ctrl+f'], 'one\nt|wo'],
  ['one\n|two', ['ctrl+b'], 'one|\ntwo'],
  ['e\u0301|x', ['left'], '|e\u0301x'],
  ['👩‍👧|', ['backspace'], '|'],
  ['|🇩🇪x', ['delete'], '|x'],
  ['one, two-three|', ['alt+b', 'alt+b'], 'one, |two-three'],
  ['|one, two', ['alt+f', 'alt+f'], 'one, two|'],
  ['one\n\ntwo|', ['alt+b', 'alt+b'], '|one\n\ntwo'],
  ['a/b --flag|', ['ctrl+w'], 'a/b |'],
  ['a/b --flag|', ['alt+backspace'], 'a/b --|'],
  ['one |two three', ['alt+d'], 'one | three'],
  ['one\ntwo| three', ['ctrl+u'], 'one\n| three'],
  ['one\n|two', ['ctrl+u'], 'one|two'],
  ['one| two\nx', ['ctrl+k'], 'one|\nx'],
  ['one|\ntwo', ['ctrl+k'], 'one|two'],
  ['one two three|', ['ctrl+w', 'ctrl+w', 'ctrl+y'], 'one two three|'],
  ['one two| three', ['ctrl+w', 'ctrl+k', 'ctrl+a', 'ctrl+y'], 'two three|one '],
  ['one two|', ['ctrl+w', 'ctrl+a', 'ctrl+k', 'ctrl+y', 'alt+y'], 'two|'],
  ['one|', ['ctrl+u', 'ctrl+_'], 'one|'],
])('experience 7.2 keys of a shell: %j with %j', (before, chords, after) => {
  expect(show(keys(at(before), ...chords))).toBe(after)
})

test('experience 7.2 no key of the editor stands for two things', () => {
  const chords = EDITINGS.flatMap(editing => editing.keys)
  expect(new Set(chords).size).toBe(chords.length)
})

test('experience 6.1 a backslash before Enter is a new line, at the end only', () => {
  expect(hasTrailingBackslash(at('one\\|'))).toBe(true)
  expect(hasTrailingBackslash(at('one\\| two'))).toBe(false)
  expect(show(withNewline(at('one\\|')))).toBe('one\n|')
  expect(show(withNewline(at('one| two')))).toBe('one\n| two')
})

test('experience 6.2 what comes back stands before what is there, and the cursor stays', () => {
  expect(show(withTextBefore(at('dra|ft'), foldedText('back', 'large')))).toBe('back\n\ndra|ft')
  expect(show(withTextBefore(EMPTY_EDITOR, foldedText('back', 'large')))).toBe('back|')
})

test('experience 6.1 the counter is there from 80 % of the bytes of a message on', () => {
  const bytes = (count: number) => foldedText('é'.repeat(count / 2), 'large')
  const limit = LIMITS.messageTextBytes
  expect(sizeWords(bytes(limit * 0.8 - 2))).toBe(null)
  expect(sizeWords(bytes(Math.ceil(limit * 0.8) + 1))).toEqual({ words: '38.4 of 48 KiB', isOver: false })
  expect(sizeWords(bytes(limit))).toEqual({ words: '48 of 48 KiB', isOver: false })
  expect(sizeWords(bytes(limit + 1024))).toEqual({ words: '49 of 48 KiB · goes as an attached file', isOver: true })
  expect(refusalOf(bytes(limit + 1024))).toBe(null)
})

test('C1 what no message can hold is refused before it is sent', () => {
  const quotes = foldedText('\u0001'.repeat(20_000), 'large')
  expect(refusalOf(quotes)).toMatch(/^The text has too many quotes and control characters: 117\.2 KiB/)
  expect(refusalOf(foldedText('"'.repeat(40_000), 'large'))).toBe(null)
  const huge = { text: 'x'.repeat(LIMITS.composerBytes + 1), folds: {} }
  expect(refusalOf(huge)).toBe('The text has 2048.0 KiB; 2048 KiB can be sent at once.')
  expect([' \n\t', '', 'x'].map(text => isBlank({ text, folds: {} }))).toEqual([true, true, false])
})

test('experience 6.1 a draft, what it remembers and what it folds are bounded', () => {
  const full = pasted(EMPTY_EDITOR, 'x'.repeat(LIMITS.composerBytes - 1))
  expect(typed(typed(full, 'y'), 'z')).toEqual(typed(full, 'y'))
  let state = EMPTY_EDITOR
  for (let i = 0; i < LIMITS.composerFolds; i++) state = pasted(state, `${i}`.padEnd(1_001))
  expect(pasted(state, 'z'.repeat(1_001))).toBe(state)
  expect(typed(state, 'z')).not.toBe(state)
  expect(state.undo).toHaveLength(LIMITS.composerUndo)
  for (let i = 0; i < LIMITS.composerKills * 2; i++) state = edit(typed(movedTo(state, 0), 'word'), 'ctrl+u')
  expect(state.kills).toHaveLength(LIMITS.composerKills)
  let large = EMPTY_EDITOR
  for (let i = 0; i < 8; i++) large = withText(large, { text: `${i}`.repeat(1024 * 1024), folds: {} })
  expect(large.undo.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(LIMITS.composerUndoChars)
})
