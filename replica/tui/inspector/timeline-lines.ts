import { secondWords } from '../../view/time-words.ts'
import type { TimedRow } from '../../view/timeline/step-times.ts'
import { type TimelineGroup, timeWordsOf } from '../../view/timeline/timeline.ts'
import { shortId } from '../../view/timeline/wording.ts'
import { spanOf } from '../text/clean.ts'
import { type Line, lineOf } from '../text/line.ts'
import { clipText, spread, widthOf } from '../text/measure.ts'

/** What the timeline lists: the head of a turn, or a record. */
export type TimelineItem =
  | { readonly kind: 'head'; readonly group: TimelineGroup }
  | { readonly kind: 'row'; readonly row: TimedRow }

/** From so many columns on it is told who did it. */
const WIDE_FROM = 76
const WHO_COLUMNS = 26

/** Heads of turns and records in their order. */
export function timelineItems(groups: readonly TimelineGroup[]): readonly TimelineItem[] {
  return groups.flatMap((group): TimelineItem[] => [
    { kind: 'head', group },
    ...group.rows.map(row => ({ kind: 'row', row }) as const),
  ])
}

/** One line of the timeline; the marked one is told by a mark and not by colour alone. */
export function timelineLine(item: TimelineItem, columns: number, isMarked: boolean): Line {
  if (item.kind === 'head') return headLine(item.group)
  const { row } = item
  const isWide = columns >= WIDE_FROM
  const left: Line = [
    { text: isMarked ? ' › ' : '   ', tone: 'accent', bold: isMarked },
    { text: `${secondWords(row.at)} `, tone: 'dim' },
    ...(isWide
      ? ([
          { text: `#${String(row.revision).padEnd(6)}`, tone: 'dim' },
          spanOf(padded(`${row.who} ${row.client}`, WHO_COLUMNS), { tone: whoTone(row) }),
        ] as const)
      : []),
    spanOf(row.words, { bold: isMarked }),
  ]
  const times = timeWordsOf(row)
  const right: Line = times === '' ? [] : [{ text: `${times} `, tone: row.steps.length > 0 ? 'accent' : 'dim' }]
  return spread(left, right, columns)
}

function headLine({ turnId, rows }: TimelineGroup): Line {
  if (turnId === null) return lineOf(' Outside of any turn', { tone: 'heading' })
  const took = rows.flatMap(({ steps }) => steps).find(({ step }) => step === 'turn')
  const words =
    took === undefined ? '' : ` · ${timeWordsOf({ steps: [took], sinceMs: null }).replace('turn took', 'took')}`
  return [spanOf(` Turn ${shortId(turnId)}`, { tone: 'heading' }), { text: words, tone: 'dim' }]
}

function whoTone({ who }: TimedRow): 'good' | 'dim' | 'user' {
  if (who === 'the run') return 'good'
  return who === 'the leader' ? 'dim' : 'user'
}

function padded(text: string, width: number): string {
  const clipped = clipText(text, width - 1)
  return `${clipped}${' '.repeat(Math.max(0, width - widthOf(clipped)))}`
}
