import { describe, expect, test } from 'vitest'
import type { StoredTransition } from '../../leader/log/store.ts'
import { LIMITS } from '../../schema/limits.ts'
import {
  after,
  bytesOf,
  itemOf,
  ledgerTexts,
  NOTHING,
  nextTransition,
  own,
  type StoreBed,
  SUITE_FENCE,
  textOf,
} from '../support/store-items.ts'
import { careRules } from './store-suite-care.ts'
import { foundRules } from './store-suite-found.ts'
import { purgeRules } from './store-suite-purge.ts'
import { compactionRules, modelRule, readRules, recordRules } from './store-suite-reads.ts'

/** What every Store does. `makeBed` gives each test a place of its own. */
export function storeSuite(name: string, makeBed: () => StoreBed): void {
  describe(name, () => {
    appendRules(makeBed)
    claimRules(makeBed)
    foundRules(makeBed)
    purgeRules(makeBed)
    readRules(makeBed)
    compactionRules(makeBed)
    recordRules(makeBed)
    careRules(makeBed)
    modelRule(makeBed)
  })
}

function appendRules(makeBed: () => StoreBed): void {
  test('A3 a transition is stored whole, and is there when the store is opened again', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await own(store, 's')
    const transition = nextTransition(NOTHING, {
      receipt: { operation: 'queue.submit', id: 'm1', body: bytesOf('done') },
      rows: [
        { kind: 'session', id: 's', value: bytesOf('header') },
        { kind: 'turn', id: 't1', value: bytesOf('turn') },
      ],
    })
    const item = { session: 's', fence: SUITE_FENCE, expectedHead: NOTHING, transitions: [transition] }
    expect(await store.append([item])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    await store.close()

    const again = await bed.open()
    expect(await again.head('s')).toEqual(after(NOTHING))
    expect(await again.acquire('s')).toEqual({ kind: 'owned', fence: SUITE_FENCE, head: after(NOTHING) })
    expect(await ledgerTexts(again, 's')).toEqual(['record 1'])
    const document = await again.document('s')
    expect(document.snapshot).toBeNull()
    expect(document.updates.map(update => [update.number, textOf(update.bytes)])).toEqual([[1, 'update 1']])
    expect(textOf(await again.receipt('s', 'queue.submit', 'm1'))).toBe('done')
    expect(textOf(await again.row('session', '', 's'))).toBe('header')
    expect(textOf(await again.row('turn', 's', 't1'))).toBe('turn')
    await again.close()
  })

  test('A5 a receipt alone is stored and leaves the head where it is; its scope is session, operation and id', async () => {
    const store = await makeBed().open()
    await own(store, 's', 'empty')
    await store.append([itemOf('s', NOTHING)])
    const receipt = { operation: 'session.update', id: 'op1', body: bytesOf('same') }
    const item = { session: 's', fence: SUITE_FENCE, expectedHead: after(NOTHING), transitions: [{ receipt }] }
    expect(await store.append([item])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    const nowhere = { session: 'empty', fence: SUITE_FENCE, expectedHead: NOTHING, transitions: [{ receipt }] }
    expect(await store.append([nowhere])).toEqual([{ kind: 'committed', head: NOTHING }])
    expect(textOf(await store.receipt('s', 'session.update', 'op1'))).toBe('same')
    expect(await store.receipt('s', 'session.updat', 'op1')).toBeUndefined()
    expect(await store.receipt('t', 'session.update', 'op1')).toBeUndefined()
    expect(await store.sessions(undefined, 10)).toEqual(['s'])
    await store.close()
  })

  test('A3 an item decided on another head is refused with the head there is, and leaves nothing', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    await store.append([itemOf('s', NOTHING, 2)])
    const stale = itemOf('s', NOTHING, 1, { rows: [{ kind: 'turn', id: 'stale', value: bytesOf('x') }] })
    expect(await store.append([stale])).toEqual([{ kind: 'conflict', head: after(NOTHING, 2) }])
    const ahead = itemOf('s', after(NOTHING, 5))
    expect(await store.append([ahead])).toEqual([{ kind: 'conflict', head: after(NOTHING, 2) }])
    expect(await store.row('turn', 's', 'stale')).toBeUndefined()
    expect(await ledgerTexts(store, 's')).toEqual(['record 1', 'record 2'])
    await store.close()
  })

  test('A8 a gap in revisions or in update numbers is never stored', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    const bytes = bytesOf('x')
    const gaps: StoredTransition[][] = [
      [{ record: { revision: 2, bytes } }],
      [{ record: { revision: 1, bytes }, update: { number: 2, bytes } }],
      [{ record: { revision: 1, bytes } }, { record: { revision: 1, bytes } }],
    ]
    for (const transitions of gaps) {
      const item = { session: 's', fence: SUITE_FENCE, expectedHead: NOTHING, transitions }
      await expect(store.append([item])).rejects.toThrow(RangeError)
    }
    expect(await store.head('s')).toEqual(NOTHING)
    expect(await store.append([itemOf('s', NOTHING)])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    await store.close()
  })

  test('A3 what is given without waiting is stored in order, and its outcomes come in order', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    const count = 3 * LIMITS.batchTransitions
    const seen: number[] = []
    const outcomes = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const [outcome] = await store.append([itemOf('s', after(NOTHING, index))])
        seen.push(index)
        return outcome
      }),
    )
    expect(outcomes).toEqual(
      Array.from({ length: count }, (_, i) => ({ kind: 'committed', head: after(NOTHING, i + 1) })),
    )
    expect(seen).toEqual(Array.from({ length: count }, (_, i) => i))
    expect(await ledgerTexts(store, 's')).toEqual(Array.from({ length: count }, (_, i) => `record ${i + 1}`))
    await store.close()
  })

  test('A3 an item larger than a batch is stored whole', async () => {
    const store = await makeBed().open()
    await own(store, 's', 'm')
    const big = new Uint8Array(LIMITS.batchBytes + 1).fill(7)
    const transitions = [{ record: { revision: 1, bytes: bytesOf('r') }, update: { number: 1, bytes: big } }]
    const [large, many] = await store.append([
      { session: 's', fence: SUITE_FENCE, expectedHead: NOTHING, transitions },
      itemOf('m', NOTHING, LIMITS.batchTransitions + 1),
    ])
    expect(large).toEqual({ kind: 'committed', head: after(NOTHING) })
    expect(many).toEqual({ kind: 'committed', head: after(NOTHING, LIMITS.batchTransitions + 1) })
    expect((await store.document('s')).updates[0]?.bytes.byteLength).toBe(big.byteLength)
    await store.close()
  })

  test('A3 an atomic group is stored whole or not at all; items without it stand alone', async () => {
    const store = await makeBed().open()
    await own(store, 'a', 'b')
    await store.append([itemOf('a', NOTHING)])
    const [first, second] = await store.append([itemOf('b', NOTHING), itemOf('a', NOTHING)], { atomic: true })
    expect(first).toMatchObject({ kind: 'failed', code: 'persistence_failed' })
    expect(second).toEqual({ kind: 'conflict', head: after(NOTHING) })
    expect(await store.head('b')).toEqual(NOTHING)
    expect(await store.append([itemOf('b', NOTHING), itemOf('a', NOTHING)])).toEqual([
      { kind: 'committed', head: after(NOTHING) },
      { kind: 'conflict', head: after(NOTHING) },
    ])
    expect(await store.append([itemOf('b', after(NOTHING)), itemOf('a', after(NOTHING), 2)], { atomic: true })).toEqual(
      [
        { kind: 'committed', head: after(NOTHING, 2) },
        { kind: 'committed', head: after(NOTHING, 3) },
      ],
    )
    await store.close()
  })
}

function claimRules(makeBed: () => StoreBed): void {
  test('A1 only a session that is claimed is written, and only with the fence of the claim', async () => {
    const store = await makeBed().open()
    expect(await store.append([itemOf('s', NOTHING)])).toEqual([{ kind: 'fenced' }])
    expect(await store.acquire('s')).toEqual({ kind: 'owned', fence: SUITE_FENCE, head: NOTHING })
    expect(await store.append([{ ...itemOf('s', NOTHING), fence: SUITE_FENCE - 1 }])).toEqual([{ kind: 'fenced' }])
    expect(await store.append([itemOf('s', NOTHING)])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    await store.release('s')
    expect(await store.append([itemOf('s', after(NOTHING))])).toEqual([{ kind: 'fenced' }])
    const snapshot = { through: 1, generation: 'g', bytes: bytesOf('x') }
    expect(await store.compact('s', SUITE_FENCE, snapshot)).toEqual({ kind: 'fenced' })
    expect(await store.head('s')).toEqual(after(NOTHING))
    await store.close()
  })

  test('R5 when ownership cannot be proved nothing more is written, and every claim is lost', async () => {
    const bed = makeBed()
    let isLost = false
    const store = await bed.open({
      prove: () => {
        if (isLost) throw new Error('the root is gone')
      },
    })
    await own(store, 'a', 'b')
    await store.append([itemOf('a', NOTHING)])
    const lost: string[] = []
    const healths: string[] = []
    store.on('lost', session => lost.push(session))
    store.on('health', health => healths.push(health))
    isLost = true
    const refused = { kind: 'failed', code: 'ownership_lost', message: 'the root is gone' }
    const writes = [store.append([itemOf('a', after(NOTHING))]), store.append([itemOf('b', NOTHING)])]
    expect(await Promise.all(writes)).toEqual([[refused], [refused]])
    isLost = false
    expect(await store.append([itemOf('b', NOTHING)])).toEqual([refused])
    expect(lost.sort()).toEqual(['a', 'b'])
    expect(healths).toEqual(['fault'])
    expect(await store.head('a')).toEqual(after(NOTHING))
    await store.close()
    const again = await bed.open()
    expect(await again.head('b')).toEqual(NOTHING)
    await again.close()
  })

  test('R10 closing waits for what was given before and refuses what comes later', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await own(store, 's')
    const pending = store.append([itemOf('s', NOTHING)])
    const closing = store.close()
    const late = await store.append([itemOf('s', after(NOTHING))])
    await Promise.all([closing, store.close()])
    expect(await pending).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    expect(late).toMatchObject([{ kind: 'failed', code: 'invalid_lease' }])
    await expect(store.putRootRecord('epoch', bytesOf('1'))).rejects.toMatchObject({ code: 'invalid_lease' })
    const again = await bed.open()
    expect(await again.head('s')).toEqual(after(NOTHING))
    await again.close()
  })
}
