import { expect, test } from 'vitest'
import { Claims } from '../../leader/log/commit/claims.ts'
import { Committer, type CommitterPorts, type FailedBatch } from '../../leader/log/commit/committer.ts'
import { stage } from '../../leader/log/commit/stage.ts'
import { BATCH_KEY } from '../../leader/log/keys.ts'
import { LogStore } from '../../leader/log/log-store.ts'
import { MemoryDisk } from '../../leader/log/memory-store.ts'
import type { Op } from '../../leader/log/table.ts'
import { decodeNumber } from '../../leader/log/values.ts'
import { LIMITS } from '../../schema/limits.ts'
import { after, bytesOf, itemOf, NOTHING, SUITE_FENCE } from '../support/store-items.ts'
import { waitFor } from '../support/wait-for.ts'

const COMMITTED = (count: number) => [{ kind: 'committed', head: after(NOTHING, count) }]

/** A committer on a disk whose writes wait for `next`. */
async function openCommitter(ports: Partial<CommitterPorts> = {}) {
  const disk = new MemoryDisk()
  const claims = new Claims(disk, SUITE_FENCE)
  const batches: (readonly Op[])[] = []
  const waiting: (() => void)[] = []
  let inFlight = 0
  let mostInFlight = 0
  const committer = new Committer({
    claims,
    batchNumber: 0,
    write: async ops => {
      batches.push(ops)
      inFlight += 1
      mostInFlight = Math.max(mostInFlight, inFlight)
      await new Promise<void>(resolve => waiting.push(resolve))
      disk.apply(ops)
      inFlight -= 1
    },
    settle: async () => ({ kind: 'unknown' }),
    lost: () => {},
    ...ports,
  })
  const next = async (): Promise<void> => {
    await waitFor(() => waiting.length > 0, { everyMs: 1 })
    waiting.shift()?.()
  }
  for (const session of ['s', 't']) await claims.take(session)
  return { disk, claims, committer, batches, next, most: () => mostInFlight }
}

test('A2 one batch is in flight while the next one fills, and a batch number counts them', async () => {
  const { committer, batches, next, most, disk } = await openCommitter()
  const first = committer.submit(stage([itemOf('s', NOTHING)]))
  await waitFor(() => batches.length === 1, { everyMs: 1 })
  const rest = [1, 2, 3].map(count => committer.submit(stage([itemOf('s', after(NOTHING, count))])))
  await next()
  expect(await first).toEqual(COMMITTED(1))
  await next()
  expect(await Promise.all(rest)).toEqual([COMMITTED(2), COMMITTED(3), COMMITTED(4)])
  await committer.idle()
  expect([batches.length, most(), committer.batchNumber]).toEqual([2, 1, 2])
  expect(decodeNumber((await disk.get(BATCH_KEY)) ?? new Uint8Array())).toBe(2)
})

test('A7 a batch holds no more transitions and bytes than its limits, a write over them goes alone', async () => {
  const { committer, batches, next } = await openCommitter()
  const half = LIMITS.batchTransitions / 2
  const counts = [half, half, 1]
  const writes = counts.map((count, i) => {
    const from = after(
      NOTHING,
      counts.slice(0, i).reduce((a, b) => a + b, 0),
    )
    return committer.submit(stage([itemOf('s', from, count)]))
  })
  const bytes = new Uint8Array(LIMITS.batchBytes / 2)
  for (let number = 1; number <= 3; number += 1) {
    const expectedHead = { revision: 0, update: number - 1 }
    const transitions = [{ update: { number, bytes } }]
    writes.push(committer.submit(stage([{ session: 't', fence: SUITE_FENCE, expectedHead, transitions }])))
  }
  for (let count = 0; count < 4; count += 1) await next()
  expect((await Promise.all(writes)).flat().map(outcome => outcome.kind)).toEqual(Array(6).fill('committed'))
  const updates = batches.map(ops => ops.filter(op => op.key.startsWith('d')).length)
  expect(updates).toEqual([LIMITS.batchTransitions, 2, 1, 1])
})

test('A3 in one batch a row and a head are written once, with what came last', async () => {
  const { committer, batches, next } = await openCommitter()
  const writes = ['a', 'b', null, 'c'].map((value, index) => {
    const rows = [{ kind: 'session' as const, id: 's', value: value === null ? null : bytesOf(value) }]
    return committer.submit(stage([itemOf('s', after(NOTHING, index), 1, { rows })]))
  })
  await next()
  await Promise.all(writes)
  expect(batches).toHaveLength(1)
  expect(batches[0]?.filter(op => op.key === 'xss')).toEqual([{ key: 'xss', value: bytesOf('c') }])
  expect(batches[0]?.filter(op => op.key === 'hs')).toHaveLength(1)
})

test('R5 ownership is proved once for each batch, before it is written', async () => {
  const events: string[] = []
  const { committer } = await openCommitter({
    prove: async () => void events.push('prove'),
    write: async () => void events.push('write'),
  })
  const writes = [0, 1, 2].map(count => committer.submit(stage([itemOf('s', after(NOTHING, count))])))
  await Promise.all(writes)
  await committer.submit(stage([itemOf('s', after(NOTHING, 3))]))
  expect(events).toEqual(['prove', 'write', 'prove', 'write'])
})

test('A7 what waits is bounded: more is refused, in its turn, and nothing decided on it is stored', async () => {
  const { committer, batches, next } = await openCommitter()
  const first = committer.submit(stage([itemOf('s', NOTHING)]))
  await waitFor(() => batches.length === 1, { everyMs: 1 })
  const big = bytesOf('x'.repeat(LIMITS.commitQueueBytes))
  const transitions = [{ update: { number: 2, bytes: big } }]
  const item = { session: 's', fence: SUITE_FENCE, expectedHead: after(NOTHING), transitions }
  const over = committer.submit(stage([item]))
  const onTop = committer.submit(stage([itemOf('s', { revision: 1, update: 2 })]))
  await next()
  expect(await first).toEqual(COMMITTED(1))
  expect(await over).toMatchObject([{ kind: 'failed', code: 'rate_limited' }])
  expect(await onTop).toEqual([{ kind: 'conflict', head: after(NOTHING) }])
})

test('E7 a search for the truth that breaks leaves nobody waiting, and nothing is written after it', async () => {
  const { committer } = await openCommitter({
    write: async () => {
      throw new Error('no')
    },
    settle: async () => {
      throw new Error('the search broke')
    },
  })
  expect(await committer.submit(stage([itemOf('s', NOTHING)]))).toEqual([{ kind: 'unknown' }])
  const refused = { kind: 'failed', code: 'storage_fault', message: 'the search broke' }
  expect(await committer.submit(stage([itemOf('t', NOTHING)]))).toEqual([refused])
})

test('E7 a claim taken before the truth was known is lost when the batch proves to be on disk', async () => {
  const disk = new MemoryDisk()
  const pending: { ops?: readonly Op[]; failed?: FailedBatch } = {}
  const store = new LogStore({
    table: disk,
    fence: SUITE_FENCE,
    batchNumber: 0,
    write: async ops => {
      pending.ops = ops
      throw new Error('the sync failed')
    },
    settle: async failed => {
      pending.failed = failed
      store.setHealth('recovering', { kind: 'full' })
      return { kind: 'unknown' }
    },
    close: async () => {},
  })
  const lost: string[] = []
  store.on('lost', session => lost.push(session))
  await Promise.all([store.acquire('s'), store.acquire('t')])
  expect(await store.append([itemOf('s', NOTHING)])).toEqual([{ kind: 'unknown' }])
  expect(await store.acquire('s')).toMatchObject({ head: NOTHING })
  const { ops, failed } = pending
  if (ops === undefined || failed === undefined) throw new Error('nothing failed')
  disk.apply(ops)
  store.learnFate(failed, 'committed')
  store.setHealth('ok', null)
  expect(lost).toEqual(['s'])
  expect(store.batchNumber).toBe(1)
  expect(await store.append([itemOf('s', NOTHING)])).toEqual([{ kind: 'fenced' }])
  expect(await store.acquire('s')).toMatchObject({ head: after(NOTHING) })
})
