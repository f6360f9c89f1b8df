import { type HelpGroup, type HelpRow, helpGroups, type OfferedAction } from '../../view/keymap/help.ts'
import type { EffectiveKeys } from '../../view/keymap/key-table.ts'
import type { Line } from '../text/line.ts'
import { widthOf } from '../text/measure.ts'
import { indented, wrapLine } from '../text/wrap.ts'

/** The keys take no more than this part of the width. */
const KEYS_PART = 0.45

/** Every key that does something now, by part of the screen, as rows of a width. */
export function helpLines(
  offered: readonly OfferedAction[],
  table: Pick<EffectiveKeys, 'keysOf'>,
  columns: number,
): readonly Line[] {
  const groups = helpGroups(offered, table)
  const widest = Math.max(0, ...groups.flatMap(({ rows }) => rows.map(row => widthOf(keysText(row)))))
  const width = Math.min(widest, Math.floor(columns * KEYS_PART))
  return groups.flatMap((group, at) => [...(at === 0 ? [] : [[]]), ...groupLines(group, columns, width)])
}

function groupLines({ title, rows }: HelpGroup, columns: number, width: number): Line[] {
  return [[{ text: ` ${title}`, tone: 'heading' }], ...rows.flatMap(row => rowLines(row, columns, width))]
}

/** Keys that need more than their column stand on a row of their own. */
function rowLines(row: HelpRow, columns: number, width: number): Line[] {
  const keys = keysText(row)
  const space = ' '.repeat(width + 4)
  const isLong = widthOf(keys) > width
  const label = wrapLine([{ text: row.label }], columns - width - 5)
  const padded = `  ${keys}${' '.repeat(Math.max(0, width - widthOf(keys)))}  `
  const first = isLong ? { text: space } : { text: padded, tone: 'accent' as const }
  const lines = indented(label, [first], [{ text: space }])
  return isLong ? [...wrapKeys(row, columns), ...lines] : lines
}

function wrapKeys(row: HelpRow, columns: number): Line[] {
  return indented(wrapLine([{ text: keysText(row), tone: 'accent' }], columns - 3), [{ text: '  ' }], [{ text: '  ' }])
}

function keysText({ keys }: HelpRow): string {
  return keys.join(', ')
}
