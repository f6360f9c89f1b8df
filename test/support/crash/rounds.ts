import type { CrashPoint } from '../../../leader/session/crash-points.ts'
import type { SeededRandom } from '../random.ts'
import type { Round } from './table.ts'

/** The points that exist so far, and how many passes a round lets the leader live at most. `mid_delete` comes with deletion. */
const DEEPEST: Readonly<Partial<Record<CrashPoint, number>>> = {
  after_admission: 6,
  after_run_started: 6,
  mid_stream: 20,
  before_terminal: 5,
  after_terminal: 5,
  before_batch: 60,
  after_batch_before_publish: 60,
  mid_compaction: 2,
  mid_seal: 2,
  mid_recovery: 1,
}

/** How many points there are. */
export const POINTS = Object.keys(DEEPEST).length

/** How often each crash point comes, and how many leaders are killed and stopped at random moments. */
export interface Plan {
  readonly perPoint: number
  readonly killed: number
  readonly stopped: number
}

/** The rounds of a plan, in random order. */
export function planRounds(random: SeededRandom, plan: Plan): readonly Round[] {
  const rounds: Round[] = [
    ...Array.from({ length: plan.killed }, () => ({ ending: 'random moment' as const, deepest: 0 })),
    ...Array.from({ length: plan.stopped }, () => ({ ending: 'graceful stop' as const, deepest: 0 })),
  ]
  for (const [point, deepest] of Object.entries(DEEPEST) as [CrashPoint, number][]) {
    for (let i = 0; i < plan.perPoint; i++) rounds.push({ ending: point, deepest })
  }
  for (let i = rounds.length - 1; i > 0; i--) {
    const j = random.between(0, i)
    ;[rounds[i], rounds[j]] = [rounds[j] as Round, rounds[i] as Round]
  }
  return rounds
}
