import type { ToolEntry, ToolText } from '../../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { artifactWords, inputText, toolStateWords, toolTextOf, toolTitle } from '../../../view/transcript/tool-words.ts'
import { toolWords } from '../../../view/words.ts'
import { linesOf, spanOf } from '../../text/clean.ts'
import type { Line, Tone } from '../../text/line.ts'
import { clipLine, lineWidth, widthOf } from '../../text/measure.ts'
import { cutLine, indented, wrapLine } from '../../text/wrap.ts'
import { middleLeftOut } from './folded.ts'
import type { LayoutFrame, RowLayout } from './layout.ts'

const TONES: Readonly<Record<ToolEntry['status'], Tone>> = {
  pending: 'dim',
  in_progress: 'accent',
  completed: 'good',
  failed: 'bad',
  unknown: 'warn',
}

/** The title gives way to the state, but not below this. */
const LEAST_TITLE_COLUMNS = 12

/** A call is one line with its state; unfolded with input and output, of which what is long is left out in the middle at first. */
export function toolLines(entry: ToolEntry, { columns, level }: LayoutFrame): RowLayout {
  const mark = { text: '● ', tone: TONES[entry.status] } as const
  const parts = [
    ...part('input', inputText(entry.input), entry.input, columns),
    ...part('output', toolTextOf(entry.output), entry.output, columns),
  ]
  const isLong = parts.some(({ lines }) => lines.length > LIMITS.foldedLines)
  const levels = parts.length === 0 ? 1 : isLong ? 3 : 2
  if (level === 0 || parts.length === 0)
    return { mark, lines: [headLine(entry, columns), ...reasonLines(entry, columns)], levels }
  const indent: Line = [{ text: '  ' }]
  const body = parts.flatMap(({ name, lines }) => {
    const shown = level === 1 ? middleLeftOut(lines) : lines
    return [[{ text: name, tone: 'dim' as const }], ...indented(shown, indent, indent)]
  })
  return { mark, lines: [...wholeHead(entry, columns), ...body], levels }
}

/** Title and state on one line; without room the time and the amount go first, then the end of the title. */
function headLine(entry: ToolEntry, columns: number): Line {
  const title = spanOf(toolTitle(entry))
  const whole = stateOf(entry, toolStateWords(entry))
  if (widthOf(title.text) + lineWidth(whole) <= columns) return [title, ...whole]
  const state = stateOf(entry, toolWords(entry.status))
  const room = Math.max(LEAST_TITLE_COLUMNS, columns - lineWidth(state))
  return clipLine([...clipLine([title], room), ...state], columns)
}

function wholeHead(entry: ToolEntry, columns: number): Line[] {
  const title = linesOf(toolTitle(entry)).flatMap(line => wrapLine(line, columns))
  const last = title.at(-1) ?? []
  const state = stateOf(entry, toolStateWords(entry))
  const fits = lineWidth(last) + lineWidth(state) <= columns
  return fits ? [...title.slice(0, -1), [...last, ...state]] : [...title, ...wrapLine(state.map(trimmedStart), columns)]
}

const trimmedStart = (span: Line[number], index: number): Line[number] =>
  index === 0 ? { ...span, text: span.text.replace(/^ · /, '') } : span

function stateOf(entry: ToolEntry, words: string): Line {
  const tone = entry.status === 'failed' || entry.status === 'unknown' ? TONES[entry.status] : 'dim'
  return [spanOf(` · ${words}`, { tone })]
}

/** Why a call failed, as far as the first line of its output says it. */
function reasonLines({ status, output }: ToolEntry, columns: number): Line[] {
  const first = status === 'failed' ? toolTextOf(output).trimStart().split('\n', 1)[0] : undefined
  return first === undefined || first === '' ? [] : [clipLine([spanOf(first, { tone: 'dim' })], columns)]
}

interface Part {
  readonly name: string
  readonly lines: readonly Line[]
}

/** An input or output with its lines; nothing where there is none. */
function part(name: string, text: string, source: ToolText | null, columns: number): Part[] {
  const room = Math.max(1, columns - 2)
  const shown = text.replace(/^\n+/, '').trimEnd()
  const lines = shown === '' ? [] : linesOf(shown, { tone: 'code' }).flatMap(line => cutLine(line, room))
  if (source !== null && typeof source !== 'string') {
    return [{ name, lines: [...lines, ...wrapLine([spanOf(`[${artifactWords(source)}]`, { tone: 'accent' })], room)] }]
  }
  return lines.length === 0 ? [] : [{ name, lines }]
}
