import { defaults, Lexer, type Token } from 'marked'
import { LIMITS } from '../../../../schema/limits.ts'
import { StreamTokenizer } from './stream-tokenizer.ts'

/** A part of a message that stands for itself: a paragraph, a list, a table. */
export interface MarkdownBlock {
  readonly raw: string
  readonly token: Token
}

/** A text in blocks. What follows cannot change the first `stableBlocks`, which end at `stableChars`. */
export interface LexedMarkdown {
  readonly text: string
  readonly blocks: readonly MarkdownBlock[]
  readonly stableBlocks: number
  readonly stableChars: number
}

/** Blocks at the end that text may still change: a line that is not whole yet can turn the last one into a part of the one before. */
const OPEN_BLOCKS = 2

/**
 * The blocks of a text. With what was known of a beginning of it, only what can have changed is read again: the cost of a piece that is
 * added is that of the last blocks.
 */
export function lexMarkdown(text: string, before?: LexedMarkdown): LexedMarkdown {
  const isMore = before !== undefined && text.startsWith(before.text.slice(0, before.stableChars))
  const kept = isMore ? before.blocks.slice(0, before.stableBlocks) : []
  const from = isMore ? before.stableChars : 0
  const rest = lexWhole(text.slice(from))
  const stable = stableOf(rest, text.length - from)
  return {
    text,
    blocks: [...kept, ...rest],
    stableBlocks: kept.length + stable.blocks,
    stableChars: from + stable.chars,
  }
}

function lexWhole(text: string): MarkdownBlock[] {
  if (text.trim() === '') return []
  const blocks: MarkdownBlock[] = []
  for (const token of new Lexer({ ...defaults, tokenizer: new StreamTokenizer() }).blockTokens(text, [])) {
    if (token.type !== 'space') blocks.push({ raw: token.raw, token })
    else if (blocks.length > 0) {
      const last = blocks[blocks.length - 1] as MarkdownBlock
      blocks[blocks.length - 1] = { ...last, raw: last.raw + token.raw }
    }
  }
  return blocks
}

/** How much of the blocks no text behind them can change. None where the blocks are not the text, piece by piece. */
function stableOf(
  blocks: readonly MarkdownBlock[],
  chars: number,
): { readonly blocks: number; readonly chars: number } {
  const count = blocks.length - OPEN_BLOCKS
  if (count <= 0) return { blocks: 0, chars: 0 }
  let open = 0
  let all = 0
  for (const [index, { raw }] of blocks.entries()) {
    all += raw.length
    if (index >= count) open += raw.length
  }
  return all === chars ? { blocks: count, chars: chars - open } : { blocks: 0, chars: 0 }
}

/** The inline tokens of a text; null where there is no mark in it, or too many to be meant and read in time. */
export function lexInline(text: string): readonly Token[] | null {
  if (!/[*_~`[\]<\\&!@:]|www\./.test(text) || text.length > LIMITS.markdownInlineChars) return null
  let marks = 0
  for (const _ of text.matchAll(/[*_~`[\]<]+/g)) marks += 1
  return marks > LIMITS.markdownInlineMarks ? null : new Lexer({ ...defaults }).inlineTokens(text)
}
