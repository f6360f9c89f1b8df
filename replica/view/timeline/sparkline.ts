const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** Values as a row of bars from zero, one for each, with what they are in numbers. */
export interface Sparkline {
  readonly bars: string
  readonly min: number
  readonly max: number
  readonly last: number
}

/** The newest `width` values as bars; null where there are none. Values are not negative. Source: experience 9.1. */
export function sparkline(values: readonly number[], width: number): Sparkline | null {
  const shown = width < 1 ? [] : values.slice(-width).map(value => (Number.isFinite(value) ? Math.max(0, value) : 0))
  const last = shown.at(-1)
  if (last === undefined) return null
  const max = Math.max(...shown)
  const bars = shown.map(value => BARS[max === 0 ? 0 : Math.max(0, Math.ceil((value / max) * BARS.length) - 1)])
  return { bars: bars.join(''), min: Math.min(...shown), max, last }
}

/** What the bars stand for, in words and without them: `least 1 s, most 4 s, newest 2 s`. Source: experience 11. */
export function sparklineWords({ min, max, last }: Omit<Sparkline, 'bars'>, format: (value: number) => string): string {
  return `least ${format(min)}, most ${format(max)}, newest ${format(last)}`
}
