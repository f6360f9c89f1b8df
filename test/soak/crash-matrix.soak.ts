import { expect, test } from 'vitest'
import { Campaign } from '../support/crash/campaign.ts'
import { POINTS, planRounds } from '../support/crash/rounds.ts'
import { testRoot } from '../support/live/test-root.ts'
import { seededRandom, testSeed } from '../support/random.ts'

const ROUNDS = Number(process.env.HEADWATER_SOAK_ROUNDS ?? 200)

test('A2 A5 A6 X1 X13 X14 however often and wherever a leader is ended under load, it loses nothing and repeats nothing', async () => {
  const seed = testSeed()
  console.info(`crash matrix: ${ROUNDS} rounds, HEADWATER_SEED=${seed}`)
  const perPoint = Math.ceil(ROUNDS / 2 / POINTS)
  const atRandom = Math.max(2, ROUNDS - perPoint * POINTS)
  const stopped = Math.ceil(atRandom / 5)
  const campaign = new Campaign(testRoot(), seed)
  try {
    await campaign.run(planRounds(seededRandom(seed), { perPoint, killed: atRandom - stopped, stopped }))
  } finally {
    console.info(`${campaign.table}`)
  }
  expect(campaign.table.rounds).toBe(perPoint * POINTS + atRandom)
  expect(campaign.table.missed).toEqual([])
})
