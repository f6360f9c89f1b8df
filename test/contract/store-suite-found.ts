import { expect, test } from 'vitest'
import {
  bytesOf,
  itemOf,
  ledgerTexts,
  NOTHING,
  own,
  type StoreBed,
  SUITE_FENCE,
  textOf,
} from '../support/store-items.ts'

const SNAPSHOT = { through: 1, generation: 'g1', bytes: bytesOf('document') }
const ROWS = [
  { kind: 'session' as const, id: 's', value: bytesOf('header') },
  { kind: 'turn' as const, id: 't1', value: bytesOf('turn') },
]

function records(from: number, to: number) {
  return Array.from({ length: to - from + 1 }, (_, i) => ({ revision: from + i, bytes: bytesOf(`record ${from + i}`) }))
}

/** What taking a whole session over does. */
export function foundRules(makeBed: () => StoreBed): void {
  test('A3 D5 records that are put are nobody’s until their session is founded, and then it goes on from there', async () => {
    const bed = makeBed()
    const store = await bed.open()
    await own(store, 's')
    expect(await store.putRecords('s', SUITE_FENCE, records(1, 3))).toMatchObject({ kind: 'committed', head: NOTHING })
    expect(await store.putRecords('s', SUITE_FENCE, records(4, 4))).toMatchObject({ kind: 'committed', head: NOTHING })
    expect([await store.head('s'), await store.sessions(undefined, 10)]).toEqual([NOTHING, []])
    const head = { revision: 4, update: 1 }
    const start = { revision: 4, snapshot: SNAPSHOT, rows: ROWS }
    expect(await store.found('s', SUITE_FENCE, start)).toEqual({ kind: 'committed', head })
    const next = itemOf('s', head)
    expect(await store.append([next])).toEqual([{ kind: 'committed', head: { revision: 5, update: 2 } }])
    await store.close()

    const again = await bed.open()
    expect(await again.sessions(undefined, 10)).toEqual(['s'])
    expect(await ledgerTexts(again, 's')).toEqual([1, 2, 3, 4, 5].map(revision => `record ${revision}`))
    expect((await again.document('s')).snapshot).toEqual({ ...SNAPSHOT, bytes: expect.anything() })
    expect([textOf(await again.row('session', '', 's')), textOf(await again.row('turn', 's', 't1'))]).toEqual([
      'header',
      'turn',
    ])
    await again.close()
  })

  test('A3 D5 a session that is there is never founded again, and without a claim nothing is', async () => {
    const store = await makeBed().open()
    const start = { revision: 1, snapshot: SNAPSHOT, rows: [] }
    expect(await store.putRecords('s', SUITE_FENCE, records(1, 1))).toEqual({ kind: 'fenced' })
    expect(await store.found('s', SUITE_FENCE, start)).toEqual({ kind: 'fenced' })
    await own(store, 's')
    await store.append([itemOf('s', NOTHING, 2)])
    await expect(store.putRecords('s', SUITE_FENCE, records(1, 1))).rejects.toThrow(RangeError)
    await expect(store.found('s', SUITE_FENCE, start)).rejects.toThrow(RangeError)
    expect(await ledgerTexts(store, 's')).toEqual(['record 1', 'record 2'])
    await store.close()
  })

  test('D5 what was put without an end is purged', async () => {
    const store = await makeBed().open()
    await own(store, 's')
    await store.putRecords('s', SUITE_FENCE, records(1, 5))
    await store.putRows('s', [{ kind: 'turn', id: 't1', value: bytesOf('turn') }])
    await store.release('s')
    while (!(await store.purge('s', { receipts: [], segmentsThrough: null }, 2))) {}
    expect([await ledgerTexts(store, 's'), await store.rows('turn', 's'), await store.head('s')]).toEqual([
      [],
      [],
      NOTHING,
    ])
    await store.close()
  })
}
