import { describe, expect, test } from 'vitest'
import type { AppendItem, SessionHead, Store, StoredTransition } from '../../leader/log/store.ts'
import { LIMITS } from '../../schema/limits.ts'
import { seededRandom, testSeed } from '../support/random.ts'

/** How a store under test is opened, on a place of its own for each test. */
export interface StoreBed {
  open(options?: { readonly prove?: () => void }): Promise<Store>
}

const FENCE = 7
const NOTHING: SessionHead = { revision: 0, update: 0 }
const utf8 = new TextEncoder()
const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes)

/** The fence of every store in the suite. */
export const SUITE_FENCE = FENCE

/** A transition on top of `head` whose record and update say where they belong. */
export function nextTransition(head: SessionHead, more: Partial<StoredTransition> = {}): StoredTransition {
  const revision = head.revision + 1
  const number = head.update + 1
  return {
    record: { revision, bytes: utf8.encode(`record ${revision}`) },
    update: { number, bytes: utf8.encode(`update ${number}`) },
    ...more,
  }
}

/** The head after `count` such transitions. */
export function after(head: SessionHead, count = 1): SessionHead {
  return { revision: head.revision + count, update: head.update + count }
}

/** An item of `count` such transitions. */
export function itemOf(
  session: string,
  head: SessionHead,
  count = 1,
  more: Partial<StoredTransition> = {},
): AppendItem {
  const transitions = Array.from({ length: count }, (_, index) => nextTransition(after(head, index), more))
  return { session, fence: FENCE, expectedHead: head, transitions }
}

async function owned(store: Store, ...sessions: readonly string[]): Promise<void> {
  for (const session of sessions) expect(await store.acquire(session)).toMatchObject({ kind: 'owned', fence: FENCE })
}

async function ids(rows: ReturnType<Store['rows']>): Promise<string[]> {
  return (await rows).map(row => row.id)
}

async function ledgerTexts(store: Store, session: string): Promise<(string | undefined)[]> {
  return (await store.ledger(session, 0, 1_000)).map(record => text(record.bytes))
}

/** What every Store does. `makeBed` gives each test a place of its own. */
export function storeSuite(name: string, makeBed: () => StoreBed): void {
  describe(name, () => {
    appendRules(makeBed)
    claimRules(makeBed)
    readRules(makeBed)
    compactionRules(makeBed)
    recordRules(makeBed)
    modelRule(makeBed)
  })
}

function appendRules(makeBed: () => StoreBed): void {
  test('A3 a transition is stored whole, and is there when the store is opened again', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await owned(store, 's')
    const transition = nextTransition(NOTHING, {
      receipt: { operation: 'queue.submit', id: 'm1', body: utf8.encode('done') },
      rows: [
        { kind: 'session', id: 's', value: utf8.encode('header') },
        { kind: 'turn', id: 't1', value: utf8.encode('turn') },
      ],
    })
    const item = { session: 's', fence: FENCE, expectedHead: NOTHING, transitions: [transition] }
    expect(await store.append([item])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    await store.close()

    const again = await bed.open()
    expect(await again.head('s')).toEqual(after(NOTHING))
    expect(await again.acquire('s')).toEqual({ kind: 'owned', fence: FENCE, head: after(NOTHING) })
    expect(await ledgerTexts(again, 's')).toEqual(['record 1'])
    const document = await again.document('s')
    expect(document.snapshot).toBeNull()
    expect(document.updates.map(update => [update.number, text(update.bytes)])).toEqual([[1, 'update 1']])
    expect(text(await again.receipt('s', 'queue.submit', 'm1'))).toBe('done')
    expect(text(await again.row('session', '', 's'))).toBe('header')
    expect(text(await again.row('turn', 's', 't1'))).toBe('turn')
    await again.close()
  })

  test('A5 a receipt alone is stored and leaves the head where it is; its scope is session, operation and id', async () => {
    const store = await makeBed().open()
    await owned(store, 's', 'empty')
    await store.append([itemOf('s', NOTHING)])
    const receipt = { operation: 'session.update', id: 'op1', body: utf8.encode('same') }
    const item = { session: 's', fence: FENCE, expectedHead: after(NOTHING), transitions: [{ receipt }] }
    expect(await store.append([item])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    const nowhere = { session: 'empty', fence: FENCE, expectedHead: NOTHING, transitions: [{ receipt }] }
    expect(await store.append([nowhere])).toEqual([{ kind: 'committed', head: NOTHING }])
    expect(text(await store.receipt('s', 'session.update', 'op1'))).toBe('same')
    expect(await store.receipt('s', 'session.updat', 'op1')).toBeUndefined()
    expect(await store.receipt('t', 'session.update', 'op1')).toBeUndefined()
    expect(await store.sessions(undefined, 10)).toEqual(['s'])
    await store.close()
  })

  test('A3 an item decided on another head is refused with the head there is, and leaves nothing', async () => {
    const store = await makeBed().open()
    await owned(store, 's')
    await store.append([itemOf('s', NOTHING, 2)])
    const stale = itemOf('s', NOTHING, 1, { rows: [{ kind: 'turn', id: 'stale', value: utf8.encode('x') }] })
    expect(await store.append([stale])).toEqual([{ kind: 'conflict', head: after(NOTHING, 2) }])
    const ahead = itemOf('s', after(NOTHING, 5))
    expect(await store.append([ahead])).toEqual([{ kind: 'conflict', head: after(NOTHING, 2) }])
    expect(await store.row('turn', 's', 'stale')).toBeUndefined()
    expect(await ledgerTexts(store, 's')).toEqual(['record 1', 'record 2'])
    await store.close()
  })

  test('D1 a gap in revisions or in update numbers is never stored', async () => {
    const store = await makeBed().open()
    await owned(store, 's')
    const bytes = utf8.encode('x')
    const gaps: StoredTransition[][] = [
      [{ record: { revision: 2, bytes } }],
      [{ record: { revision: 1, bytes }, update: { number: 2, bytes } }],
      [{ record: { revision: 1, bytes } }, { record: { revision: 1, bytes } }],
    ]
    for (const transitions of gaps) {
      const item = { session: 's', fence: FENCE, expectedHead: NOTHING, transitions }
      await expect(store.append([item])).rejects.toThrow(RangeError)
    }
    expect(await store.head('s')).toEqual(NOTHING)
    expect(await store.append([itemOf('s', NOTHING)])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    await store.close()
  })

  test('A3 what is given without waiting is stored in order, and its outcomes come in order', async () => {
    const store = await makeBed().open()
    await owned(store, 's')
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
    await owned(store, 's', 'm')
    const big = new Uint8Array(LIMITS.batchBytes + 1).fill(7)
    const transitions = [{ record: { revision: 1, bytes: utf8.encode('r') }, update: { number: 1, bytes: big } }]
    const [large, many] = await store.append([
      { session: 's', fence: FENCE, expectedHead: NOTHING, transitions },
      itemOf('m', NOTHING, LIMITS.batchTransitions + 1),
    ])
    expect(large).toEqual({ kind: 'committed', head: after(NOTHING) })
    expect(many).toEqual({ kind: 'committed', head: after(NOTHING, LIMITS.batchTransitions + 1) })
    expect((await store.document('s')).updates[0]?.bytes.byteLength).toBe(big.byteLength)
    await store.close()
  })

  test('S6 an atomic group is stored whole or not at all; items without it stand alone', async () => {
    const store = await makeBed().open()
    await owned(store, 'a', 'b')
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
    expect(await store.acquire('s')).toEqual({ kind: 'owned', fence: FENCE, head: NOTHING })
    expect(await store.append([{ ...itemOf('s', NOTHING), fence: FENCE - 1 }])).toEqual([{ kind: 'fenced' }])
    expect(await store.append([itemOf('s', NOTHING)])).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    await store.release('s')
    expect(await store.append([itemOf('s', after(NOTHING))])).toEqual([{ kind: 'fenced' }])
    const snapshot = { through: 1, generation: 'g', bytes: utf8.encode('x') }
    expect(await store.compact('s', FENCE, snapshot)).toEqual({ kind: 'fenced' })
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
    await owned(store, 'a', 'b')
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
    await owned(store, 's')
    const pending = store.append([itemOf('s', NOTHING)])
    const closing = store.close()
    const late = await store.append([itemOf('s', after(NOTHING))])
    await Promise.all([closing, store.close()])
    expect(await pending).toEqual([{ kind: 'committed', head: after(NOTHING) }])
    expect(late).toMatchObject([{ kind: 'failed', code: 'invalid_lease' }])
    await expect(store.putRootRecord('epoch', utf8.encode('1'))).rejects.toMatchObject({ code: 'invalid_lease' })
    const again = await bed.open()
    expect(await again.head('s')).toEqual(after(NOTHING))
    await again.close()
  })
}

function readRules(makeBed: () => StoreBed): void {
  test('A7 rows come in order of their ids, in pages, forwards and backwards', async () => {
    const store = await makeBed().open()
    await owned(store, 's')
    const rows = ['c', 'a', 'e', 'b', 'd'].map(id => ({ kind: 'pending' as const, id, value: utf8.encode(id) }))
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
    await owned(store, ...sessions)
    for (const session of sessions) {
      const rows = [{ kind: 'turn' as const, id: 't', value: utf8.encode(session) }]
      await store.append([itemOf(session, NOTHING, 1, { rows })])
    }
    for (const session of sessions) {
      expect((await store.rows('turn', session)).map(row => [row.id, text(row.value)])).toEqual([['t', session]])
      expect(await ledgerTexts(store, session)).toEqual(['record 1'])
      expect((await store.document(session)).updates).toHaveLength(1)
    }
    expect(await store.sessions(undefined, 10)).toEqual(['S', 's', 's-1', 's1', 's_'])
    expect(await store.sessions('s', 2)).toEqual(['s-1', 's1'])
    await store.close()
  })

  test('A3 of several writes to one row the last one counts, in one batch and in several', async () => {
    const store = await makeBed().open()
    await owned(store, 's')
    const write = (value: string | null) => ({
      rows: [{ kind: 'active' as const, id: 's', value: value === null ? null : utf8.encode(value) }],
    })
    const values = ['1', null, '2', '3', null, '4']
    await Promise.all(values.map((value, index) => store.append([itemOf('s', after(NOTHING, index), 1, write(value))])))
    expect(text(await store.row('active', '', 's'))).toBe('4')
    await store.append([itemOf('s', after(NOTHING, values.length), 1, write(null))])
    expect(await store.row('active', '', 's')).toBeUndefined()
    expect(await ids(store.rows('active', ''))).toEqual([])
    await store.close()
  })

  test('A8 the ledger is read in order of revision, from any point, a page at a time', async () => {
    const store = await makeBed().open()
    await owned(store, 's')
    await store.append([itemOf('s', NOTHING, 120)])
    const page = await store.ledger('s', 98, 12)
    expect(page.map(record => record.revision)).toEqual(Array.from({ length: 12 }, (_, index) => 99 + index))
    expect((await store.ledger('s', 118, 12)).map(record => text(record.bytes))).toEqual(['record 119', 'record 120'])
    expect(await store.ledger('s', 120, 12)).toEqual([])
    await store.close()
  })
}

function compactionRules(makeBed: () => StoreBed): void {
  test('A7 compaction replaces the log through a number by one snapshot and keeps what came later', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await owned(store, 's', 's-1')
    const receipt = { operation: 'queue.submit', id: 'm', body: utf8.encode('kept') }
    await store.append([itemOf('s', NOTHING, 10, { receipt }), itemOf('s-1', NOTHING, 3)])
    const snapshot = { through: 8, generation: 'gen-Ü', bytes: utf8.encode('eight') }
    expect(await store.compact('s', FENCE, snapshot)).toEqual({ kind: 'committed', head: after(NOTHING, 10) })
    await store.close()

    const again = await bed.open()
    await owned(again, 's')
    const document = await again.document('s')
    expect({ ...document.snapshot, bytes: text(document.snapshot?.bytes) }).toEqual({ ...snapshot, bytes: 'eight' })
    expect(document.updates.map(update => update.number)).toEqual([9, 10])
    expect((await again.document('s-1')).updates).toHaveLength(3)
    expect(await ledgerTexts(again, 's')).toHaveLength(10)
    expect(text(await again.receipt('s', 'queue.submit', 'm'))).toBe('kept')
    await again.compact('s', FENCE, { through: 10, generation: 'g2', bytes: utf8.encode('ten') })
    expect(await again.append([itemOf('s', after(NOTHING, 10))])).toMatchObject([{ kind: 'committed' }])
    const later = await again.document('s')
    expect([later.snapshot?.generation, later.updates.map(update => update.number)]).toEqual(['g2', [11]])
    await again.close()
  })

  test('A2 a document read while it is compacted is whole: before or after, never between', async () => {
    const store = await makeBed().open()
    await owned(store, 's')
    let head = NOTHING
    for (let round = 1; round <= 20; round += 1) {
      await store.append([itemOf('s', head, 10)])
      head = after(head, 10)
      const compacting = store.compact('s', FENCE, {
        through: head.update - 3,
        generation: `g${round}`,
        bytes: utf8.encode('x'),
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
    await owned(store, 's')
    await store.append([itemOf('s', NOTHING)])
    const snapshot = { through: 2, generation: 'g', bytes: utf8.encode('x') }
    await expect(store.compact('s', FENCE, snapshot)).rejects.toThrow(RangeError)
    expect((await store.document('s')).snapshot).toBeNull()
    await store.close()
  })
}

function recordRules(makeBed: () => StoreBed): void {
  test('L5 an artifact is visible when it is named, and its pieces not before', async () => {
    const bed = makeBed()
    const store = await bed.open()
    const hash = `sha256:${'ab'.repeat(32)}`
    await Promise.all([0, 1, 2].map(index => store.putArtifactPiece(hash, index, utf8.encode(`piece ${index}`))))
    expect(await store.artifact(hash)).toBeUndefined()
    expect(await store.artifactPiece(hash, 1)).toBeUndefined()
    await store.putArtifact(hash, { bytes: 21, mimeType: 'text/plain; charset=utf-8' })
    await store.close()
    const again = await bed.open()
    expect(await again.artifact(hash)).toEqual({ bytes: 21, mimeType: 'text/plain; charset=utf-8' })
    expect(text(await again.artifactPiece(hash, 2))).toBe('piece 2')
    expect(await again.artifactPiece(hash, 3)).toBeUndefined()
    await again.close()
  })

  test('E1 root records are kept and replaced', async () => {
    const bed = makeBed()
    const store = await bed.open()
    expect(await store.rootRecord('epoch')).toBeUndefined()
    await store.putRootRecord('epoch', utf8.encode('1'))
    await store.putRootRecord('epoch', utf8.encode('2'))
    await store.close()
    const again = await bed.open()
    expect(text(await again.rootRecord('epoch'))).toBe('2')
    await again.close()
  })

  test('W4 what would break the order of keys is refused', async () => {
    const store = await makeBed().open()
    for (const session of ['', 'a!b', 'a b', 'ä', 'x'.repeat(513)]) {
      await expect(store.acquire(session)).rejects.toThrow(RangeError)
    }
    await owned(store, 's')
    const rows = [{ kind: 'turn' as const, id: 'ü', value: utf8.encode('x') }]
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

function modelRule(makeBed: () => StoreBed): void {
  test('A8 after any mix of writes, compactions and restarts the store holds what was committed', async () => {
    const seed = testSeed()
    const random = seededRandom(seed)
    const bed = makeBed()
    const names = ['a', 'b', 'a-b']
    const models = new Map<string, Model>(names.map(name => [name, { head: NOTHING, through: 0, turns: new Map() }]))
    let store = await bed.open()
    await owned(store, ...names)
    for (let step = 0; step < 150; step += 1) {
      const [session, model] = random.pick([...models])
      const kind = random.between(0, 9)
      if (kind === 0) {
        await store.close()
        store = await bed.open()
        await owned(store, ...names)
      } else if (kind === 1 && model.head.update > 0) {
        model.through = random.between(model.through, model.head.update)
        await store.compact(session, FENCE, { through: model.through, generation: `${step}`, bytes: utf8.encode('d') })
      } else {
        await modelAppend(store, session, model, random)
      }
    }
    for (const [session, model] of models) {
      const { snapshot, updates } = await store.document(session)
      const numbers = Array.from({ length: model.head.update - model.through }, (_, index) => model.through + index + 1)
      const turns = (await store.rows('turn', session)).map(row => [row.id, text(row.value)])
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

async function modelAppend(
  store: Store,
  session: string,
  model: Model,
  random: ReturnType<typeof seededRandom>,
): Promise<void> {
  const count = random.between(1, 4)
  const id = `t${random.between(0, 9)}`
  const value = random.next() < 0.3 ? null : `${model.head.revision}`
  const rows = [{ kind: 'turn' as const, id, value: value === null ? null : utf8.encode(value) }]
  const item = itemOf(session, model.head, count, { rows })
  const stale = itemOf(session, after(model.head, count + 1))
  const outcomes = await Promise.all([store.append([item]), store.append([stale])])
  model.head = after(model.head, count)
  expect(outcomes).toEqual([[{ kind: 'committed', head: model.head }], [{ kind: 'conflict', head: model.head }]])
  if (value === null) model.turns.delete(id)
  else model.turns.set(id, value)
}
