import { LIMITS } from '../../../schema/limits.ts'
import { expanded, type FoldedText, foldedText } from './folded-text.ts'

/**
 * Where somebody is in what was sent before. `at`: an index in the entries (oldest first), or their count at the draft itself. `kept`: what was
 * written at the places that were left, so that nothing is lost by looking around.
 */
export interface HistoryWalk {
  readonly entries: readonly string[]
  readonly at: number
  readonly kept: Readonly<Record<number, FoldedText>>
}

/** At the draft, nothing looked at. */
export const NO_WALK: HistoryWalk = { entries: [], at: 0, kept: {} }

/** A step, and the text at the place it leads to; null where there is none. `entries` counts where a walk has not begun. */
export function walked(
  walk: HistoryWalk,
  step: -1 | 1,
  { entries, text }: { readonly entries: readonly string[]; readonly text: FoldedText },
): { readonly walk: HistoryWalk; readonly text: FoldedText } | null {
  const current = walk.entries.length > 0 ? walk : { entries, at: entries.length, kept: {} }
  const at = current.at + step
  if (at < 0 || at > current.entries.length) return null
  const { [current.at]: _, ...others } = current.kept
  const isChanged = current.entries[current.at] !== expanded(text)
  const kept = isChanged ? { ...others, [current.at]: text } : others
  return { walk: { ...current, at, kept }, text: kept[at] ?? foldedText(current.entries[at] ?? '', 'large') }
}

/** True while another place than the draft's own is shown. */
export function isWalking({ entries, at }: HistoryWalk): boolean {
  return at < entries.length
}

/** What was written here and is not what is shown: the draft, and entries that were changed. */
export function keptTexts({ kept, at }: HistoryWalk): readonly FoldedText[] {
  return Object.entries(kept).flatMap(([place, text]) => (Number(place) === at || text.text === '' ? [] : [text]))
}

/** A search in what was sent, the newest first. `found`: an index in `entries` (oldest first); null: nothing has the query. */
export interface HistorySearch {
  readonly entries: readonly string[]
  readonly query: string
  readonly found: number | null
}

/** A search that has not begun. */
export function searchIn(entries: readonly string[]): HistorySearch {
  return { entries, query: '', found: null }
}

/** The search with another query: what is found stays where it still fits. */
export function searched(search: HistorySearch, query: string): HistorySearch {
  const bounded = [...query].slice(0, LIMITS.composerQueryChars).join('')
  const from = search.found ?? search.entries.length - 1
  const isLonger = bounded.startsWith(search.query)
  return {
    ...search,
    query: bounded,
    found: foundFrom(search.entries, bounded, isLonger ? from : search.entries.length - 1),
  }
}

/** The next older entry that has the query; the same search where there is none. */
export function searchedOlder(search: HistorySearch): HistorySearch {
  const found = foundFrom(search.entries, search.query, (search.found ?? search.entries.length) - 1)
  return found === null ? search : { ...search, found }
}

function foundFrom(entries: readonly string[], query: string, from: number): number | null {
  if (query === '') return null
  const wanted = query.toLowerCase()
  for (let i = from; i >= 0; i--) if (entries[i]?.toLowerCase().includes(wanted)) return i
  return null
}
