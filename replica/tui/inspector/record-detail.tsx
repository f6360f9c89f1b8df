import { useMemo, useState } from 'react'
import type { LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { inertJsonText } from '../../view/terminal-text.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { linesOf } from '../text/clean.ts'
import { type Line, lineOf } from '../text/line.ts'
import { cutLine } from '../text/wrap.ts'

/** A record as it is stored, as JSON for people: nothing in it moves the terminal. Source: Z6. */
export function recordText(record: LedgerRecord): string {
  return inertJsonText(JSON.stringify(record, null, 2))
}

/** What became of looking for the record. */
export type RecordLook =
  | { readonly kind: 'looking' }
  | { readonly kind: 'there'; readonly record: LedgerRecord }
  | { readonly kind: 'away'; readonly why: string }

/** One record, whole; it scrolls. */
export function RecordDetail({
  look,
  columns,
  rows,
  onBack,
}: {
  readonly look: RecordLook
  readonly columns: number
  readonly rows: number
  onBack(): void
}) {
  const [top, setTop] = useState(0)
  const lines = useMemo(() => linesFor(look, columns), [look, columns])
  const room = Math.max(1, rows - 1)
  const last = Math.max(0, lines.length - room)
  const from = Math.min(top, last)
  const to = (line: number) => setTop(Math.min(last, Math.max(0, line)))
  useActions({
    context: 'inspector',
    isModal: true,
    handlers: {
      'move.up': () => to(from - 1),
      'move.down': () => to(from + 1),
      'move.page_up': () => to(from - room),
      'move.page_down': () => to(from + room),
      'move.top': () => to(0),
      'move.bottom': () => to(last),
      'item.open': onBack,
      'screen.back': onBack,
    },
  })
  const place =
    lines.length > room ? ` · lines ${from + 1}–${Math.min(lines.length, from + room)} of ${lines.length}` : ''
  const head: Line = [
    { text: ' the record as it is stored', tone: 'heading' },
    { text: `${place} · esc back`, tone: 'dim' },
  ]
  return <Lines lines={[head, ...lines.slice(from, from + room)]} columns={columns} rows={rows} />
}

function linesFor(look: RecordLook, columns: number): readonly Line[] {
  if (look.kind === 'looking') return [lineOf(' reading it …', { tone: 'dim' })]
  if (look.kind === 'away') return [lineOf(` ${look.why}`, { tone: 'warn' })]
  const text = recordText(look.record)
  const isCut = text.length > LIMITS.inspectedRecordChars
  const lines = linesOf(text.slice(0, LIMITS.inspectedRecordChars)).flatMap(line =>
    cutLine([{ text: ' ' }, ...line], columns),
  )
  return isCut ? [...lines, lineOf(' … cut here; headwater inspect --json has all of it', { tone: 'warn' })] : lines
}
