import type { Token, Tokens } from 'marked'
import { LIMITS } from '../../../../schema/limits.ts'
import { linesOf, spanOf } from '../clean.ts'
import type { Line, Span } from '../line.ts'
import { widthOf } from '../measure.ts'
import { cutLine, indented, wrapLine } from '../wrap.ts'
import { inlineLines } from './inline.ts'
import type { MarkdownBlock } from './lex.ts'
import { tableLines } from './table.ts'

/** Containers give way before text gets narrower than this. */
const LEAST_COLUMNS = 8
const BULLETS = ['•', '◦', '▪'] as const

/** A block as rows of at most `columns` columns. */
export function blockLines({ token }: MarkdownBlock, columns: number): Line[] {
  return tokenLines(token, columns, 0)
}

function tokenLines(token: Token, columns: number, depth: number): Line[] {
  if (depth > LIMITS.markdownDepth) return asWritten(token.raw, columns)
  switch (token.type) {
    case 'heading':
      return wrapAll(inlineLines((token as Tokens.Heading).text, { tone: 'heading', bold: true }), columns)
    case 'paragraph':
    case 'text':
      return wrapAll(inlineLines((token as Tokens.Paragraph).text), columns)
    case 'code':
      return codeLines(token as Tokens.Code, columns)
    case 'list':
      return listLines(token as Tokens.List, columns, depth)
    case 'blockquote':
      return quoteLines(token as Tokens.Blockquote, columns, depth)
    case 'table':
      return tableLines(token as Tokens.Table, columns)
    case 'hr':
      return [[{ text: '─'.repeat(Math.max(1, columns)), tone: 'dim' }]]
    default:
      return asWritten(token.raw, columns)
  }
}

function asWritten(raw: string, columns: number): Line[] {
  return wrapAll(linesOf(raw.replace(/^\n+|\s+$/g, '')), columns)
}

function wrapAll(lines: readonly Line[], columns: number): Line[] {
  return lines.flatMap(line => wrapLine(line, columns))
}

/** Code stands in by two columns, under the name of its language; a long line goes on in the next row. */
function codeLines({ lang, text }: Tokens.Code, columns: number): Line[] {
  const name = (lang ?? '').split(/\s/)[0] ?? ''
  const code = linesOf(text, { tone: 'code' }).flatMap(line => cutLine(line, Math.max(LEAST_COLUMNS, columns - 2)))
  const indent: Line = [{ text: '  ' }]
  return [
    ...(name === '' ? [] : wrapLine([{ text: '  ' }, spanOf(name, { tone: 'dim' })], columns)),
    ...indented(code, indent, indent),
  ]
}

function quoteLines({ tokens }: Tokens.Blockquote, columns: number, depth: number): Line[] {
  const bar: Span = { text: '│ ', tone: 'quote' }
  const inner = stacked(tokens, { columns: Math.max(LEAST_COLUMNS, columns - 2), depth: depth + 1, isTight: false })
  return inner.map(line => [
    bar,
    ...line.map(span => (span.tone === undefined ? { ...span, tone: 'quote' as const } : span)),
  ])
}

function listLines(list: Tokens.List, columns: number, depth: number): Line[] {
  const first = typeof list.start === 'number' ? list.start : 1
  const marks = list.items.map((_, index) =>
    list.ordered ? `${first + index}. ` : `${BULLETS[Math.min(depth, BULLETS.length - 1)]} `,
  )
  const width = marks.reduce((most, mark) => Math.max(most, widthOf(mark)), 0)
  return list.items.flatMap((item, index) => {
    const mark = (marks[index] as string).padStart(width)
    const columnsLeft = Math.max(LEAST_COLUMNS, columns - width)
    const inner = stacked(item.tokens, { columns: columnsLeft, depth: depth + 1, isTight: !item.loose })
    const rows = indented(
      inner.length === 0 ? [[]] : inner,
      [{ text: mark, tone: 'dim' }],
      [{ text: ' '.repeat(width) }],
    )
    return index > 0 && list.loose ? [[], ...rows] : rows
  })
}

/** Blocks under each other; between them an empty row, unless they are the parts of a tight item. */
function stacked(
  tokens: readonly Token[],
  { columns, depth, isTight }: { readonly columns: number; readonly depth: number; readonly isTight: boolean },
): Line[] {
  const lines: Line[] = []
  let checkbox: Line = []
  for (const token of tokens) {
    if (token.type === 'space') continue
    if (token.type === 'checkbox') {
      checkbox = [{ text: (token as Tokens.Checkbox).checked ? '[x] ' : '[ ] ' }]
      continue
    }
    if (lines.length > 0 && !isTight) lines.push([])
    const inner = tokenLines(token, Math.max(1, columns - (checkbox.length === 0 ? 0 : 4)), depth)
    lines.push(...(checkbox.length === 0 ? inner : indented(inner, checkbox, [{ text: '    ' }])))
    checkbox = []
  }
  return checkbox.length === 0 ? lines : [...lines, checkbox]
}
