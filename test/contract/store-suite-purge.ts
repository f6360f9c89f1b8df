import { expect, test } from 'vitest'
import type { Store } from '../../leader/log/store.ts'
import { bytesOf, itemOf, ledgerTexts, NOTHING, own, type StoreBed, textOf } from '../support/store-items.ts'

const HASH = `sha256:${'cd'.repeat(32)}`
const KEEP_NOTHING = { receipts: [], segmentsThrough: null }
const row = (kind: 'turn' | 'segment', id: string) => ({ kind, id, value: bytesOf(`${kind} ${id}`) })

/** A session with three records, three segments, two turns and three receipts; a longer and a shorter id beside it. */
async function filled(store: Store): Promise<void> {
  for (const session of ['s', 's1', 'r']) {
    await own(store, session)
    const rows = [
      row('turn', 't1'),
      row('turn', 't2'),
      row('segment', '01'),
      row('segment', '05'),
      row('segment', '09'),
    ]
    const receipts = ['session.create', 'turn.start', 'session.delete']
    for (let i = 0; i < 3; i++) {
      const receipt = { operation: receipts[i] ?? '', id: `id-${i}`, body: bytesOf(`receipt ${i}`) }
      const head = i === 0 ? NOTHING : { revision: i, update: i }
      await store.append([itemOf(session, head, 1, { receipt, ...(i === 0 ? { rows } : {}) })])
    }
    await store.release(session)
  }
}

async function left(store: Store, session: string) {
  const ids = async (kind: 'turn' | 'segment') => (await store.rows(kind, session)).map(({ id }) => id)
  return {
    head: await store.head(session),
    ledger: await ledgerTexts(store, session),
    updates: (await store.document(session)).updates.length,
    turns: await ids('turn'),
    segments: await ids('segment'),
    receipts: (await store.receiptKeys(session, undefined, 10)).map(({ operation }) => operation),
  }
}

const NOTHING_LEFT = { head: NOTHING, ledger: [], updates: 0, turns: [], segments: [], receipts: [] }

/** What the removal of sessions and artifacts does. */
export function purgeRules(makeBed: () => StoreBed): void {
  test('S5 a purge goes in bounded steps and leaves nothing of the session, and all of the others', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await filled(store)
    const other = await left(store, 's1')
    let steps = 1
    while (!(await store.purge('s', KEEP_NOTHING, 2))) {
      steps += 1
      // The head goes last: until then the session is known to be there.
      expect((await store.head('s')).revision).toBe(3)
    }
    expect(steps).toBeGreaterThanOrEqual(7)
    expect(await left(store, 's')).toEqual(NOTHING_LEFT)
    expect(await store.purge('s', KEEP_NOTHING, 2)).toBe(true)
    for (const session of ['s1', 'r']) expect(await left(store, session)).toEqual(other)
    await store.squeeze('s')
    for (const artifacts of [[HASH], null]) await store.squeezeShared(artifacts)
    expect(await left(store, 's1')).toEqual(other)
    await store.close()
    const again = await bed.open()
    expect(await left(again, 's')).toEqual(NOTHING_LEFT)
    expect(await left(again, 's1')).toEqual(other)
    await again.close()
  })

  test.each([1, 2, 100])(
    'S5 S6 a purge in steps of %i keeps the receipts and segments that it is told to',
    async limit => {
      const store = await makeBed().open()
      await filled(store)
      const receipts = [
        { operation: 'session.create', id: 'id-0' },
        { operation: 'session.delete', id: 'id-2' },
        { operation: 'session.fork', id: 'nobody' },
      ]
      while (!(await store.purge('s', { receipts, segmentsThrough: '05' }, limit)));
      expect(await left(store, 's')).toEqual({
        ...NOTHING_LEFT,
        segments: ['01', '05'],
        receipts: ['session.create', 'session.delete'],
      })
      expect(textOf((await store.rows('segment', 's'))[0]?.value ?? new Uint8Array())).toBe('segment 01')
      while (!(await store.purge('s', { receipts, segmentsThrough: null }, limit)));
      expect((await left(store, 's')).segments).toEqual([])
      await store.close()
    },
  )

  test('S5 rows outside of any transition are there when they were put, and survive', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await store.putRows('', [
      { kind: 'tombstone', id: 's', value: bytesOf('one') },
      { kind: 'tombstone', id: '!s', value: bytesOf('two') },
    ])
    await store.putRows('', [{ kind: 'tombstone', id: 's', value: null }])
    await store.putRows('', [])
    await store.close()
    const again = await bed.open()
    expect((await again.rows('tombstone', '')).map(({ id, value }) => [id, textOf(value)])).toEqual([['!s', 'two']])
    await again.close()
  })

  test('L5 an artifact goes whole, with what is written beside it', async () => {
    const store = await makeBed().open()
    const others = `sha256:${'ce'.repeat(32)}`
    for (const hash of [HASH, others]) {
      for (const index of [0, 1]) await store.putArtifactPiece(hash, index, bytesOf(`piece ${index}`))
      await store.putArtifact(hash, { bytes: 14, mimeType: 'text/plain' })
    }
    await store.putRows('', [{ kind: 'artifact_use', id: `${HASH}.s`, value: bytesOf('x') }])
    await store.removeArtifact(HASH, [{ kind: 'artifact_use', id: `${HASH}.s`, value: null }])
    expect([await store.artifact(HASH), await store.rows('artifact_use', '')]).toEqual([undefined, []])
    expect(await store.artifact(others)).toEqual({ bytes: 14, mimeType: 'text/plain' })
    // Not even its pieces are there for whoever stores it again.
    await store.putArtifact(HASH, { bytes: 14, mimeType: 'text/plain' })
    expect(await store.artifactPiece(HASH, 0)).toBeUndefined()
    expect(textOf((await store.artifactPiece(others, 1)) ?? new Uint8Array())).toBe('piece 1')
    await store.close()
  })
}
