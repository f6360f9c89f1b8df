import type { FreshnessWords } from '../../view/freshness-words.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import type { Line } from '../text/line.ts'
import { spread } from '../text/measure.ts'

/** What the top row says. */
export interface HeaderParts {
  readonly title: string
  /** Open questions over all sessions. */
  readonly waiting: number
  /** Replicas that look at this session; 0: not said. */
  readonly replicas: number
  readonly freshness: FreshnessWords
}

/** The top row: what this is, what waits anywhere, how true the screen is. Source: experience 7.1. */
export function headerLine({ title, waiting, replicas, freshness }: HeaderParts, columns: number): Line {
  const left: Line = [{ text: ' headwater', bold: true }, { text: ' · ', tone: 'dim' }, { text: terminalLine(title) }]
  const right: Line = [
    ...(waiting > 0
      ? ([
          { text: `${waiting} waiting`, tone: 'warn' },
          { text: ' · ', tone: 'dim' },
        ] as const)
      : []),
    ...(replicas > 1 ? ([{ text: `${replicas} replicas · `, tone: 'dim' }] as const) : []),
    { text: `${freshness.symbol} ${terminalLine(freshness.words)} `, tone: freshness.tone },
  ]
  return spread(left, right, columns)
}
