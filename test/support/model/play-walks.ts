import type { TestRoot } from '../live/test-root.ts'
import { seededRandom } from '../random.ts'
import { LiveWalk } from './live-walk.ts'
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

/** Plays one walk against a leader process; gives how many steps it took and how many commands were acknowledged. */
export async function playLive(
  root: TestRoot,
  seed: number,
  steps: number,
): Promise<{ readonly steps: number; readonly acknowledged: number }> {
  const walk = new LiveWalk(root, seededRandom(seed))
  let done = 0
  try {
    await walk.open()
    for (; done < steps; done++) await walk.step()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`HEADWATER_MODEL_SEED=${seed} plays it again: ${why}`, { cause: error })
  } finally {
    await walk.close()
  }
  return { steps: done, acknowledged: walk.judge.acknowledged.length }
}
