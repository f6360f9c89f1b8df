import { settledWords } from '../../view/pending/card-words.ts'
import type { SettledCard } from '../../view/pending/deck.ts'
import type { Line } from '../text/line.ts'
import { clipLine } from '../text/measure.ts'
import { wrapLine } from '../text/wrap.ts'
import { BORDER_COLUMNS, boxLines } from './card-box.ts'

/** What was settled by others takes so many lines at most where nothing else waits. */
const LINES = 3

/** Cards that others settled: a line each above a card that is shown, or a card of their own. Source: I4, experience 6.3. */
export function settledLines(
  settled: readonly SettledCard[],
  { columns, now, isAlone }: { readonly columns: number; readonly now: number; readonly isAlone: boolean },
): readonly Line[] {
  if (settled.length === 0) return []
  const said = settled.map((each): Line => [{ text: settledWords(each, now), tone: 'good' }])
  if (!isAlone) return said.map(line => clipLine([{ text: ' ' }, ...line], columns))
  const lines = said.flatMap(line => {
    const wrapped = wrapLine(line, columns - BORDER_COLUMNS)
    return wrapped.length <= LINES ? wrapped : [...wrapped.slice(0, LINES - 1), [{ text: '…', tone: 'dim' as const }]]
  })
  return boxLines({ title: ['nothing waits any more'], foot: [], lines, columns, hasKeys: false })
}
