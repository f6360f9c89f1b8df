import { expect, test } from 'vitest'
import { testRoot } from '../support/live/test-root.ts'
import { playLive } from '../support/model/play-walks.ts'
import { modelSeed } from '../support/model/seed.ts'

const STEPS = 14

test('A2 A5 A6 A10 three replicas behind links that are cut and a leader that is killed see what a simple model says', async () => {
  const seed = modelSeed()
  const counts = await playLive(testRoot(), seed, STEPS)
  expect(counts.steps).toBe(STEPS)
  expect(counts.acknowledged).toBeGreaterThan(0)
}, 60_000)
