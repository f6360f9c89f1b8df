import { expect, test } from 'vitest'
import { testRoot } from '../support/live/test-root.ts'
import { LiveWalk } from '../support/model/live-walk.ts'
import { modelSeed } from '../support/model/seed.ts'
import { seededRandom } from '../support/random.ts'

const STEPS = Number(process.env.HEADWATER_MODEL_STEPS ?? 30)

test('A2 A5 A6 A10 three replicas behind links that are cut and a leader that is killed see what a simple model says', async () => {
  const seed = modelSeed()
  const walk = new LiveWalk(testRoot(), seededRandom(seed))
  await walk.open()
  try {
    for (let step = 0; step < STEPS; step++) await walk.step()
  } catch (error) {
    throw new Error(`HEADWATER_MODEL_SEED=${seed}: ${error instanceof Error ? error.stack : error}`)
  } finally {
    await walk.close()
  }
  expect(walk.judge.counts.cut).toBeGreaterThan(0)
  expect(walk.judge.counts.killed).toBeGreaterThan(0)
}, 60_000)
