import type { Damage } from './damage.ts'
import type { Ending, RootTemplate } from './template.ts'

/** One line of the matrix: a root, left in some way, and what is done to it. */
export interface FaultRow {
  /** What is damaged and how, in the words of the page. */
  readonly title: string
  readonly ending: Ending
  /** Each is tried on a root of its own; the row tells of all of them. */
  readonly damages: readonly ((template: RootTemplate) => Damage)[]
  /** True where it depends on chance what exactly is hit: the outcome is told as what holds in every case. */
  readonly varies?: boolean
  /** The damage is done while a leader serves the root. */
  readonly isServed?: boolean
}

/** A line whose story is told by its own code. */
export interface CustomRow {
  readonly name: string
  readonly play: (template: RootTemplate) => Promise<RowOutcome>
}

/** Rows that belong together on the page. */
export interface RowGroup {
  readonly title: string
  readonly text: string
  readonly rows: readonly (FaultRow | CustomRow)[]
}

/** What a row brought, in the words of the page, and the invariants it broke. */
export interface RowOutcome {
  readonly title: string
  /** How each session was found. */
  readonly sessions: string
  readonly leader: string
  readonly verify: string
  readonly doctor: string
  readonly remedy: string
  readonly violations: readonly string[]
}

const ENDED: Readonly<Record<Ending, string>> = {
  stopped: 'a clean stop',
  killed: 'a kill',
  struck: 'a kill that came before the anchor',
}

/** The name of a row, unique on the page. */
export function nameOf(row: FaultRow | CustomRow): string {
  if ('name' in row) return row.name
  const { title, ending } = row
  return `${title}, after ${ENDED[ending]}`
}

/** What several tries of one row brought, as one: what differs is told one after the other. */
export function joinOutcomes(outcomes: readonly RowOutcome[]): RowOutcome {
  const [first] = outcomes
  if (first === undefined) throw new Error('a row has no damage')
  const all = (of: (outcome: RowOutcome) => string): string => [...new Set(outcomes.map(of))].sort().join(' · or: ')
  return {
    title: first.title,
    sessions: all(outcome => outcome.sessions),
    leader: all(outcome => outcome.leader),
    verify: all(outcome => outcome.verify),
    doctor: all(outcome => outcome.doctor),
    remedy: all(outcome => outcome.remedy),
    violations: [...new Set(outcomes.flatMap(outcome => outcome.violations))].sort(),
  }
}
