import { describe, expect, test } from 'vitest'
import { ACTIONS, type ActionId, KEY_CONTEXTS, type KeyContext } from '../../../replica/view/keymap/actions.ts'
import { parseChord, shortChord } from '../../../replica/view/keymap/chord.ts'
import {
  ACTION_IDS,
  actionOf,
  conflictsOf,
  createKeyTable,
  SHARED_KEYS,
} from '../../../replica/view/keymap/key-table.ts'

const table = createKeyTable()

test('experience 7.2 no key stands for two things in one context, but for those on the list', () => {
  expect(table.conflicts).toEqual([])
  for (const { context, chord, actions } of SHARED_KEYS) expect(table.actionsFor(context, chord)).toEqual(actions)
})

test('experience 7.2 a key of the page stands for one thing in each context, and begins no other', () => {
  const clashes: string[] = []
  for (const context of KEY_CONTEXTS) {
    const keys = ACTION_IDS.filter(id => actionOf(id).contexts.includes(context)).flatMap(id =>
      actionOf(id).page.map(key => ({ id, key })),
    )
    for (const a of keys) {
      for (const b of keys) {
        if (a.id !== b.id && (a.key === b.key || b.key.startsWith(`${a.key} `)))
          clashes.push(`${context} ${a.id} ${b.id}`)
      }
    }
  }
  expect(clashes).toEqual([])
})

test('experience 7.2 a conflict is found', () => {
  const chords = new Map<string, readonly ActionId[]>([
    ['x', ['queue.edit', 'queue.take_back']],
    ['e', ['queue.edit']],
    ['tab', ['composer.queue', 'focus.next']],
  ])
  expect(conflictsOf('composer', chords)).toEqual([
    { context: 'composer', chord: 'x', actions: ['queue.edit', 'queue.take_back'] },
  ])
  expect(conflictsOf('queue', chords).map(({ chord }) => chord)).toEqual(['x', 'tab'])
})

test('experience 7.2 every key of the table is written in its one notation', () => {
  const written = KEY_CONTEXTS.flatMap(context => ACTION_IDS.flatMap(id => table.keysOf(id, context)))
  expect(written.length).toBeGreaterThan(150)
  expect(written.filter(chord => parseChord(chord) !== chord)).toEqual([])
})

describe('experience 7.2 the keys of the table', () => {
  const rows: readonly (readonly [KeyContext, string, readonly ActionId[]])[] = [
    ['composer', '?', ['help.open']],
    ['composer', 'f1', ['help.open']],
    ['global', '?', ['help.open']],
    ['composer', ':', ['palette.open']],
    ['composer', '/', ['palette.open']],
    ['global', 'ctrl+p', ['palette.open']],
    ['list', '/', ['search.open']],
    ['transcript', '/', ['search.open']],
    ['transcript', 'k', ['move.up']],
    ['transcript', 'G', ['move.bottom']],
    ['composer', 'k', []],
    ['transcript', 'ctrl+u', ['move.page_up']],
    ['transcript', 'ctrl+d', ['move.page_down']],
    ['composer', 'ctrl+u', []],
    ['composer', 'pgup', ['move.page_up']],
    ['composer', 'ctrl+d', ['app.leave']],
    ['global', 'ctrl+d', []],
    ['global', 'ctrl+o', ['session.switch']],
    ['global', 's', []],
    ['list', 's', ['session.switch']],
    ['transcript', 's', []],
    ['global', 'ctrl+n', ['pending.next']],
    ['composer', 'enter', ['composer.send']],
    ['composer', 'tab', ['composer.queue', 'focus.next']],
    ['composer', 'ctrl+s', ['queue.steer']],
    ['composer', 'ctrl+enter', ['queue.steer']],
    ['composer', 'up', ['composer.recall']],
    ['composer', 'ctrl+j', ['composer.newline']],
    ['transcript', 'esc', ['turn.interrupt']],
    ['palette', 'esc', ['screen.back']],
    ['dialog', 'esc', ['screen.back']],
    ['global', 'ctrl+c', ['app.clear_or_leave']],
    ['pending', '1', ['pending.choose']],
    ['pending', '9', ['pending.choose']],
    ['transcript', 'p', ['plan.open']],
    ['transcript', 't', ['tasks.open']],
    ['transcript', 'q', ['queue.open']],
    ['transcript', 'i', ['inspector.open']],
    ['transcript', 'o', ['item.browse']],
    ['transcript', 'y', ['item.copy']],
    ['composer', 'ctrl+g', ['composer.editor']],
    ['global', 'ctrl+l', ['screen.redraw']],
    ['global', 'ctrl+z', ['app.suspend']],
  ]
  test.each(rows)('%s %s', (context, chord, actions) => {
    expect(table.actionsFor(context, chord)).toEqual(actions)
  })
})

test('experience 7.2 no letter is an action where letters are typed, but those that wait for an empty composer', () => {
  const typed = ACTION_IDS.flatMap(id =>
    (['composer', 'palette', 'dialog'] as const).flatMap(context =>
      table.keysOf(id, context).flatMap(chord => (chord.length === 1 ? [`${context} ${chord} ${id}`] : [])),
    ),
  )
  expect(typed).toEqual(['composer ? help.open', 'composer : palette.open', 'composer / palette.open'])
})

test('experience 7.2 what a person gave a key comes first, and what stood there has lost it', () => {
  const mine = createKeyTable({ composer: { 'ctrl+x': 'queue.steer', 'ctrl+g': null, 'ctrl+r': 'composer.editor' } })
  expect(mine.keysOf('queue.steer', 'composer')).toEqual(['ctrl+x', 'ctrl+s', 'ctrl+enter'])
  expect(mine.keysOf('composer.editor', 'composer')).toEqual(['ctrl+r'])
  expect(mine.keysOf('composer.search', 'composer')).toEqual([])
  expect(mine.actionsFor('composer', 'ctrl+g')).toEqual([])
  expect(mine.keysOf('queue.steer', 'queue')).toEqual(['ctrl+s', 'ctrl+enter'])
})

test('experience 7.2 every action says what it is for, in a hint of at most two words', () => {
  for (const id of Object.keys(ACTIONS) as ActionId[]) {
    const { hint, label, contexts } = actionOf(id)
    expect(hint.split(' ').length, id).toBeLessThanOrEqual(2)
    expect(label, id).toMatch(/^[A-Z].*[^.]$/)
    expect(new Set(contexts).size, id).toBe(contexts.length)
  }
})

describe('experience 7.2 a key as people write it', () => {
  test.each([
    ['Ctrl-S', 'ctrl+s'],
    ['control+s', 'ctrl+s'],
    ['C-s', 'ctrl+s'],
    ['S-Enter', 'shift+enter'],
    ['shift+Return', 'shift+enter'],
    ['Space', 'space'],
    [' ', 'space'],
    ['alt-B', 'alt+B'],
    ['M-b', 'alt+b'],
    ['shift+ctrl+up', 'ctrl+shift+up'],
    ['shift+g', 'G'],
    ['G', 'G'],
    ['g', 'g'],
    ['Esc', 'esc'],
    ['Escape', 'esc'],
    ['PageUp', 'pgup'],
    ['F12', 'f12'],
    ['ctrl++', 'ctrl++'],
    ['ctrl+plus', 'ctrl++'],
    ['-', '-'],
    ['+', '+'],
    ['ü', 'ü'],
    ['?', '?'],
  ])('%j is %s', (written, chord) => {
    expect(parseChord(written)).toBe(chord)
  })
  test.each(['', 'ctrl+', 'ctrl+ctrl+s', 'cmd+k', 'f13', 'foo', 'shift+1', 'ab', '\u0007', 'x'.repeat(65)])(
    '%j is none',
    written => {
      expect(parseChord(written)).toBeUndefined()
    },
  )
  test('short for the row of hints', () => {
    expect(['ctrl+s', 'ctrl+enter', 'up', 'esc', 'shift+tab', '?'].map(shortChord)).toEqual([
      '^S',
      '^enter',
      '↑',
      'esc',
      'shift+tab',
      '?',
    ])
  })
})
