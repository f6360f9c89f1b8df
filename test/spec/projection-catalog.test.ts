import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { CatalogDocument } from '../../leader/projection/catalog-document.ts'
import { Room } from '../../leader/projection/room.ts'
import type { CatalogRow } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import { CATALOG_ROWS, newDocument, readHead, readOrigin } from '../../schema/projection/layout.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { RoomSocket } from '../support/room-socket.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

function row(sessionId: string, patch: Partial<CatalogRow> = {}): CatalogRow {
  return {
    sessionId,
    title: 'A title',
    status: 'idle',
    isArchived: false,
    lastActivityAt: 1,
    queueCount: 0,
    pendingCount: 0,
    revision: 1,
    ...patch,
  }
}

/** A catalog with its room, wired as the leader does it. */
function stage() {
  const clock = new VirtualClock()
  const updates: { readonly number: number; readonly atMs: number; readonly update: Uint8Array }[] = []
  let short = 0
  const catalog: CatalogDocument = new CatalogDocument({
    clock,
    publish: (number, update) => {
      updates.push({ number, update, atMs: clock.monotonicMs() })
      room.publish(number, update)
    },
    isAttached: () => room.subscribers > 0,
    onRebuilt: () => room.newGeneration(catalog),
    onShort: () => {
      short += 1
    },
  })
  const facts = () => ({ hostEpoch: 'epoch-1', baseRevision: 1, generation: catalog.generation })
  const room: Room = new Room({ document: catalog, clock, facts, onAhead: () => {} })
  const join = (): RoomSocket => {
    const socket = new RoomSocket('a')
    const outcome = room.join({}, socket)
    if (outcome.kind === 'joined') socket.membership = outcome.membership
    socket.ask()
    return socket
  }
  return { clock, updates, catalog, room, join, shortCount: () => short }
}

const rowsOf = (doc: Y.Doc): Record<string, CatalogRow> => doc.getMap(CATALOG_ROWS).toJSON()
const idsOf = (doc: Y.Doc): string[] => [...doc.getMap(CATALOG_ROWS).keys()].sort()

test('S7 an empty catalog is a whole document with a position and a random generation', () => {
  const [one, two] = [stage(), stage()]
  const socket = one.join()
  expect(readHead(socket.doc)).toEqual({ revision: 1, delta: 0, at: one.clock.now() })
  expect(readOrigin(socket.doc)).toEqual({ schema: 1, generation: one.catalog.generation })
  expect(one.catalog.generation).not.toBe(two.catalog.generation)
})

test('S7 changes of one tick travel as one update with the next revision', () => {
  const { clock, catalog, join, updates } = stage()
  const socket = join()
  catalog.setRow(row('s1'))
  catalog.setRow(row('s2'))
  catalog.setRow(row('s1', { title: 'Later' }))
  clock.advance(0)
  expect(updates.map(update => update.number)).toEqual([2])
  expect(readHead(socket.doc)?.revision).toBe(2)
  expect(rowsOf(socket.doc)).toEqual({ s1: row('s1', { title: 'Later' }), s2: row('s2') })
  catalog.setRow(row('s2'))
  catalog.removeRow('unknown')
  clock.advance(10_000)
  expect(updates.length).toBe(1)
})

test('S7 a row changes at most four times a second, ends on its newest state, and holds up no other row', () => {
  const { clock, catalog, join, updates } = stage()
  const socket = join()
  let changes = 0
  let last: unknown
  socket.onDocument = () => {
    const shown = rowsOf(socket.doc).busy?.revision
    if (shown !== last) changes += 1
    last = shown
  }
  for (let i = 1; i <= 300; i++) {
    catalog.setRow(row('busy', { revision: i, lastActivityAt: i }))
    if (i === 100) catalog.setRow(row('calm'))
    clock.advance(10)
    if (i === 110) expect(rowsOf(socket.doc).calm).toEqual(row('calm'))
  }
  clock.advance(250)
  expect(rowsOf(socket.doc).busy?.revision).toBe(300)
  expect(changes).toBeGreaterThanOrEqual(10)
  expect(changes).toBeLessThanOrEqual(13)
  const gaps = updates.slice(1).map((update, i) => update.atMs - (updates[i]?.atMs ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(LIMITS.catalogTickMs)
  expect(clock.scheduled).toBe(1)
})

test('S7 archived and removed sessions leave the catalog', () => {
  const { clock, catalog, join } = stage()
  for (const id of ['s1', 's2', 's3']) catalog.setRow(row(id))
  clock.advance(0)
  const socket = join()
  catalog.setRow(row('s1', { isArchived: true }))
  catalog.removeRow('s2')
  clock.advance(250)
  expect(idsOf(socket.doc)).toEqual(['s3'])
  catalog.setRow(row('s1'))
  clock.advance(250)
  expect(idsOf(socket.doc)).toEqual(['s1', 's3'])
})

test('S7 the catalog shows the 500 most recently active sessions, whatever the order they come in', () => {
  const { clock, catalog, join } = stage()
  const socket = join()
  const random = seededRandom(testSeed())
  const order = Array.from({ length: 900 }, (_, i) => i)
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.between(0, i)
    const [a, b] = [order[i] as number, order[j] as number]
    order[i] = b
    order[j] = a
  }
  for (const i of order) catalog.setRow(row(`s${i}`, { lastActivityAt: i }))
  clock.advance(0)
  const newest = Array.from({ length: 500 }, (_, i) => `s${i + 400}`)
  expect(idsOf(socket.doc), `seed ${random.seed}`).toEqual(newest.sort())
  catalog.setRow(row('s7', { lastActivityAt: 5_000 }))
  catalog.removeRow('s899')
  clock.advance(250)
  expect(idsOf(socket.doc), `seed ${random.seed}`).toEqual([...newest.filter(id => id !== 's899'), 's7'].sort())
})

test('A7 sessions beyond the candidates are forgotten, and asked for again when rows run short', () => {
  const { clock, catalog, shortCount } = stage()
  for (let i = 0; i < 2_500; i++) catalog.setRow(row(`s${i}`, { lastActivityAt: i }))
  clock.advance(0)
  expect(idsOf(catalog.doc)).toEqual(Array.from({ length: 500 }, (_, i) => `s${i + 2_000}`).sort())
  for (let i = 1_100; i < 2_500; i++) catalog.removeRow(`s${i}`)
  clock.advance(300)
  expect(shortCount()).toBe(1)
  for (let i = 600; i < 1_100; i++) catalog.setRow(row(`s${i}`, { lastActivityAt: i }))
  clock.advance(300)
  expect(idsOf(catalog.doc)).toEqual(Array.from({ length: 500 }, (_, i) => `s${i + 600}`).sort())
  expect(shortCount()).toBe(1)
})

test('V7 a catalog nobody watches is built anew when more than half of it is garbage', () => {
  const { clock, catalog, join } = stage()
  const first = catalog.generation
  for (let i = 0; i < 400; i++) {
    catalog.setRow(row(`s${i}`))
    clock.advance(250)
    catalog.removeRow(`s${i}`)
    clock.advance(250)
  }
  expect(catalog.generation).not.toBe(first)
  expect(catalog.encode().length).toBeLessThan(5_000)
  const socket = join()
  expect(readHead(socket.doc)?.revision).toBe(catalog.number)
  catalog.setRow(row('new'))
  clock.advance(250)
  expect(idsOf(socket.doc)).toEqual(['new'])
})

test('V7 while somebody watches the catalog keeps its generation until 1 MiB of garbage, then closes the old copies', () => {
  const { clock, catalog, join } = stage()
  const socket = join()
  const first = catalog.generation
  const ids = Array.from({ length: 200 }, (_, i) => `session-${i}-${'x'.repeat(90)}`)
  let rounds = 0
  for (; socket.closed === undefined && rounds < 900; rounds++) {
    for (const id of ids) catalog.setRow(row(id, { revision: rounds, lastActivityAt: rounds }))
    if (rounds < 100) expect(catalog.generation).toBe(first)
    clock.advance(250)
  }
  expect(socket.closed).toEqual({ code: 4410, reason: 'other_generation' })
  expect(catalog.generation).not.toBe(first)
  expect(catalog.stats().garbageBytes).toBeLessThan(1_000)
  const fresh = newDocument()
  Y.applyUpdate(fresh, catalog.encode())
  expect(Object.keys(rowsOf(fresh)).length).toBe(200)
})

test('S7 a closed catalog leaves nothing scheduled', () => {
  const { clock, catalog } = stage()
  catalog.setRow(row('s1'))
  expect(clock.scheduled).toBe(1)
  catalog.close()
  expect(clock.scheduled).toBe(0)
})
