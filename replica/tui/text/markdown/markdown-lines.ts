import type { Line } from '../line.ts'
import { blockLines } from './blocks.ts'
import type { LexedMarkdown, MarkdownBlock } from './lex.ts'

/** Always the same one, so that rows that did not change can be told from those that did. */
const EMPTY: Line = []

/** Rows of blocks that stay the same while a message goes on. */
const laidOut = new WeakMap<MarkdownBlock, { readonly columns: number; readonly lines: readonly Line[] }>()

/** A message as rows of at most `columns` columns, an empty one between its blocks. Source: experience 6.5. */
export function markdownLines({ blocks }: LexedMarkdown, columns: number): readonly Line[] {
  const lines: Line[] = []
  for (const block of blocks) {
    if (lines.length > 0) lines.push(EMPTY)
    for (const line of linesFor(block, columns)) lines.push(line)
  }
  return lines
}

function linesFor(block: MarkdownBlock, columns: number): readonly Line[] {
  const known = laidOut.get(block)
  if (known?.columns === columns) return known.lines
  const lines = blockLines(block, columns)
  laidOut.set(block, { columns, lines })
  return lines
}
