import { expect, test } from 'vitest'
import { verifyDirectory } from '../../leader/index.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { Fault } from '../../schema/commands/host.ts'
import { LIMITS } from '../../schema/limits.ts'
import { readLedger } from '../support/live/ledger.ts'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { waitFor } from '../support/wait-for.ts'

/** More than one batch of records goes. */
const RECORDS = LIMITS.compactionBatchRecords + 100

/** A root with a session of many records. */
async function prepared(): Promise<TestRoot> {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  await connection.createSession({ sessionId: 's', cwd: '/', backend: 'scripted' })
  const updates = Array.from({ length: RECORDS }, (_, index) => {
    const input = {
      sessionId: 's',
      operationId: `op-${index}`,
      expectedRevision: index + 1,
      patch: { title: `title ${index}` },
    }
    return () => connection.request('session.update', input)
  })
  for (let at = 0; at < updates.length; at += 32) await Promise.all(updates.slice(at, at + 32).map(update => update()))
  await connection.close()
  await leader.stop()
  return root
}

async function faultsIn(root: TestRoot): Promise<readonly Fault[]> {
  const faults: Fault[] = []
  for await (const fault of verifyDirectory(root.path)) faults.push(fault)
  return faults
}

/** The title, the revision and what a receipt of long ago says. */
async function shown(connection: LeaderConnection): Promise<unknown> {
  const { session } = await connection.request('session.get', { sessionId: 's' })
  const receipt = await connection.request('receipt.query', { sessionId: 's', operation: 'session.update', id: 'op-3' })
  return { session, receipt }
}

test.each([1, 2, 3])(
  'L6 X13 killed at step %i of a compaction: the ledger holds at once, and the next leader finishes it',
  async nth => {
    const root = await prepared()
    const env = { HEADWATER_CRASH_AT: `mid_compaction:${nth}` }
    const leader = await root.start({ env })
    const connection = await root.connect()
    const before = await shown(connection)
    const compaction = connection.request('session.compact', { sessionId: 's', operationId: 'compact' })
    compaction.catch(() => {})
    expect(await leader.exited).toMatchObject({ signal: 'SIGKILL' })
    await connection.close()
    expect(await faultsIn(root)).toEqual([])

    await root.start()
    const next = await root.connect()
    expect(await shown(next)).toEqual(before)
    // The same command again finds the work done, or does what is left of it.
    const { bytesAfter } = await next.request('session.compact', { sessionId: 's', operationId: 'compact' })
    const ledger = await waitFor(async () => {
      const records = await readLedger(next, 's')
      return records.length <= 2 ? records : undefined
    })
    expect(ledger.map(({ revision }) => revision)).toEqual([RECORDS, RECORDS + 1])
    expect(bytesAfter).toBeGreaterThan(0)
    expect(await shown(next)).toEqual(before)
    await next.request('session.update', {
      sessionId: 's',
      expectedRevision: RECORDS + 1,
      patch: { title: 'afterwards' },
    })
    expect((await next.request('root.verify', {})).faults).toEqual([])
  },
  60_000,
)
