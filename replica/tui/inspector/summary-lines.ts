import type { PresenceRow, SessionProjection } from '../../../schema/entities/projection.ts'
import type { LedgerView } from '../../react/ledger/ledger-feed.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { spanWords } from '../../view/time-words.ts'
import { sparkline } from '../../view/timeline/sparkline.ts'
import { recordsPerMinute } from '../../view/timeline/timeline.ts'
import { surfaceWords } from '../../view/words.ts'
import { type Line, lineOf, type Span } from '../text/line.ts'

/** Names of plots are padded to so many columns. */
const NAME_COLUMNS = 11
/** Numbers behind the bars take about so many columns. */
const NUMBERS_COLUMNS = 46
const FEWEST_BARS = 8
const MOST_BARS = 60

/** What is known of the document, and who is attached. Source: experience 9.1. */
export function factsLines(projection: SessionProjection | null): readonly Line[] {
  if (projection === null) return [lineOf(' Nothing is known of this session yet.', { tone: 'dim' }), []]
  const { revision, transcript, presence, presenceCount, generation } = projection
  const facts = [
    ['revision', String(revision)],
    ['entries', String(transcript.lastSeq)],
    ['document', terminalLine(generation).slice(0, 12)],
  ] as const
  const first = facts.flatMap(([name, value], at): Span[] => [
    { text: `${at === 0 ? ' ' : ' · '}${name} `, tone: 'dim' },
    { text: value },
  ])
  return [first, [{ text: ' replicas ', tone: 'dim' }, { text: attachedWords(presence, presenceCount) }]]
}

/** Who is attached: `3: a terminal ×2, the command line`. */
export function attachedWords(presence: readonly PresenceRow[], count: number): string {
  const kinds = new Map<string, number>()
  for (const { surface } of presence) {
    const words = terminalLine(surfaceWords(surface))
    kinds.set(words, (kinds.get(words) ?? 0) + 1)
  }
  const told = [...kinds].map(([words, many]) => (many === 1 ? words : `${words} ×${many}`))
  return told.length === 0 ? String(count) : `${count}: ${told.join(', ')}`
}

/** How long turns and answers took, and how much happened: bars, and what they are in numbers. Source: experience 9.1. */
export function plotLines({ rows, values, durations }: LedgerView, columns: number): readonly Line[] {
  const width = Math.min(MOST_BARS, Math.max(FEWEST_BARS, columns - NAME_COLUMNS - NUMBERS_COLUMNS))
  const percentile = (step: 'turn' | 'answer'): string => {
    const summary = durations.find(each => each.step === step)
    return summary === undefined ? '' : ` · p95 ${spanWords(summary.p95Ms)} of ${summary.count}`
  }
  return [
    plotLine('turns', values.turn, { width, format: spanWords, more: percentile('turn') }),
    plotLine('answers', values.answer, { width, format: spanWords, more: percentile('answer') }),
    plotLine('per minute', recordsPerMinute(rows), { width, format: String, more: '' }),
  ]
}

function plotLine(
  name: string,
  values: readonly number[],
  {
    width,
    format,
    more,
  }: { readonly width: number; readonly format: (value: number) => string; readonly more: string },
): Line {
  const plot = sparkline(values, width)
  const head: Span = { text: ` ${name.padEnd(NAME_COLUMNS)}`, tone: 'dim' }
  if (plot === null) return [head, { text: 'none yet', tone: 'dim' }]
  const numbers = `  ${format(plot.min)}–${format(plot.max)}, last ${format(plot.last)}${more}`
  return [head, { text: plot.bars, tone: 'accent' }, { text: numbers }]
}
