import type { PaletteEntry } from '../../view/palette.ts'
import { spanOf } from '../text/clean.ts'
import type { Line, Span } from '../text/line.ts'
import { clipText, lineWidth, widthOf } from '../text/measure.ts'

/** What a picker shows. */
interface PickerView {
  readonly title: string
  readonly text: string
  readonly listed: readonly PaletteEntry[]
  readonly marked: number
  readonly from: number
  readonly columns: number
  readonly rows: number
}

/** From so many columns on there is room for what an entry says about itself. */
const WIDE_FROM = 56

/** The rows of a picker: what was typed, the entries in view, and how many there are. Text of strangers is made harmless. Source: Z6. */
export function pickerLines({ title, text, listed, marked, from, columns, rows }: PickerView): readonly Line[] {
  const room = Math.max(1, rows - 2)
  const lines: Line[] = [typedLine(title, text, columns)]
  for (const [at, entry] of listed.slice(from, from + room).entries()) {
    lines.push(entryLine(entry, columns, from + at === marked))
  }
  if (listed.length === 0) lines.push([{ text: ' nothing like that', tone: 'dim' }])
  const count = listed.length > room ? `${marked + 1} of ${listed.length} · ` : ''
  while (lines.length < rows - 1) lines.push([])
  lines.push([{ text: ` ${count}enter choose · esc back`, tone: 'dim' }])
  return lines.slice(0, rows)
}

/** The end of what was typed stays in view. */
function typedLine(title: string, text: string, columns: number): Line {
  const head: Span = { text: ` ${title} › `, tone: 'heading' }
  const room = Math.max(1, columns - lineWidth([head]) - 1)
  let shown = spanOf(text)
  while (widthOf(shown.text) > room) shown = { text: [...shown.text].slice(1).join('') }
  return [head, shown, { text: ' ', inverse: true }]
}

function entryLine(entry: PaletteEntry, columns: number, isMarked: boolean): Line {
  const mark: Span = { text: isMarked ? ' › ' : '   ', tone: 'accent', bold: isMarked }
  const isWide = columns >= WIDE_FROM
  const right = clipText(
    spanOf(entry.key === '' ? entry.about : entry.key).text,
    Math.floor(columns * (isWide ? 0.4 : 0.35)),
  )
  const room = Math.max(1, columns - 4 - (right === '' ? 0 : widthOf(right) + 1))
  const label = clipText(spanOf(entry.label).text, room)
  const space = ' '.repeat(Math.max(1, columns - 4 - widthOf(label) - widthOf(right)))
  return [
    mark,
    { text: label, bold: isMarked },
    { text: space },
    { text: right, tone: entry.about.startsWith('!') ? 'warn' : entry.key === '' ? 'dim' : 'accent' },
  ]
}
