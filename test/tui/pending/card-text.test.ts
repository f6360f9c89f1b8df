import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editOfKey, editOfPaste, lineInput } from '../../../replica/tui/parts/line-input.ts'
import { lineWidth } from '../../../replica/tui/text/measure.ts'
import { EMPTY_EDITOR, typed } from '../../../replica/view/composer/editor.ts'
import { expanded } from '../../../replica/view/composer/folded-text.ts'
import { cardHead } from '../../../replica/view/pending/card-head.ts'
import { optionNote } from '../../../replica/view/pending/card-words.ts'
import { deckSeen, EMPTY_DECK, shownCard } from '../../../replica/view/pending/deck.ts'
import { visibleLine, visibleText } from '../../../replica/view/pending/visible-text.ts'
import type { InteractionRequest } from '../../../schema/entities/interaction.ts'
import type { ToolEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { anyString, assertProperty } from '../../support/property.ts'
import { EntryWriter } from '../../support/tui/entries.ts'
import { PERMISSION, pendingOf, QUESTIONS } from '../../support/tui/interactions.ts'
import { textOf } from '../../support/tui/text-of.ts'

test.each([
  ['a\u001b[31mb', 'a␛[31mb'],
  ['rm -rf /\rls', 'rm -rf /␍ls'],
  ['a\tb\u0007\u007f', 'a␉b␇␡'],
  ['evil\u202etxt\u2066', 'evil<U+202E>txt<U+2066>'],
  ['zero\u200bwidth\u00ad\ufeff', 'zero<U+200B>width<U+00AD><U+FEFF>'],
  ['\u009b31m\u2028', '<U+009B>31m<U+2028>'],
  ['tag\u{e0041}', 'tag<U+E0041>'],
  ['half \ud800 pair', 'half <U+D800> pair'],
  ['a\u200db', 'a<U+200D>b'],
  ['👩‍👩‍👧 👍🏽 ❤️ 1️⃣', '👩‍👩‍👧 👍🏽 ❤️ 1<U+FE0F><U+20E3>'.replace('<U+FE0F><U+20E3>', '️⃣')],
  ['日本語 café e\u0301', '日本語 café e\u0301'],
  ['two\nlines', 'two\nlines'],
])('Z6 experience 6.3 what would not be seen is shown: %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown)
})

test('Z6 whatever the text is, nothing in it moves a terminal or hides', () => {
  assertProperty(
    fc.property(anyString, text => {
      expect(visibleText(text)).not.toMatch(
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/,
      )
      expect(visibleLine(text)).not.toContain('\n')
    }),
  )
})

const write = new EntryWriter()
const tool = (patch: Partial<ToolEntry>): TranscriptEntry =>
  write.tool('npm test', { toolCallId: 'call-1', status: 'pending', ...patch })
function headOf(
  request: InteractionRequest,
  entries: readonly TranscriptEntry[] = [],
  whole?: ReadonlyMap<string, string>,
) {
  const deck = deckSeen(EMPTY_DECK, { pending: [pendingOf('i1', request)], outcomeOf: () => null, at: 0 })
  const card = shownCard(deck)
  if (card === undefined) throw new Error('no card')
  return cardHead(card, entries, whole)
}

test('experience 6.3 a permission shows all that the call would do: command, path, difference, and nothing of other calls', () => {
  const input = JSON.stringify({ command: 'rm -rf /tmp/x\u001b[8m', path: 'a\npath: b', deep: { list: [1] } })
  const entries = [
    tool({ input: 'an older call of that name', turnId: 't0', runId: 'r-t0' }),
    tool({ input, output: '--- a\n+++ b\n-old\n+new' }),
    write.tool('other', { toolCallId: 'call-2', input: 'not asked' }),
  ]
  expect(headOf(PERMISSION, entries)).toEqual({
    parts: [
      { kind: 'asked', text: 'execute: npm test' },
      { kind: 'code', text: 'command: rm -rf /tmp/x␛[8m\npath: a\n  path: b\ndeep: {"list":[1]}' },
      { kind: 'code', text: '--- a\n+++ b\n-old\n+new' },
    ],
    missing: [],
  })
  expect(headOf(PERMISSION).parts).toEqual([{ kind: 'asked', text: 'execute: npm test' }])
})

test('experience 6.3 of a stored text the beginning is shown and the rest is missing, until it was read', () => {
  const artifact = `sha256:${'ab'.repeat(32)}`
  const entries = [tool({ input: { artifact, bytes: 100_000, preview: 'first' } })]
  const head = headOf(PERMISSION, entries)
  expect(head.parts[1]).toEqual({ kind: 'code', text: 'first' })
  expect(head.missing).toEqual([{ artifact, bytes: 100_000, preview: 'first' }])
  const whole = headOf(PERMISSION, entries, new Map([[artifact, 'first and all the rest']]))
  expect([whole.parts[1]?.text, whole.missing]).toEqual(['first and all the rest', []])
})

test('experience 6.3 a question says how it can be answered', () => {
  const [, second] = QUESTIONS.questions
  expect(headOf({ kind: 'question', questions: [second] } as unknown as InteractionRequest).parts).toEqual([
    { kind: 'asked', text: 'Which sizes?' },
    { kind: 'note', text: 'several may be chosen, or in your own words' },
  ])
})

test('I7 experience 6.3 what an option counts as is said wherever its label does not say it', () => {
  const note = (label: string, kind: (typeof PERMISSION.options)[number]['kind']) =>
    optionNote({ optionId: 'x', label, kind }, PERMISSION)
  expect(note('Allow once', 'allow_once')).toBe('')
  expect(note('No, never', 'allow_always')).toBe('allow always: every execute in this session')
  expect(note('Always allow', 'allow_always')).toBe('every execute in this session')
  expect(note('Yes', 'reject_once')).toBe('reject once')
  expect([note('Reject', 'reject_once'), note('Reject', 'reject_always')]).toEqual(['', 'reject always'])
})

test('experience 7.2 a line of text is edited by characters as a reader counts them', () => {
  const key = (name: string, text = '') => {
    const edit = editOfKey(text, { key: name, ctrl: false, alt: false, shift: false, text })
    if (edit === null) throw new Error(`${name} is no edit`)
    return edit
  }
  const family = '👩‍👩‍👧'
  const steps = [
    key(family, family),
    key('e\u0301', 'e\u0301'),
    key('x', 'x'),
    key('left'),
    key('backspace'),
    key('left'),
  ]
  const editor = steps.reduce((now, edit) => edit(now), EMPTY_EDITOR)
  expect([editor.text, editor.cursor]).toEqual([`${family}x`, 0])
  expect(key('delete')(editor).text).toBe('x')
  expect(expanded(editOfPaste('a\nb')(editor))).toBe(`a\nb${family}x`)
  for (const name of ['enter', 'tab', 'up', 'esc'])
    expect(editOfKey('', { key: name, ctrl: false, alt: false, shift: false, text: '' })).toBeNull()
})

test('experience 7.3 a line of text never leaves its columns, and the cursor is always in view', () => {
  const text = '日本語 and 👩‍👩‍👧 and \u001b[31m and more\nlines'
  for (let columns = 4; columns <= 60; columns++) {
    let editor = typed(EMPTY_EDITOR, text)
    for (;;) {
      const line = lineInput(editor, columns, true)
      expect(lineWidth(line)).toBeLessThanOrEqual(columns)
      expect(line.filter(({ inverse }) => inverse === true)).toHaveLength(1)
      if (editor.cursor === 0) break
      editor = editOfKey('', { key: 'left', ctrl: false, alt: false, shift: false, text: '' })?.(editor) ?? editor
    }
  }
  expect(textOf([lineInput(typed(EMPTY_EDITOR, text), 99, false)])).toEqual([
    text.replace('\n', '␊').replace('\u001b', '␛'),
  ])
})
