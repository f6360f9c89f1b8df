import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { KeyRange } from '../../leader/log/keys.ts'
import type { FrozenReader } from '../../leader/log/store.ts'
import {
  after,
  bytesOf,
  itemOf,
  ledgerTexts,
  NOTHING,
  own,
  type StoreBed,
  SUITE_FENCE,
  textOf,
} from '../support/store-items.ts'

/** One state of everything, checkpoints, rewriting, sizes: what checking, backup, compaction and repair stand on. */
export function careRules(makeBed: () => StoreBed): void {
  test('D3 a frozen reader shows one state of everything, whatever is written meanwhile', async () => {
    const store = await makeBed().open()
    await own(store, 's', 'late')
    const rows = [{ kind: 'turn' as const, id: 't', value: bytesOf('before') }]
    await store.append([itemOf('s', NOTHING, 2, { rows })])
    const frozen = await store.freeze()
    const keys = await keysOf(frozen)
    await store.append([itemOf('s', after(NOTHING, 2), 3, { rows: [{ ...rows[0]!, value: bytesOf('after') }] })])
    await store.append([itemOf('late', NOTHING)])
    await store.compact('s', SUITE_FENCE, { through: 5, generation: 'g', bytes: bytesOf('whole') })
    expect(await frozen.head('s')).toEqual(after(NOTHING, 2))
    expect((await frozen.ledger('s', 0, 10)).map(({ revision }) => revision)).toEqual([1, 2])
    expect(textOf(await frozen.row('turn', 's', 't'))).toBe('before')
    expect(await frozen.document('s')).toMatchObject({ snapshot: null, updates: [{ number: 1 }, { number: 2 }] })
    expect(await frozen.sessions(undefined, 10)).toEqual(['s'])
    expect(await keysOf(frozen)).toEqual(keys)
    expect(await keysOf(frozen, { gte: 'ls!', lt: 'ls"' })).toEqual(keys.filter(key => key.startsWith('ls!')))
    await frozen.close()
    expect(await store.sessions(undefined, 10)).toEqual(['late', 's'])
    await store.close()
  })

  test('L6 a checkpoint takes the place of a record; those before it go from the newest down, and what is left to do is noted', async () => {
    const bed = makeBed()
    let store = await bed.open()
    await own(store, 's', 's-1')
    await store.append([itemOf('s', NOTHING, 9)])
    await store.append([itemOf('s-1', NOTHING, 3)])
    const checkpoint = { revision: 6, bytes: bytesOf('checkpoint') }
    await expect(store.putCheckpoint('s', SUITE_FENCE, { ...checkpoint, revision: 9 })).rejects.toThrow(RangeError)
    expect(await store.putCheckpoint('s', SUITE_FENCE + 1, checkpoint)).toEqual({ kind: 'fenced' })
    expect(await store.untrimmed('s')).toBeUndefined()
    expect(await store.putCheckpoint('s', SUITE_FENCE, checkpoint)).toMatchObject({ kind: 'committed' })
    expect(await ledgerTexts(store, 's')).toEqual([
      ...['record 1', 'record 2', 'record 3', 'record 4', 'record 5'],
      ...['checkpoint', 'record 7', 'record 8', 'record 9'],
    ])
    expect(await store.trimLedger('s', SUITE_FENCE, 2)).toMatchObject({ outcome: { kind: 'committed' }, isDone: false })
    expect((await store.ledger('s', 0, 10)).map(({ revision }) => revision)).toEqual([1, 2, 3, 6, 7, 8, 9])
    await store.close()

    store = await bed.open()
    await own(store, 's')
    expect(await store.untrimmed('s')).toBe(6)
    expect(await store.trimLedger('s', SUITE_FENCE, 3)).toMatchObject({ isDone: true })
    expect(await ledgerTexts(store, 's')).toEqual(['checkpoint', 'record 7', 'record 8', 'record 9'])
    expect(await store.untrimmed('s')).toBeUndefined()
    await store.squeeze('s')
    expect(await store.append([itemOf('s', after(NOTHING, 9))])).toMatchObject([{ kind: 'committed' }])
    expect(await ledgerTexts(store, 's-1')).toEqual(['record 1', 'record 2', 'record 3'])
    await store.close()
  })

  test('D2 a rewritten session has its new head and document, and nothing of what was behind them', async () => {
    const store = await makeBed().open()
    await own(store, 's', 't')
    const receipt = { operation: 'session.update', id: 'op', body: bytesOf('1') }
    await store.append([itemOf('s', NOTHING, 4)])
    await store.append([
      { ...itemOf('s', after(NOTHING, 4)), transitions: [{ receipt }, { receipt: { ...receipt, id: 'kept' } }] },
    ])
    await store.append([itemOf('t', NOTHING, 2)])
    const rewrite = {
      head: { revision: 2, update: 7 },
      snapshot: { through: 7, generation: 'new', bytes: bytesOf('built') },
      recordsThrough: 4,
      updatesThrough: 4,
      droppedReceipts: [receipt],
    }
    expect(await store.rewrite('s', SUITE_FENCE, rewrite)).toMatchObject({ kind: 'committed' })
    expect(await store.append([itemOf('s', after(NOTHING, 4))])).toEqual([{ kind: 'fenced' }])
    expect(await store.acquire('s')).toEqual({ kind: 'owned', fence: SUITE_FENCE, head: rewrite.head })
    expect(await ledgerTexts(store, 's')).toEqual(['record 1', 'record 2'])
    expect(await store.document('s')).toMatchObject({ snapshot: { through: 7, generation: 'new' }, updates: [] })
    expect(await store.receiptKeys('s', undefined, 10)).toEqual([{ operation: 'session.update', id: 'kept' }])
    expect(await store.lastNumbers('s')).toEqual({ revision: 2, update: 0 })
    expect(await store.append([itemOf('s', rewrite.head)])).toMatchObject([{ kind: 'committed' }])
    expect(await store.lastNumbers('t')).toEqual(after(NOTHING, 2))
    await store.close()
  })

  test('L6 what was written and squeezed is counted, by session and by part', async () => {
    const store = await makeBed().open()
    await own(store, 'large', 'small')
    const transitions = Array.from({ length: 40 }, (_, i) => ({
      receipt: { operation: 'o', id: `${i}`, body: randomBytes(8_000) },
    }))
    await store.append([{ session: 'large', fence: SUITE_FENCE, expectedHead: NOTHING, transitions }])
    await store.append([itemOf('small', NOTHING)])
    for (const session of ['large', 'small']) await store.squeeze(session)
    expect(await store.sizeOf('large')).toBeGreaterThan(await store.sizeOf('small'))
    const { receipts = 0, ledger = 0, ...others } = await store.sizes()
    expect(receipts).toBeGreaterThan(ledger)
    expect(Object.keys(others).sort()).toEqual(['artifacts', 'document', 'rows'])
    await store.close()
  })

  test('D2 ids of rows, receipts and artifacts are listed in pages, in order', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    const rows = ['a', 'b', 'c'].map(id => ({ kind: 'turn' as const, id, value: bytesOf(id) }))
    const receipts = ['x', 'y', 'z'].map(id => ({ receipt: { operation: 'o', id, body: bytesOf(id) } }))
    await store.append([
      { session: 's', fence: SUITE_FENCE, expectedHead: NOTHING, transitions: [{ rows }, ...receipts] },
    ])
    for (const hash of ['h1', 'h2']) await store.putArtifact(hash, { bytes: 0, mimeType: 'text/plain' })
    await store.putArtifactPiece('h3', 0, bytesOf('unnamed'))
    expect(await store.rowIds('turn', 's', { limit: 2 })).toEqual(['a', 'b'])
    expect(await store.rowIds('turn', 's', { after: 'b', limit: 2 })).toEqual(['c'])
    expect(await store.receiptKeys('s', { operation: 'o', id: 'x' }, 1)).toEqual([{ operation: 'o', id: 'y' }])
    expect(await store.artifacts(undefined, 1)).toEqual(['h1'])
    expect(await store.artifacts('h1', 5)).toEqual(['h2'])
    await store.close()
  })
}

async function keysOf(reader: FrozenReader, range?: KeyRange): Promise<string[]> {
  const keys: string[] = []
  for await (const page of reader.entries(range)) keys.push(...page.map(([key]) => key))
  return keys
}
