import { expect, test } from 'vitest'
import { hintLine } from '../../../replica/tui/keys/hint-line.ts'
import { lineWidth } from '../../../replica/tui/text/measure.ts'
import type { ActionId, KeyContext } from '../../../replica/view/keymap/actions.ts'
import { helpGroups, type OfferedAction } from '../../../replica/view/keymap/help.ts'
import { createKeyTable } from '../../../replica/view/keymap/key-table.ts'

const table = createKeyTable()
const offer = (context: KeyContext, ...actions: ActionId[]): OfferedAction[] =>
  actions.map(action => ({ context, action }))
const textOf = (line: readonly { text: string }[]) => line.map(({ text }) => text).join('')

const RUNNING = [
  ...offer(
    'composer',
    'composer.send',
    'composer.queue',
    'queue.steer',
    'turn.interrupt',
    'focus.next',
    'help.open',
    'palette.open',
  ),
  ...offer('global', 'turn.interrupt', 'help.open', 'palette.open', 'pending.next', 'screen.redraw'),
]

test('experience 7.1 the row of hints names the keys that matter now', () => {
  const words = { 'composer.send': 'queue', 'pending.next': null, 'composer.queue': null } as const
  expect(textOf(hintLine(RUNNING, table, { columns: 80, words }))).toBe(
    ' enter queue · ^S steer · esc stop · tab focus · ? keys · : palette',
  )
})

test('experience 7.1 on a narrow screen the less important hints go first, help and palette last', () => {
  for (let columns = 0; columns <= 90; columns++) {
    const line = hintLine(RUNNING, table, { columns })
    expect(lineWidth(line)).toBeLessThanOrEqual(columns)
    if (columns >= 21) expect(textOf(line)).toMatch(/\? keys · : palette$/)
  }
  expect(textOf(hintLine(RUNNING, table, { columns: 36 }))).toBe(' enter send · ? keys · : palette')
})

test('experience 7.2 a key that an inner part takes is neither hinted at nor told of an outer one', () => {
  const offered = [...offer('list', 'screen.back', 'item.open'), ...offer('global', 'turn.interrupt', 'help.open')]
  expect(textOf(hintLine(offered, table, { columns: 80 }))).toBe(' enter open · esc back · ? keys')
  expect(helpGroups(offered, table)).toEqual([
    {
      context: 'list',
      title: 'Sessions',
      rows: [
        { action: 'screen.back', keys: ['esc'], label: 'Back' },
        { action: 'item.open', keys: ['enter'], label: 'Open or unfold what is marked' },
      ],
    },
    {
      context: 'global',
      title: 'Everywhere',
      rows: [{ action: 'help.open', keys: ['?', 'f1'], label: 'Show the keys that work here' }],
    },
  ])
})

test('experience 7.2 keys that a person changed are the ones that are told', () => {
  const mine = createKeyTable({ composer: { 'ctrl+x': 'queue.steer', 'ctrl+s': null, esc: null } })
  expect(textOf(hintLine(RUNNING, mine, { columns: 80, words: { 'composer.queue': null } }))).toContain('^X steer')
  const [composer, global] = helpGroups(RUNNING, mine)
  expect(composer?.rows.find(({ action }) => action === 'queue.steer')?.keys).toEqual(['ctrl+x', 'ctrl+enter'])
  expect(global?.rows.map(({ action }) => action)).toContain('turn.interrupt')
})

test('experience 7.2 a row of digits is told by its ends', () => {
  const [group] = helpGroups(offer('pending', 'pending.choose', 'pending.confirm'), table)
  expect(group?.rows.map(({ keys }) => keys)).toEqual([['1-9'], ['enter']])
})
