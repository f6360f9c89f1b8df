import { expect, test } from 'vitest'
import { playWalks } from '../support/model/play-walks.ts'
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
