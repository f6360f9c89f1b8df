import { expect, test } from 'vitest'
import { type KeyLayer, KeyRouter, type KeyTable } from '../../replica/tui/keys/key-router.ts'
import type { ActionId, KeyContext } from '../../replica/view/keymap/actions.ts'
import { chordOf, type KeyPress } from '../../replica/view/keymap/key.ts'

const TABLE: Readonly<Partial<Record<KeyContext, Readonly<Record<string, readonly ActionId[]>>>>> = {
  global: { '?': ['help.open'], 'ctrl+c': ['app.clear_or_leave'] },
  composer: { tab: ['composer.queue', 'focus.next'], '?': ['help.open'], 'ctrl+c': ['app.clear_or_leave'] },
  dialog: { esc: ['screen.back'] },
}
const table: KeyTable = { actionsFor: (context, chord) => TABLE[context]?.[chord] ?? [], keysOf: () => [] }

function press(key: string, over: Partial<KeyPress> = {}): KeyPress {
  return {
    key,
    ctrl: false,
    alt: false,
    shift: false,
    text: key.length === 1 && over.ctrl !== true ? key : '',
    ...over,
  }
}

function routed(...layers: KeyLayer[]) {
  const router = new KeyRouter(table)
  const remove = layers.map(layer => router.add({ current: layer }))
  return { router, remove }
}

test('experience 7.2 the innermost part has the key, and gives it on when it has no use for it', () => {
  const done: string[] = []
  let isEmpty = false
  const { router } = routed(
    { context: 'global', handlers: { 'help.open': () => done.push('help') } },
    {
      context: 'composer',
      handlers: {
        'composer.queue': () => (isEmpty ? false : done.push('queue')),
        'focus.next': () => done.push('focus'),
      },
      onText: text => (isEmpty && text === '?' ? false : done.push(`typed ${text}`)),
    },
  )
  router.press(press('tab'))
  router.press(press('?'))
  isEmpty = true
  router.press(press('tab'))
  router.press(press('?'))
  expect(done).toEqual(['queue', 'typed ?', 'focus', 'help'])
})

test('experience 7.2 a dialog keeps keys from what lies below, but not from leaving', () => {
  const done: string[] = []
  const { router, remove } = routed(
    { context: 'global', handlers: { 'app.clear_or_leave': () => done.push('leave') } },
    { context: 'composer', handlers: {}, onText: () => done.push('typed'), onPaste: () => done.push('pasted') },
    { context: 'dialog', handlers: { 'screen.back': () => done.push('closed') }, isModal: true },
  )
  expect(router.press(press('x'))).toBe(false)
  expect(router.paste('text')).toBe(false)
  router.press(press('c', { ctrl: true }))
  router.press(press('esc'))
  remove[2]?.()
  router.press(press('x'))
  router.paste('text')
  expect(done).toEqual(['leave', 'closed', 'typed', 'pasted'])
})

test('experience 7.2 who shows keys is told when layers come and go', () => {
  const { router } = routed({ context: 'global', handlers: { 'help.open': () => {} } })
  let told = 0
  const stop = router.subscribe(() => told++)
  const remove = router.add({ current: { context: 'composer', handlers: { 'focus.next': () => {} } } })
  expect(router.offered()).toEqual([
    { context: 'composer', action: 'focus.next' },
    { context: 'global', action: 'help.open' },
  ])
  remove()
  stop()
  router.add({ current: { context: 'list', handlers: {} } })
  expect(told).toBe(2)
})

test.each([
  [press('s', { ctrl: true }), 'ctrl+s'],
  [press('enter', { shift: true }), 'shift+enter'],
  [press('G', { shift: true }), 'G'],
  [press(' '), 'space'],
  [press('b', { alt: true, text: '' }), 'alt+b'],
])('experience 7.2 %j is written %s', (key, chord) => {
  expect(chordOf(key)).toBe(chord)
})

test('experience 7.2 what has others inside it lies below them, though it came later', () => {
  const done: string[] = []
  const { router } = routed(
    { context: 'composer', handlers: { 'focus.next': () => done.push('part') } },
    { context: 'composer', handlers: { 'focus.next': () => done.push('screen') }, level: 1 },
    { context: 'composer', handlers: { 'focus.next': () => done.push('terminal') }, level: 0 },
  )
  router.press(press('tab'))
  expect(done).toEqual(['part'])
})
