/** What a figure counts; it decides how the figure is printed and whether more is better. */
export type Unit = 'per_second' | 'ms' | 'bytes' | 'count' | 'factor'

/** One measurement. `against` names another figure of the same run, with which it is compared; absent: it stands for itself. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly unit: Unit
  readonly against?: string
}

/** The figures of one run, in order, with their ratios. */
export class Report {
  readonly #figures: Figure[] = []
  readonly #onFigure: (line: string) => void

  constructor(onFigure: (line: string) => void) {
    this.#onFigure = onFigure
  }

  add(figure: Figure): void {
    if (!Number.isFinite(figure.value)) throw new RangeError(`${figure.what} is ${figure.value}`)
    this.#figures.push(figure)
    this.#onFigure(`${figure.what}: ${format(figure.value, figure.unit)}`)
  }

  /** The value of a figure that was added before. */
  value(what: string): number {
    const figure = this.#figures.find(candidate => candidate.what === what)
    if (figure === undefined) throw new Error(`nothing was measured as "${what}"`)
    return figure.value
  }

  /** The table, as Markdown: figure, what it is compared with, and the ratio of the two. */
  table(): string {
    const rows = this.#figures.map(({ what, value, unit, against }) => {
      const floor = against === undefined ? undefined : this.#figures.find(candidate => candidate.what === against)
      const ratio = floor === undefined ? '' : `${(value / floor.value).toPrecision(3)} ×`
      return [what, format(value, unit), ratio, floor === undefined ? (against ?? '') : against]
    })
    const table = [['what', 'figure', 'ratio', 'to'], ...rows] as string[][]
    const widths = [0, 1, 2, 3].map(column => Math.max(...table.map(row => (row[column] ?? '').length)))
    const line = (row: readonly string[]): string =>
      `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
    const [head = [], ...body] = table
    return [line(head), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n')
  }
}

/** A value with its unit, in at most four digits where that is enough. */
export function format(value: number, unit: Unit): string {
  if (unit === 'per_second') return `${Math.round(value).toLocaleString('en')}/s`
  if (unit === 'ms') return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ms`
  if (unit === 'count') return Math.round(value).toLocaleString('en')
  if (unit === 'factor') return value.toFixed(2)
  if (value < 1024) return `${Math.round(value)} B`
  return value < 1024 * 1024 ? `${(value / 1024).toFixed(1)} KiB` : `${(value / 1024 / 1024).toFixed(1)} MiB`
}

/** The value below which `share` of the waits lie. */
export function percentile(waits: readonly number[], share: number): number {
  if (waits.length === 0) throw new RangeError('nothing was measured')
  const sorted = waits.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}
