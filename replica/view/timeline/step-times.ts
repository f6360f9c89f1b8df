import { LIMITS } from '../../../schema/limits.ts'
import type { TimelineRow } from './row.ts'
import { STEPS, type StepMark, type StepName } from './step-marks.ts'

/** How long a step took that ends in a record. Unit: ms. */
export interface StepTime {
  readonly step: StepName
  readonly ms: number
}

/** A row with its times: since the record before it, and of the steps that end in it. */
export interface TimedRow extends TimelineRow {
  /** Null where the record before is not known here. Unit: ms. */
  readonly sinceMs: number | null
  readonly steps: readonly StepTime[]
}

/** The durations of one step. Unit: ms. `count` and `maxMs` are of all of them, the others of the newest ones. */
export interface StepSummary {
  readonly step: StepName
  readonly count: number
  readonly medianMs: number
  readonly p95Ms: number
  readonly maxMs: number
}

/** Measures rows in order of their revisions, in bounded memory: steps that began longest ago are forgotten first. */
export class StepTimes {
  readonly #open = new Map<string, number>()
  readonly #values = new Map<StepName, number[]>()
  readonly #totals = new Map<StepName, { count: number; maxMs: number }>()
  #lastAt: number | null = null

  /** The next row, with its times. */
  add(row: TimelineRow): TimedRow {
    const sinceMs = this.#lastAt === null || row.isFirst ? null : Math.max(0, row.at - this.#lastAt)
    this.#lastAt = row.at
    return { ...row, sinceMs, steps: row.marks.flatMap(mark => this.#take(mark)) }
  }

  /** The newest durations of a step, in order. Unit: ms. */
  values(step: StepName): readonly number[] {
    return this.#values.get(step) ?? []
  }

  /** Each step of which there were any. */
  summary(): readonly StepSummary[] {
    return STEPS.flatMap(step => {
      const total = this.#totals.get(step)
      if (total === undefined) return []
      const sorted = [...this.values(step)].sort((a, b) => a - b)
      return [{ step, count: total.count, medianMs: rank(sorted, 0.5), p95Ms: rank(sorted, 0.95), maxMs: total.maxMs }]
    })
  }

  #take({ step, key, does, at }: StepMark): readonly StepTime[] {
    const name = `${step} ${key}`
    const from = this.#open.get(name)
    this.#open.delete(name)
    if (does === 'begin') {
      this.#open.set(name, at)
      if (this.#open.size > LIMITS.timelineOpenSteps) this.#open.delete(this.#open.keys().next().value as string)
    }
    if (does !== 'end' || from === undefined) return []
    const ms = Math.max(0, at - from)
    this.#count(step, ms)
    return [{ step, ms }]
  }

  #count(step: StepName, ms: number): void {
    const { count, maxMs } = this.#totals.get(step) ?? { count: 0, maxMs: 0 }
    this.#totals.set(step, { count: count + 1, maxMs: Math.max(maxMs, ms) })
    const values = this.#values.get(step) ?? []
    values.push(ms)
    if (values.length > LIMITS.timelineDurations * 2) values.splice(0, values.length - LIMITS.timelineDurations)
    this.#values.set(step, values)
  }
}

/** The smallest value that at least this share of the others does not exceed. */
function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}
