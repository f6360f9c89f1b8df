import { expect, test } from 'vitest'
import { testRoot } from '../support/live/test-root.ts'
import { playLive, playWalks } from '../support/model/play-walks.ts'
import { modelSeed } from '../support/model/seed.ts'

const PLAN = { walks: Number(process.env.HEADWATER_SOAK_WALKS ?? 1_000), steps: 120 }

test('A2 A3 A5 A6 A8 a thousand long walks of commands, cuts, failing writes and deaths', async () => {
  const counts = await playWalks(modelSeed(), PLAN)
  console.info(
    [...counts]
      .sort()
      .map(([what, count]) => `${count}\t${what}`)
      .join('\n'),
  )
  expect(counts.get('killed')).toBeGreaterThan(0)
})

test('A2 A5 A6 A10 a long walk of three replicas behind links that are cut and a leader that is killed', async () => {
  const steps = Number(process.env.HEADWATER_SOAK_STEPS ?? 400)
  expect((await playLive(testRoot(), modelSeed(), steps)).steps).toBe(steps)
})
