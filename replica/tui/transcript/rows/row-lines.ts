import type { Content } from '../../../../schema/entities/content.ts'
import { commandText } from '../../../view/command-text.ts'
import { optionLines, outcomeLine, summaryOf } from '../../../view/interaction-words.ts'
import type { TextRow, TranscriptRow, TurnRow, UserRow } from '../../../view/transcript/row.ts'
import { attachmentWords, wholeText } from '../../../view/transcript/row-text.ts'
import { beginningWords, brokenWords, nextWords, outcomeWords } from '../../../view/transcript/turn-words.ts'
import { linesOf, type Style, spanOf } from '../../text/clean.ts'
import type { Line, Tone } from '../../text/line.ts'
import { lexMarkdown } from '../../text/markdown/lex.ts'
import { markdownLines } from '../../text/markdown/markdown-lines.ts'
import { clipLine, lineWidth, widthOf } from '../../text/measure.ts'
import { indented, wrapLine } from '../../text/wrap.ts'
import { cleanPieces } from './clean-pieces.ts'
import { folded } from './folded.ts'
import type { FoldLevel, LayoutFrame, RowLayout } from './layout.ts'
import { toolLines } from './tool-lines.ts'

/** Lays a row out; `before` is how the same row was laid out when there was less of it. Source: experience 6.5. */
export function layOut(row: TranscriptRow, frame: LayoutFrame, before?: RowLayout): RowLayout {
  switch (row.kind) {
    case 'turn':
      return { mark: { text: '─ ', tone: 'dim' }, lines: [headLine(row, frame.columns)], levels: 1 }
    case 'user':
      return userLayout(row, frame)
    case 'assistant': {
      const lexed = lexMarkdown(cleanPieces(row.pieces), before?.lexed)
      return { mark: { text: '  ' }, lines: atLeastOne(markdownLines(lexed, frame.columns)), levels: 1, lexed }
    }
    case 'thinking':
      return thoughtLayout(row, frame)
    case 'tool':
      return toolLines(row.entry, frame)
    case 'interaction': {
      const { request, outcome } = row.entry
      const asked = frame.level === 0 ? [summaryOf(request)] : optionLines(request)
      const answer = wrapped(outcomeLine(outcome, request), frame.columns, {
        tone: outcome.kind === 'answer' ? 'dim' : 'warn',
      })
      return {
        mark: { text: '? ', tone: 'accent' },
        lines: [...asked.flatMap(line => wrapped(line, frame.columns)), ...answer],
        levels: 2,
      }
    }
    case 'plan':
      return { mark: { text: '◆ ', tone: 'accent' }, ...folded(wrapped(wholeText(row), frame.columns), frame.level) }
    case 'notice':
      return { mark: { text: '! ', tone: 'warn' }, ...folded(wrapped(row.entry.text, frame.columns), frame.level) }
    case 'end': {
      const tone = row.turn.status === 'failed' ? 'bad' : 'warn'
      const next = commandText(nextWords(row.turn), frame.place)
      return {
        mark: { text: row.turn.status === 'failed' ? '✕ ' : '■ ', tone },
        lines: [
          ...wrapped(brokenWords(row.turn), frame.columns, { tone }),
          ...wrapped(next, frame.columns, { tone: 'dim' }),
        ],
        levels: 1,
      }
    }
    default:
      return row satisfies never
  }
}

/** A rule with who and when at its beginning, and how it came out at its end; without room the day goes first, then the time. */
function headLine(row: TurnRow, columns: number): Line {
  const outcome = outcomeWords(row)
  const right: Line =
    outcome === '' ? [] : [spanOf(` ${outcome}`, { tone: outcomeTone(row) }), { text: ' ─', tone: 'dim' }]
  const room = columns - lineWidth(right)
  const shorter = [beginningWords(row), beginningWords({ ...row, isNewDay: false }), row.by ?? '']
  const who = spanOf(shorter.find(words => widthOf(words) + 1 < room) ?? '', { tone: 'dim' })
  const rule = Math.max(0, room - widthOf(who.text) - 1)
  return clipLine([who, { text: ` ${'─'.repeat(rule)}`, tone: 'dim' }, ...right], columns)
}

function outcomeTone({ status }: TurnRow): Tone {
  if (status === 'failed') return 'bad'
  if (status === 'cancelled' || status === 'waiting_for_user') return 'warn'
  return status === 'running' ? 'good' : 'dim'
}

function userLayout({ entry, by }: UserRow, { columns, level }: LayoutFrame): RowLayout {
  const { content, isSteering } = entry
  const how = [...(isSteering === true ? ['steering'] : []), ...(by === null ? [] : [`from ${by}`])].join(' ')
  const text = folded(wrapped(content.displayText ?? content.text, columns), level)
  return {
    mark: { text: isSteering === true ? '» ' : '› ', tone: 'user' },
    lines: [
      ...quoteLines(content, columns, level),
      ...text.lines,
      ...(content.attachments ?? []).flatMap(each =>
        wrapped(`[${attachmentWords(each)}]`, columns, { tone: 'accent' }),
      ),
      ...(how === '' ? [] : wrapped(how, columns, { tone: 'dim' })),
    ],
    levels: Math.max(text.levels, (content.quotes ?? []).length > 0 ? 2 : 1),
  }
}

/** Quotes show their first line until they are unfolded. */
function quoteLines({ quotes = [] }: Content, columns: number, level: FoldLevel): Line[] {
  const bar: Line = [{ text: '│ ', tone: 'quote' }]
  return quotes.flatMap(({ text, label }) => {
    const said = `${label === undefined ? '' : `${label}: `}${text}`
    const lines =
      level === 0
        ? [clipLine([spanOf(said, { tone: 'quote' })], columns - 2)]
        : wrapped(said, columns - 2, { tone: 'quote' })
    return indented(lines, bar, bar)
  })
}

/** A thought is one line until it is unfolded: its beginning, or its newest line while it goes on. */
function thoughtLayout({ pieces, isStreaming }: TextRow, { columns, level }: LayoutFrame): RowLayout {
  const mark = { text: '~ ', tone: 'thinking' } as const
  const text = cleanPieces(pieces).trim()
  if (level > 0) return { mark, lines: atLeastOne(wrapped(text, columns, { tone: 'thinking' })), levels: 2 }
  const line = isStreaming ? text.slice(text.lastIndexOf('\n') + 1) : (text.split('\n', 1)[0] ?? '')
  const shown: Line = [
    { text: isStreaming ? 'thinking · ' : 'thought · ', tone: 'dim' },
    spanOf(line, { tone: 'thinking' }),
  ]
  return { mark, lines: [clipLine(shown, columns)], levels: 2 }
}

function wrapped(text: string, columns: number, style: Style = {}): Line[] {
  return linesOf(text.trimEnd(), style).flatMap(line => wrapLine(line, columns))
}

function atLeastOne(lines: readonly Line[]): readonly Line[] {
  return lines.length === 0 ? [[]] : lines
}
