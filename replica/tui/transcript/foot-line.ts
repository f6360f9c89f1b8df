import { terminalLine } from '../../view/terminal-text.ts'
import { timeWords } from '../../view/time-words.ts'
import type { TranscriptRow } from '../../view/transcript/row.ts'
import type { Line } from '../text/line.ts'
import { spread } from '../text/measure.ts'

/** What the last line of a transcript tells while there is something to tell. */
export interface Foot {
  /** The newest line is not followed. */
  readonly isAway: boolean
  readonly news: number
  readonly isFocused: boolean
  readonly isLoadingEarlier: boolean
  /** What is searched for, null while nothing is; `isFound` is false once there is no further one in that direction. */
  readonly search: { readonly text: string; readonly isFound: boolean } | null
  /** What open and copy are about. */
  readonly target: TranscriptRow | undefined
  readonly keys: FootKeys
}

/** Keys in short, '' for an action that has none. `newest` leads to the newest line, `older` and `newer` from find to find. */
export interface FootKeys {
  readonly newest: string
  readonly older: string
  readonly newer: string
}

/** True while there is something to tell. */
export function hasFoot({
  isAway,
  search,
  isLoadingEarlier,
}: Pick<Foot, 'isAway' | 'search' | 'isLoadingEarlier'>): boolean {
  return isAway || search !== null || isLoadingEarlier
}

/** The way back to the newest line, what is new there, what is searched for, and when the marked row was. Source: experience 6.5. */
export function footLine(foot: Foot, columns: number): Line {
  return spread([{ text: ' ' }, ...leftOf(foot)], [...rightOf(foot), { text: ' ' }], columns)
}

function leftOf({ search, isLoadingEarlier, isFocused, target }: Foot): Line {
  if (search !== null) {
    const end: Line = search.isFound ? [{ text: ' ', inverse: true }] : [{ text: '  no more', tone: 'warn' }]
    return [{ text: '/ ', tone: 'accent' }, { text: terminalLine(search.text) }, ...end]
  }
  if (isLoadingEarlier) return [{ text: 'loading older …', tone: 'dim' }]
  return isFocused && target !== undefined ? [{ text: timeWords(target.at), tone: 'dim' }] : []
}

function rightOf({ isAway, news, search, keys }: Foot): Line {
  if (search !== null) return [{ text: `${keys.older} older · ${keys.newer} newer`, tone: 'dim' }]
  if (!isAway) return []
  const what: Line =
    news > 0 ? [{ text: `↓ ${news} new`, tone: 'accent', bold: true }] : [{ text: '↓ more below', tone: 'dim' }]
  return keys.newest === '' ? what : [...what, { text: ` · ${keys.newest} newest`, tone: 'dim' }]
}
