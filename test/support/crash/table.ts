import type { CrashPoint } from '../../../leader/session/crash-points.ts'

/** One round: where the leader dies (null: at a random moment), and after how many passes at most. */
export interface Round {
  readonly point: CrashPoint | null
  readonly deepest: number
}

/** What a round brought. */
export interface RoundCounts {
  readonly isReached: boolean
  readonly acknowledged: number
  readonly recovered: number
}

interface Row {
  rounds: number
  reached: number
  acknowledged: number
  recovered: number
}

/** Point × rounds, reached, commands acknowledged, sessions recovered. */
export class CountsTable {
  readonly #rows = new Map<string, Row>()

  count({ point }: Round, counts: RoundCounts): void {
    const name = point ?? 'random moment'
    const row = this.#rows.get(name) ?? { rounds: 0, reached: 0, acknowledged: 0, recovered: 0 }
    row.rounds += 1
    row.reached += counts.isReached || point === null ? 1 : 0
    row.acknowledged += counts.acknowledged
    row.recovered += counts.recovered
    this.#rows.set(name, row)
  }

  /** Points at which the leader was to die and never did. */
  get missed(): readonly string[] {
    return [...this.#rows].filter(([, row]) => row.reached === 0).map(([name]) => name)
  }

  get rounds(): number {
    return [...this.#rows.values()].reduce((sum, row) => sum + row.rounds, 0)
  }

  toString(): string {
    const names = ['point', 'rounds', 'reached', 'acknowledged', 'sessions recovered']
    const lines = [...this.#rows].map(([name, row]) =>
      [name, row.rounds, row.reached, row.acknowledged, row.recovered].map(String),
    )
    const widths = names.map((name, i) => Math.max(name.length, ...lines.map(line => (line[i] as string).length)))
    const format = (cells: readonly string[]): string =>
      cells
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number)))
        .join('  ')
    return [names, ...lines].map(format).join('\n')
  }
}
