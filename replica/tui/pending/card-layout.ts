import { utf8Bytes } from '../../../schema/text.ts'
import { byteText } from '../../view/byte-text.ts'
import type { CardHead, HeadPart } from '../../view/pending/card-head.ts'
import type { CardRow } from '../../view/pending/card-rows.ts'
import { visibleFrom } from '../parts/visible-from.ts'
import type { Line, Span } from '../text/line.ts'
import { spread } from '../text/measure.ts'
import { cutLine, wrapLine } from '../text/wrap.ts'
import { type RowLines, rowLines } from './row-lines.ts'

/** A card within a width: what is asked, and what can be answered. `marked` are the lines of the row that the keys are on. */
export interface CardBody {
  readonly head: readonly Line[]
  /** All that can be read: what is asked, then every row that is cut below. */
  readonly all: readonly Line[]
  readonly rows: readonly Line[]
  readonly marked: { readonly first: number; readonly last: number }
  /** Bytes that are not here yet. */
  readonly missingBytes: number
  readonly columns: number
}

/** What of a card is on the screen. `hidden`: something is not; `headRoom`: so many lines of `all` are seen at once. */
export interface CardView {
  readonly lines: readonly Line[]
  readonly isHidden: boolean
  readonly headRoom: number
}

/** With all of a long text hidden, so many lines of what is asked are seen at most. */
const HEAD_LINES = 12
/** What is asked gives way to what can be answered, but not below this. */
const LEAST_HEAD = 2

const HEAD_STYLES: Readonly<Record<HeadPart['kind'], Omit<Span, 'text'>>> = {
  asked: { bold: true },
  code: { tone: 'code' },
  note: { tone: 'dim' },
}

/** Lays a card out in a width. */
export function cardBody(
  head: CardHead,
  rows: readonly CardRow[],
  { columns, hasKeys }: { readonly columns: number; readonly hasKeys: boolean },
): CardBody {
  const asked = head.parts.flatMap(part => headLines(part, columns))
  const laid = rows.map(row => rowLines(row, columns, hasKeys))
  const cut = laid.filter(({ isCut }) => isCut)
  const missingBytes = head.missing.reduce((sum, { bytes, preview }) => sum + bytes - utf8Bytes(preview), 0)
  return {
    head: asked,
    all: cut.length === 0 ? asked : [...asked, [], ...cut.flatMap(({ whole }) => whole)],
    rows: laid.flatMap(({ lines }) => lines),
    marked: markedLines(rows, laid),
    missingBytes,
    columns,
  }
}

/**
 * What of a card fits in `room` lines. Rows that can be chosen keep their place; what is asked is cut with a line that says how much is not
 * seen. With `isWhole` it takes the room and can be scrolled to `top`. Source: experience 6.3.
 */
export function cardView(
  body: CardBody,
  {
    room,
    isWhole,
    top,
    key,
  }: { readonly room: number; readonly isWhole: boolean; readonly top: number; readonly key: string },
): CardView {
  if (isWhole) return wholeView(body, { room, top, key })
  const least = Math.min(body.head.length, Math.max(LEAST_HEAD, Math.ceil(room / 3)))
  const rowsRoom = Math.min(body.rows.length, Math.max(1, room - least))
  const headRoom = Math.max(0, Math.min(HEAD_LINES, room - rowsRoom))
  const isCut = body.head.length > headRoom || body.missingBytes > 0
  const shown = isCut ? body.head.slice(0, Math.max(0, headRoom - 1)) : body.head
  const hidden = body.all.slice(shown.length)
  const isHidden = isCut || body.all.length > body.head.length
  const more: Line[] = isCut && headRoom > 0 ? [moreLine(bytesOf(hidden) + body.missingBytes, key)] : []
  return { lines: [...shown, ...more, ...rowsIn(body, rowsRoom)], isHidden, headRoom }
}

function wholeView(
  body: CardBody,
  { room, top, key }: { readonly room: number; readonly top: number; readonly key: string },
): CardView {
  const markedCount = body.marked.last - body.marked.first + 1
  const rowsRoom = Math.min(body.rows.length, Math.max(1, Math.min(markedCount, Math.floor(room / 3))))
  const headRoom = Math.max(1, room - rowsRoom - 1)
  const from = Math.max(0, Math.min(top, body.all.length - headRoom))
  const to = Math.min(body.all.length, from + headRoom)
  const missing = body.missingBytes > 0 ? ` · ${byteText(body.missingBytes)} are not here` : ''
  const place: Line = [{ text: `lines ${from + 1}–${to} of ${body.all.length}${missing} · ${key} less`, tone: 'dim' }]
  return { lines: [...body.all.slice(from, to), place, ...rowsIn(body, rowsRoom)], isHidden: true, headRoom }
}

function moreLine(bytes: number, key: string): Line {
  return [{ text: `… ${byteText(bytes)} more · ${key} shows all`, tone: 'warn' }]
}

function bytesOf(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + 1 + line.reduce((all, { text }) => all + utf8Bytes(text), 0), 0)
}

/** The rows in view: the marked one is among them, from its first line on. Arrows say that there are others. */
function rowsIn({ rows, marked, columns }: CardBody, room: number): readonly Line[] {
  const ending = visibleFrom(marked.last, { count: rows.length, room, before: 0 })
  const from = visibleFrom(marked.first, { count: rows.length, room, before: ending })
  return rows.slice(from, from + room).map((line, at): Line => {
    const arrows = `${at === 0 && from > 0 ? '↑' : ''}${at === room - 1 && from + room < rows.length ? '↓' : ''}`
    return arrows === '' ? line : spread(line, [{ text: arrows, tone: 'warn' }], columns)
  })
}

function headLines({ text, kind }: HeadPart, columns: number): readonly Line[] {
  return text.split('\n').flatMap(line => {
    if (line === '') return [[]]
    const whole: Line = [{ text: line, ...HEAD_STYLES[kind] }]
    return kind === 'code' ? cutLine(whole, columns) : wrapLine(whole, columns)
  })
}

function markedLines(rows: readonly CardRow[], laid: readonly RowLines[]): CardBody['marked'] {
  let first = 0
  for (const [at, row] of rows.entries()) {
    const count = laid[at]?.lines.length ?? 0
    if (row.isMarked) return { first, last: first + Math.max(0, count - 1) }
    first += count
  }
  return { first: 0, last: 0 }
}
