import { expect, test } from 'vitest'
import { Campaign } from '../support/crash/campaign.ts'
import { POINTS, planRounds } from '../support/crash/rounds.ts'
import { testRoot } from '../support/live/test-root.ts'
import { seededRandom, testSeed } from '../support/random.ts'

const PLAN = { perPoint: 1, killed: 12, stopped: 4 }

test('A2 A5 A6 X1 X13 X14 killed at every crash point and ended at random moments under load, a leader loses nothing and repeats nothing', {
  timeout: 180_000,
}, async () => {
  const seed = testSeed()
  console.info(`crash matrix: HEADWATER_SEED=${seed}`)
  const campaign = new Campaign(testRoot(), seed)
  await campaign.run(planRounds(seededRandom(seed), PLAN))
  console.info(`${campaign.table}`)
  expect(campaign.table.rounds).toBe(POINTS + PLAN.killed + PLAN.stopped)
  expect(campaign.table.missed).toEqual([])
})
