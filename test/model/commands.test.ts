import { expect, test } from 'vitest'
import { WEIGHTS } from '../support/model/choose-command.ts'
import { playWalks } from '../support/model/play-walks.ts'
import { modelSeed } from '../support/model/seed.ts'

const PLAN = { walks: 36, steps: 50 }

test('A2 A3 A5 A6 A8 whatever commands, cuts, failing writes and deaths come, the leader does what a simple model says', async () => {
  const counts = await playWalks(modelSeed(), PLAN)
  const never = Object.keys(WEIGHTS).filter(operation => !counts.has(`${operation} ok`))
  expect(never).toEqual([])
  for (const what of ['killed', 'write failed', 'cut', 'mended', 'repeated'])
    expect(counts.get(what)).toBeGreaterThan(0)
}, 40_000)
