import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openLevelStore } from '../../leader/log/level-store.ts'
import type { Store } from '../../leader/log/store.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { testTempDir } from '../support/temp-dir.ts'

const WRITER = fileURLToPath(new URL('../support/store-writer.ts', import.meta.url))
const SESSIONS = 4
const ROUNDS = 10

/** Runs a writer, kills it some time after its first acknowledgement, and gives the last one for each session. */
async function writeAndKill(path: string, mode: 'create' | 'open', afterMs: number): Promise<Map<string, number>> {
  const child = spawn(process.execPath, ['--import', 'tsx', WRITER, path, mode, String(SESSIONS)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', piece => {
    stderr += piece
  })
  const acknowledged = new Map<string, number>()
  const closed = once(child, 'close')
  let isDoomed = false
  for await (const line of createInterface(child.stdout)) {
    const [session = '', revision] = line.split(' ')
    acknowledged.set(session, Number(revision))
    if (isDoomed) continue
    isDoomed = true
    void delay(afterMs).then(() => child.kill('SIGKILL'))
  }
  expect(await closed, stderr).toEqual([null, 'SIGKILL'])
  return acknowledged
}

async function expectTrue(store: Store, session: string, acknowledged: number): Promise<void> {
  const { revision, update } = await store.head(session)
  expect(revision).toBeGreaterThanOrEqual(acknowledged)
  const revisions = Array.from({ length: revision }, (_, index) => index + 1)
  expect((await store.ledger(session, 0, 1_000_000)).map(record => record.revision)).toEqual(revisions)
  const { snapshot, updates } = await store.document(session)
  const start = snapshot?.through ?? 0
  const numbers = Array.from({ length: update - start }, (_, index) => start + index + 1)
  expect(updates.map(one => one.number)).toEqual(numbers)
  for (const one of revisions) expect(await store.receipt(session, 'queue.submit', `m${one}`)).toBeDefined()
  expect(await store.receipt(session, 'queue.submit', `m${revision + 1}`)).toBeUndefined()
  expect(new TextDecoder().decode(await store.row('session', '', session))).toBe(String(revision))
}

test('A2 SIGKILL at any moment loses nothing that was acknowledged and leaves every log without a gap', async () => {
  const seed = testSeed()
  const random = seededRandom(seed)
  const path = join(testTempDir('kill'), 'database')
  for (let round = 0; round < ROUNDS; round += 1) {
    const acknowledged = await writeAndKill(path, round === 0 ? 'create' : 'open', random.between(0, 120))
    expect(acknowledged.size, `seed ${seed}`).toBeGreaterThan(0)
    const store = await openLevelStore({ path, create: false, fence: 2 })
    for (const [session, revision] of acknowledged) await expectTrue(store, session, revision)
    await store.close()
  }
})
