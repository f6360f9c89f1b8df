import type { CrashPoint } from '../../../leader/session/crash-points.ts'

/** How a round's leader ends: at a crash point, killed at a random moment, or stopped gracefully at one. */
export type Ending = CrashPoint | 'random moment' | 'graceful stop'

/** One round. `deepest`: how many passes of its crash point the leader lives at most. */
export interface Round {
  readonly ending: Ending
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

/** Ending × rounds, reached, commands acknowledged, sessions recovered. */
export class CountsTable {
  readonly #rows = new Map<string, Row>()

  count({ ending }: Round, counts: RoundCounts): void {
    const row = this.#rows.get(ending) ?? { rounds: 0, reached: 0, acknowledged: 0, recovered: 0 }
    row.rounds += 1
    row.reached += counts.isReached ? 1 : 0
    row.acknowledged += counts.acknowledged
    row.recovered += counts.recovered
    this.#rows.set(ending, row)
  }

  /** Endings that never came about. */
  get missed(): readonly string[] {
    return [...this.#rows].filter(([, row]) => row.reached === 0).map(([name]) => name)
  }

  get rounds(): number {
    return [...this.#rows.values()].reduce((sum, row) => sum + row.rounds, 0)
  }

  toString(): string {
    const names = ['ending', 'rounds', 'reached', 'acknowledged', 'sessions recovered']
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
