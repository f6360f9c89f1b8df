import { seededRandom } from '../random.ts'
import { MemoryStage } from './memory-stage.ts'
import { MemoryWalk } from './memory-walk.ts'

/** How many walks, and of how many steps each. */
export interface WalkPlan {
  readonly walks: number
  readonly steps: number
}

/** Plays walks one after the other, each under a seed of its own, and gives how often each thing came about. Fails at the first contradiction. */
export async function playWalks(firstSeed: number, { walks, steps }: WalkPlan): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (let seed = firstSeed; seed < firstSeed + walks; seed++) {
    const walk = new MemoryWalk(await MemoryStage.open(), seededRandom(seed))
    try {
      for (let step = 0; step < steps; step++) await walk.step()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`HEADWATER_MODEL_SEED=${seed} plays it again: ${why}`)
    }
    for (const [what, count] of Object.entries(walk.judge.counts)) counts.set(what, (counts.get(what) ?? 0) + count)
  }
  return counts
}
