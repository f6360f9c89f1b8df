import type { CardRow, FieldValue } from '../../view/pending/card-rows.ts'
import { lineInput } from '../parts/line-input.ts'
import type { Line, Span } from '../text/line.ts'
import { clipLine, lineWidth } from '../text/measure.ts'
import { indented, wrapLine } from '../text/wrap.ts'

/** A row of a card as lines. `isCut`: not all of it is in them; `whole` is. */
export interface RowLines {
  readonly lines: readonly Line[]
  readonly whole: readonly Line[]
  readonly isCut: boolean
}

/** A longer row is cut where it is chosen; all of it is with what is read. */
const ROW_LINES = 3

/** A row of a card within a width. `hasKeys`: the keys are on the card, so the mark and the cursor are seen. Source: experience 6.3. */
export function rowLines(row: CardRow, columns: number, hasKeys: boolean): RowLines {
  const isAt = row.isMarked && hasKeys
  const head: Line = [{ text: isAt ? '› ' : '  ', tone: 'accent', bold: true }]
  switch (row.kind) {
    case 'option':
      return laidOut([...head, ...optionHead(row)], [...labelOf(row.label, isAt), ...noteOf(row.note)], columns)
    case 'text': {
      const asked: Line = [...head, { text: `[${row.number}] `, tone: 'accent' }]
      const isEmpty = row.editor.text === ''
      const room = columns - lineWidth(asked)
      const text = isEmpty && !isAt ? [WORDS] : lineInput(row.editor, room, isAt)
      const line = isEmpty && isAt ? [...text, { ...WORDS, text: ` ${WORDS.text}` }] : text
      return whole([[...asked, ...clipLine(line, room)]])
    }
    case 'pick':
      return laidOut([...head, { text: `[${row.number}] `, tone: 'accent' }], pickSpans(row, isAt), columns)
    case 'field':
      return fieldLines(row, { head, columns, isAt })
    case 'send':
      return whole([[...head, { text: row.label, bold: isAt }]])
    default:
      return row satisfies never
  }
}

const WORDS: Span = { text: 'in your own words', tone: 'dim' }

function optionHead({ number, isChosen, isSeveral }: Extract<CardRow, { kind: 'option' }>): Line {
  const key: Span = { text: `[${number}] `, tone: 'accent' }
  if (isChosen === null || (!isSeveral && !isChosen)) return [key]
  return [key, { text: isSeveral ? (isChosen ? '[x] ' : '[ ] ') : '(chosen) ', tone: isChosen ? 'good' : 'normal' }]
}

function labelOf(label: string, isAt: boolean): Line {
  return [{ text: label, bold: isAt }]
}

function noteOf(note: string): Line {
  return note === '' ? [] : [{ text: ` – ${note}`, tone: 'dim' }]
}

function pickSpans({ label, answer }: Extract<CardRow, { kind: 'pick' }>, isAt: boolean): Line {
  const said: Span = answer === null ? { text: 'not answered', tone: 'warn' } : { text: answer, tone: 'good' }
  return [{ text: label, bold: isAt }, { text: ' → ', tone: 'dim' }, said]
}

function fieldLines(
  { label, note, value, fault }: Extract<CardRow, { kind: 'field' }>,
  { head, columns, isAt }: { readonly head: Line; readonly columns: number; readonly isAt: boolean },
): RowLines {
  const name: Line = [{ text: `${label}: `, bold: isAt }]
  const under: Line = [{ text: '    ' }]
  const room = columns - lineWidth(head)
  const notes = [
    ...(note === '' || !isAt ? [] : [[{ text: note, tone: 'dim' as const }]]),
    ...(fault === null ? [] : [[{ text: `! ${fault}`, tone: 'bad' as const }]]),
  ].map(line => laidOut(under, line, columns))
  const isBeside = value.kind === 'text' && lineWidth(name) <= room / 2
  const main = isBeside
    ? whole([[...head, ...name, ...lineInput(value.editor, room - lineWidth(name), isAt)]])
    : joined([laidOut(head, name, columns), valueLines(value, { under, columns, isAt })])
  return joined([main, ...notes])
}

function valueLines(
  value: FieldValue,
  { under, columns, isAt }: { readonly under: Line; readonly columns: number; readonly isAt: boolean },
): RowLines {
  if (value.kind === 'text') return whole([[...under, ...lineInput(value.editor, columns - lineWidth(under), isAt)]])
  const spans = value.choices.flatMap(({ label, isChosen, isAt: hasKeys }, at): Span[] => {
    const mark = value.isSeveral ? (isChosen ? '[x]' : '[ ]') : isChosen ? '(x)' : '( )'
    const look = isAt && hasKeys ? { underline: true } : {}
    return [{ text: `${at === 0 ? '' : '  '}` }, { text: `${at + 1} ${mark} ${label}`, bold: isChosen, ...look }]
  })
  return laidOut(under, spans, columns)
}

function laidOut(head: Line, line: Line, columns: number): RowLines {
  const rest: Line = [{ text: ' '.repeat(lineWidth(head)) }]
  const all = indented(wrapLine(line, Math.max(1, columns - lineWidth(head))), head, rest)
  if (all.length <= ROW_LINES) return whole(all)
  const last = all[ROW_LINES - 1] ?? []
  const cut = [...clipLine(last, columns - 2), { text: ' …', tone: 'dim' as const }]
  return { lines: [...all.slice(0, ROW_LINES - 1), cut], whole: all, isCut: true }
}

function whole(lines: readonly Line[]): RowLines {
  return { lines, whole: lines, isCut: false }
}

function joined(parts: readonly RowLines[]): RowLines {
  return {
    lines: parts.flatMap(({ lines }) => lines),
    whole: parts.flatMap(part => part.whole),
    isCut: parts.some(({ isCut }) => isCut),
  }
}
