import { expect, test } from 'vitest'
import type { SessionHead, Store } from '../../leader/log/store.ts'
import { type SeededRandom, seededRandom, testSeed } from '../support/random.ts'
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

async function ids(rows: ReturnType<Store['rows']>): Promise<string[]> {
  return (await rows).map(row => row.id)
}

/** What reads give. */
export function readRules(makeBed: () => StoreBed): void {
  test('A7 rows come in order of their ids, in pages, forwards and backwards', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    const rows = ['c', 'a', 'e', 'b', 'd'].map(id => ({ kind: 'pending' as const, id, value: bytesOf(id) }))
    await store.append([itemOf('s', NOTHING, 1, { rows })])
    expect(await ids(store.rows('pending', ''))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await ids(store.rows('pending', '', { limit: 2 }))).toEqual(['a', 'b'])
    expect(await ids(store.rows('pending', '', { after: 'b', limit: 2 }))).toEqual(['c', 'd'])
    expect(await ids(store.rows('pending', '', { reverse: true, limit: 2 }))).toEqual(['e', 'd'])
    expect(await ids(store.rows('pending', '', { reverse: true, after: 'c' }))).toEqual(['b', 'a'])
    expect(await ids(store.rows('pending', '', { limit: 0 }))).toEqual([])
    expect(await ids(store.rows('active', ''))).toEqual([])
    await store.close()
  })

  test('A9 rows, ledgers and documents of sessions with like ids do not mix', async () => {
    const store = await makeBed().open()
    const sessions = ['s', 's-1', 's1', 'S', 's_']
    await own(store, ...sessions)
    for (const session of sessions) {
      const rows = [{ kind: 'turn' as const, id: 't', value: bytesOf(session) }]
      await store.append([itemOf(session, NOTHING, 1, { rows })])
    }
    for (const session of sessions) {
      expect((await store.rows('turn', session)).map(row => [row.id, textOf(row.value)])).toEqual([['t', session]])
      expect(await ledgerTexts(store, session)).toEqual(['record 1'])
      expect((await store.document(session)).updates).toHaveLength(1)
    }
    expect(await store.sessions(undefined, 10)).toEqual(['S', 's', 's-1', 's1', 's_'])
    expect(await store.sessions('s', 2)).toEqual(['s-1', 's1'])
    await store.close()
  })

  test('A3 of several writes to one row the last one counts, in one batch and in several', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    const write = (value: string | null) => ({
      rows: [{ kind: 'active' as const, id: 's', value: value === null ? null : bytesOf(value) }],
    })
    const values = ['1', null, '2', '3', null, '4']
    await Promise.all(values.map((value, index) => store.append([itemOf('s', after(NOTHING, index), 1, write(value))])))
    expect(textOf(await store.row('active', '', 's'))).toBe('4')
    await store.append([itemOf('s', after(NOTHING, values.length), 1, write(null))])
    expect(await store.row('active', '', 's')).toBeUndefined()
    expect(await ids(store.rows('active', ''))).toEqual([])
    await store.close()
  })

  test('A8 the ledger is read in order of revision, from any point, a page at a time', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    await store.append([itemOf('s', NOTHING, 120)])
    const page = await store.ledger('s', 98, 12)
    expect(page.map(record => record.revision)).toEqual(Array.from({ length: 12 }, (_, index) => 99 + index))
    expect((await store.ledger('s', 118, 12)).map(record => textOf(record.bytes))).toEqual(['record 119', 'record 120'])
    expect(await store.ledger('s', 120, 12)).toEqual([])
    await store.close()
  })
}

/** What compaction does to a document. */
export function compactionRules(makeBed: () => StoreBed): void {
  test('A7 compaction replaces the log through a number by one snapshot and keeps what came later', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await own(store, 's', 's-1')
    const receipt = { operation: 'queue.submit', id: 'm', body: bytesOf('kept') }
    await store.append([itemOf('s', NOTHING, 10, { receipt }), itemOf('s-1', NOTHING, 3)])
    const snapshot = { through: 8, generation: 'gen-Ü', bytes: bytesOf('eight') }
    expect(await store.compact('s', SUITE_FENCE, snapshot)).toEqual({ kind: 'committed', head: after(NOTHING, 10) })
    await store.close()

    const again = await bed.open()
    await own(again, 's')
    const document = await again.document('s')
    expect({ ...document.snapshot, bytes: textOf(document.snapshot?.bytes) }).toEqual({ ...snapshot, bytes: 'eight' })
    expect(document.updates.map(update => update.number)).toEqual([9, 10])
    expect((await again.document('s-1')).updates).toHaveLength(3)
    expect(await ledgerTexts(again, 's')).toHaveLength(10)
    expect(textOf(await again.receipt('s', 'queue.submit', 'm'))).toBe('kept')
    await again.compact('s', SUITE_FENCE, { through: 10, generation: 'g2', bytes: bytesOf('ten') })
    expect(await again.append([itemOf('s', after(NOTHING, 10))])).toMatchObject([{ kind: 'committed' }])
    const later = await again.document('s')
    expect([later.snapshot?.generation, later.updates.map(update => update.number)]).toEqual(['g2', [11]])
    await again.close()
  })

  test('A2 a document read while it is compacted is whole: before or after, never between', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    let head = NOTHING
    for (let round = 1; round <= 20; round += 1) {
      await store.append([itemOf('s', head, 10)])
      head = after(head, 10)
      const compacting = store.compact('s', SUITE_FENCE, {
        through: head.update - 3,
        generation: `g${round}`,
        bytes: bytesOf('x'),
      })
      const reads = await Promise.all(Array.from({ length: 5 }, () => store.document('s')))
      await compacting
      for (const { snapshot, updates } of reads) {
        const start = snapshot?.through ?? 0
        const numbers = Array.from({ length: head.update - start }, (_, index) => start + index + 1)
        expect(updates.map(update => update.number)).toEqual(numbers)
      }
    }
    await store.close()
  })

  test('A2 a snapshot through what is not on disk yet is not taken', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    await store.append([itemOf('s', NOTHING)])
    const snapshot = { through: 2, generation: 'g', bytes: bytesOf('x') }
    await expect(store.compact('s', SUITE_FENCE, snapshot)).rejects.toThrow(RangeError)
    expect((await store.document('s')).snapshot).toBeNull()
    await store.close()
  })
}

/** Artifacts, root records and keys. */
export function recordRules(makeBed: () => StoreBed): void {
  test('L5 an artifact is visible when it is named, and its pieces not before', async () => {
    const bed = makeBed()
    const store = await bed.open()
    const hash = `sha256:${'ab'.repeat(32)}`
    await Promise.all([0, 1, 2].map(index => store.putArtifactPiece(hash, index, bytesOf(`piece ${index}`))))
    expect(await store.artifact(hash)).toBeUndefined()
    expect(await store.artifactPiece(hash, 1)).toBeUndefined()
    await store.putArtifact(hash, { bytes: 21, mimeType: 'text/plain; charset=utf-8' })
    await store.close()
    const again = await bed.open()
    expect(await again.artifact(hash)).toEqual({ bytes: 21, mimeType: 'text/plain; charset=utf-8' })
    expect(textOf(await again.artifactPiece(hash, 2))).toBe('piece 2')
    expect(await again.artifactPiece(hash, 3)).toBeUndefined()
    await again.close()
  })

  test('E1 root records are kept and replaced', async () => {
    const bed = makeBed()
    const store = await bed.open()
    expect(await store.rootRecord('epoch')).toBeUndefined()
    await store.putRootRecord('epoch', bytesOf('1'))
    await store.putRootRecord('epoch', bytesOf('2'))
    await store.close()
    const again = await bed.open()
    expect(textOf(await again.rootRecord('epoch'))).toBe('2')
    await again.close()
  })

  test('W4 what would break the order of keys is refused', async () => {
    const store = await makeBed().open()
    for (const session of ['', 'a!b', 'a b', 'ä', 'x'.repeat(513)]) {
      await expect(store.acquire(session)).rejects.toThrow(RangeError)
    }
    await own(store, 's')
    const rows = [{ kind: 'turn' as const, id: 'ü', value: bytesOf('x') }]
    await expect(store.append([itemOf('s', NOTHING, 1, { rows })])).rejects.toThrow(RangeError)
    expect(await store.head('s')).toEqual(NOTHING)
    await store.close()
  })
}

interface Model {
  head: SessionHead
  through: number
  turns: Map<string, string>
}

/** A seeded run of everything against a model. */
export function modelRule(makeBed: () => StoreBed): void {
  test('A8 after any mix of writes, compactions and restarts the store holds what was committed', async () => {
    const seed = testSeed()
    const random = seededRandom(seed)
    const bed = makeBed()
    const names = ['a', 'b', 'a-b']
    const models = new Map<string, Model>(names.map(name => [name, { head: NOTHING, through: 0, turns: new Map() }]))
    let store = await bed.open()
    await own(store, ...names)
    for (let step = 0; step < 150; step += 1) {
      const [session, model] = random.pick([...models])
      const kind = random.between(0, 9)
      if (kind === 0) {
        await store.close()
        store = await bed.open()
        await own(store, ...names)
      } else if (kind === 1 && model.head.update > 0) {
        model.through = random.between(model.through, model.head.update)
        await store.compact(session, SUITE_FENCE, {
          through: model.through,
          generation: `${step}`,
          bytes: bytesOf('d'),
        })
      } else {
        await modelAppend(store, session, model, random)
      }
    }
    for (const [session, model] of models) {
      const { snapshot, updates } = await store.document(session)
      const numbers = Array.from({ length: model.head.update - model.through }, (_, index) => model.through + index + 1)
      const turns = (await store.rows('turn', session)).map(row => [row.id, textOf(row.value)])
      const found = {
        head: await store.head(session),
        through: snapshot?.through ?? 0,
        numbers: updates.map(update => update.number),
        records: (await ledgerTexts(store, session)).length,
        turns,
      }
      const expected = {
        head: model.head,
        through: model.through,
        numbers,
        records: model.head.revision,
        turns: [...model.turns].sort(([a], [b]) => (a < b ? -1 : 1)),
      }
      expect(found, `seed ${seed}`).toEqual(expected)
    }
    await store.close()
  })
}

async function modelAppend(store: Store, session: string, model: Model, random: SeededRandom): Promise<void> {
  const count = random.between(1, 4)
  const id = `t${random.between(0, 9)}`
  const value = random.next() < 0.3 ? null : `${model.head.revision}`
  const rows = [{ kind: 'turn' as const, id, value: value === null ? null : bytesOf(value) }]
  const item = itemOf(session, model.head, count, { rows })
  const stale = itemOf(session, after(model.head, count + 1))
  const outcomes = await Promise.all([store.append([item]), store.append([stale])])
  model.head = after(model.head, count)
  expect(outcomes).toEqual([[{ kind: 'committed', head: model.head }], [{ kind: 'conflict', head: model.head }]])
  if (value === null) model.turns.delete(id)
  else model.turns.set(id, value)
}
