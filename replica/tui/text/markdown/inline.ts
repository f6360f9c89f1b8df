import type { Token, Tokens } from 'marked'
import { LIMITS } from '../../../../schema/limits.ts'
import { linesOf, type Style } from '../clean.ts'
import type { Line, Span } from '../line.ts'
import { lexInline } from './lex.ts'
import { targetOf } from './link.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
}

/** Text with marks as rows that are not wrapped yet: one, and one more for each break in it. */
export function inlineLines(text: string, style: Style = {}): Line[] {
  const tokens = lexInline(text)
  if (tokens === null) return linesOf(text, style)
  const lines: Span[][] = [[]]
  for (const { text: piece, ...own } of piecesOf(tokens, style, 0)) {
    for (const [index, line] of linesOf(piece, own).entries()) {
      if (index > 0) lines.push([])
      lines.at(-1)?.push(...line)
    }
  }
  return lines
}

/** Pieces of one style each, with newlines in them. */
function piecesOf(tokens: readonly Token[], style: Style, depth: number): Span[] {
  if (depth > LIMITS.markdownDepth) return tokens.map(({ raw }) => ({ ...style, text: raw }))
  return tokens.flatMap(token => pieceOf(token, style, depth + 1))
}

function pieceOf(token: Token, style: Style, depth: number): Span[] {
  const inner = (own: Style): Span[] => piecesOf(('tokens' in token ? token.tokens : undefined) ?? [], own, depth)
  const asWritten: Span[] = [{ ...style, text: token.raw }]
  switch (token.type) {
    case 'strong':
      return inner({ ...style, bold: true })
    case 'em':
      return inner({ ...style, italic: true })
    case 'del':
      // One tilde means "about".
      return token.raw.startsWith('~~') ? inner({ ...style, strike: true }) : asWritten
    case 'codespan':
      return [{ ...style, tone: 'code', text: onOneLine((token as Tokens.Codespan).text) }]
    case 'br':
      return [{ ...style, text: '\n' }]
    case 'link':
      return linkPieces(token as Tokens.Link, style, inner)
    case 'image':
      return imagePieces(token as Tokens.Image, style)
    case 'html':
      return /^<br\s*\/?>$/i.test(token.raw) ? [{ ...style, text: '\n' }] : asWritten
    case 'escape':
      return [{ ...style, text: (token as Tokens.Escape).text }]
    case 'text':
      return [{ ...style, text: decoded((token as Tokens.Text).text) }]
    default:
      return asWritten
  }
}

function linkPieces({ href, text }: Tokens.Link, style: Style, inner: (style: Style) => Span[]): Span[] {
  const target = targetOf(href, text)
  const shown = inner(target.href === null ? style : { ...style, tone: 'link', href: target.href })
  return target.told === '' ? shown : [...shown, told(target.told, style)]
}

function imagePieces({ href, text }: Tokens.Image, style: Style): Span[] {
  const target = targetOf(href, '')
  const name = `[${text === '' ? 'image' : `image: ${onOneLine(text)}`}]`
  const chip: Span = { ...style, tone: 'accent', text: name, ...(target.href === null ? {} : { href: target.href }) }
  return target.told === '' || target.told.startsWith('data:') ? [chip] : [chip, told(target.told, style)]
}

const told = (target: string, style: Style): Span => ({ ...style, tone: 'dim', text: ` (${onOneLine(target)})` })

const onOneLine = (text: string): string => text.replaceAll('\n', ' ')

function decoded(text: string): string {
  return text.includes('&') ? text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, found => ENTITIES[found] ?? found) : text
}
