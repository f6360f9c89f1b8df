import type { OfferedAction } from '../../view/keymap/help.ts'
import { fittingHints, type Hint, type HintWords, hintsFor } from '../../view/keymap/hints.ts'
import type { EffectiveKeys } from '../../view/keymap/key-table.ts'
import type { Line } from '../text/line.ts'
import { widthOf } from '../text/measure.ts'

const GAP = ' · '

/** The row of hints: the keys that matter most now, as many as fit, help and palette to the last. Source: experience 7.1. */
export function hintLine(
  offered: readonly OfferedAction[],
  table: Pick<EffectiveKeys, 'keysOf'>,
  { columns, words }: { readonly columns: number; readonly words?: HintWords },
): Line {
  const shown = fittingHints(hintsFor(offered, table, words), {
    columns: columns - 1,
    gap: GAP.length,
    widthOf: hintWidth,
  })
  return shown.flatMap(({ key, words: what }, at) => [
    { text: at === 0 ? ' ' : GAP, tone: 'dim' as const },
    { text: key, tone: 'accent' as const },
    { text: ` ${what}`, tone: 'dim' as const },
  ])
}

function hintWidth({ key, words }: Hint): number {
  return widthOf(key) + 1 + widthOf(words)
}
