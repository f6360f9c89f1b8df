import { useReducer, useRef } from 'react'
import type { OfferedAction } from '../../view/keymap/help.ts'
import type { EffectiveKeys } from '../../view/keymap/key-table.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import type { Line } from '../text/line.ts'
import { helpLines } from './help-lines.ts'

/** All keys that do something now. `offered` is what was so before this lay above. Source: experience 7.2. */
export function Help({
  offered,
  table,
  columns,
  rows,
  onClose,
}: {
  readonly offered: readonly OfferedAction[]
  readonly table: Pick<EffectiveKeys, 'keysOf'>
  readonly columns: number
  readonly rows: number
  onClose(): void
}) {
  const from = useRef(0)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const all = helpLines(offered, table, columns)
  const room = Math.max(1, rows - 2)
  const last = Math.max(0, all.length - room)
  const to = (row: number) => {
    from.current = Math.min(last, Math.max(0, row))
    redraw()
  }
  useActions({
    context: 'help',
    isModal: true,
    handlers: {
      'screen.back': onClose,
      'help.open': onClose,
      'move.up': () => to(from.current - 1),
      'move.down': () => to(from.current + 1),
      'move.page_up': () => to(from.current - room),
      'move.page_down': () => to(from.current + room),
      'move.top': () => to(0),
      'move.bottom': () => to(last),
    },
  })
  const first = Math.min(last, from.current)
  const lines: Line[] = [[{ text: ' Keys that work now', tone: 'heading' }], ...all.slice(first, first + room)]
  while (lines.length < rows - 1) lines.push([])
  lines.push([{ text: footer(first, room, all.length), tone: 'dim' }])
  return <Lines lines={lines.slice(0, rows)} columns={columns} rows={rows} />
}

function footer(first: number, room: number, count: number): string {
  return count > room
    ? ` ${first + 1}-${Math.min(count, first + room)} of ${count} · ↑↓ scroll · esc back`
    : ' esc back'
}
