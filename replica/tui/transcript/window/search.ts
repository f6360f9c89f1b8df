import type { TranscriptRow } from '../../../view/transcript/row.ts'
import { wholeText } from '../../../view/transcript/row-text.ts'
import { hasText } from '../highlight.ts'
import type { RowLayout } from '../rows/layout.ts'
import { indexOf, keyOf, type RowKey, type RowSource } from './row-source.ts'

/** Where a text was found: the line of a row's layout. `isFolded`: it is in what the row does not show yet. */
export interface Found {
  readonly key: RowKey
  readonly line: number
  readonly isFolded: boolean
}

/** A search for a text in lower case, from the row at `index` on; of that row only what is beyond `line`, all of it if that is null. */
export interface Search {
  readonly query: string
  readonly direction: -1 | 1
  readonly index: number
  readonly line: number | null
}

/** The next find above or below; null if there is none. */
export function findNext(source: RowSource, { query, direction, index: first, line: after }: Search): Found | null {
  if (query === '') return null
  for (let index = first; index >= 0 && index < source.rows.length; index += direction) {
    const row = source.rows[index] as TranscriptRow
    if (!wholeText(row).toLowerCase().includes(query)) continue
    const layout = source.layoutAt(index)
    const lines = linesWith(layout, query)
    const isPartly = index === first && after !== null
    const left = isPartly ? lines.filter(line => (line - after) * direction > 0) : lines
    const line = direction < 0 ? left.at(-1) : left[0]
    if (line !== undefined) return { key: keyOf(row), line, isFolded: false }
    if (!isPartly) return { key: keyOf(row), line: 0, isFolded: layout.levels > 1 }
  }
  return null
}

/** The line of a row that has the text, the last one when searching upwards; 0 where the text is broken over lines. */
export function lineWith(
  source: RowSource,
  key: RowKey,
  { query, direction }: Pick<Search, 'query' | 'direction'>,
): number {
  const lines = linesWith(source.layoutAt(indexOf(source.rows, key)), query)
  return (direction < 0 ? lines.at(-1) : lines[0]) ?? 0
}

function linesWith(layout: RowLayout, query: string): number[] {
  return layout.lines.flatMap((line, index) => (hasText(line, query) ? [index] : []))
}
