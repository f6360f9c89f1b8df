import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openMemoryStore } from '../../leader/log/memory-store.ts'
import { canonicalJson } from '../../schema/canonical.ts'
import { exportText, faultsOf, importText, shownBy } from '../support/exchange.ts'
import { MemoryStage } from '../support/model/memory-stage.ts'
import { MemoryWalk } from '../support/model/memory-walk.ts'
import { seededRandom, testSeed } from '../support/random.ts'

const RUNS = 60

test('A8 D5 any session that random commands build comes through a file as it was, with the same last hash', async () => {
  const walks = fc.record({ seed: fc.nat(0x7fff_ffff), steps: fc.integer({ min: 5, max: 45 }) })
  const property = fc.asyncProperty(walks, async ({ seed, steps }) => {
    const stage = await MemoryStage.open()
    const walk = new MemoryWalk(stage, seededRandom(seed))
    for (let i = 0; i < steps; i++) await walk.step()
    await roundTrip(stage)
  })
  await fc.assert(property, { seed: testSeed() | 0, numRuns: RUNS })
}, 40_000)

/** Takes every session of the stage over into one new store, and each of them back out of it. */
async function roundTrip({ world: { store } }: MemoryStage): Promise<void> {
  const target = await openMemoryStore()
  const left = new Set((await store.rows('session', '')).map(({ id }) => id))
  // A fork comes after what it was made from; what is left in the end leads on to a session that was deleted.
  for (let before = -1; before !== left.size; ) {
    before = left.size
    for (const id of left) if (await tookOver(id)) left.delete(id)
  }
  for (const id of left) await assertIsFork(id)
  equal(await faultsOf(target), [], 'faults')

  async function tookOver(id: string): Promise<boolean> {
    const text = await exportText(store, id)
    try {
      await importText(target, text)
    } catch (error) {
      if (error instanceof Error && error.message.includes('import that one first')) return false
      throw error
    }
    equal(await exportText(target, id), text, `the file of ${id}`)
    equal(await shownBy(target, id), await shownBy(store, id), `what ${id} shows`)
    return true
  }

  async function assertIsFork(id: string): Promise<void> {
    const [first] = await store.ledger(id, 0, 1)
    if (!Buffer.from(first?.bytes ?? []).includes('session_forked')) throw new Error(`${id} was not taken over`)
  }
}

function equal(actual: unknown, expected: unknown, what: string): void {
  expect(canonicalJson(actual), what).toBe(canonicalJson(expected))
}
