import { expect, test } from 'vitest'
import { verifyRoot } from '../../leader/verify/verify-root.ts'
import { verifySession } from '../../leader/verify/verify-session.ts'
import type { Fault } from '../../schema/commands/host.ts'
import { keepBusy } from '../support/session/crowd.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'

async function open(): Promise<SessionWorld> {
  const world = await SessionWorld.inMemory()
  for (const id of ['s-0', SESSION, 's-2']) await world.create(id)
  const run = await world.start(SESSION, 't-1')
  await world.during(run.text('open text'))
  await world.ok('session.update', { sessionId: SESSION, expectedRevision: 2, patch: { title: 'x' } })
  await world.during(run.text(' and more'))
  return world
}

async function walk(world: SessionWorld): Promise<{ faults: Fault[]; sessions: number; records: number }> {
  const faults: Fault[] = []
  const progress: number[] = []
  const steps = verifyRoot(world.store, ({ sessions }) => progress.push(sessions))
  for (;;) {
    const step = await steps.next()
    if (step.done) {
      expect(progress).toEqual([1, 2, 3])
      return { faults, sessions: step.value.sessions, records: step.value.records }
    }
    faults.push(step.value)
  }
}

const edit = (bytes: Uint8Array, from: string, to: string): Uint8Array =>
  Buffer.from(Buffer.from(bytes).toString('utf8').replace(from, to))

test('A8 a healthy root has no faults: ledgers fold to what the documents show, open text apart', async () => {
  const world = await open()
  expect(await walk(world)).toEqual({ faults: [], sessions: 3, records: 6 })
})

test.each<[kind: string, damage: (world: SessionWorld) => void]>([
  [
    'hash_mismatch',
    ({ store }) => {
      const { ledger } = store
      store.ledger = async (...given) =>
        (await ledger.apply(store, given)).map(row =>
          given[0] === SESSION && row.revision === 2 ? { ...row, bytes: edit(row.bytes, 'prompt', 'PROMPT') } : row,
        )
    },
  ],
  [
    'ledger_gap',
    ({ store }) => {
      const { ledger } = store
      store.ledger = async (...given) =>
        (await ledger.apply(store, given)).filter(row => given[0] !== SESSION || row.revision !== 3)
    },
  ],
  [
    'record_unreadable',
    ({ store }) => {
      const { ledger } = store
      store.ledger = async (...given) =>
        (await ledger.apply(store, given)).map(row =>
          given[0] === SESSION ? { ...row, bytes: new Uint8Array([1, 2]) } : row,
        )
    },
  ],
  [
    'gap',
    ({ store }) => {
      const { document } = store
      store.document = async session => {
        const stored = await document.call(store, session)
        return session === SESSION ? { ...stored, updates: stored.updates.filter(u => u.number !== 2) } : stored
      }
    },
  ],
  [
    'head_missing',
    ({ store }) => {
      const { head } = store
      store.head = async session => (session === SESSION ? { revision: 0, update: 0 } : head.call(store, session))
    },
  ],
  [
    'ledger_beyond_head',
    ({ store }) => {
      const { head, document } = store
      store.head = async session => {
        const at = await head.call(store, session)
        return session === SESSION ? { revision: at.revision - 1, update: at.update - 2 } : at
      }
      store.document = async session => document.call(store, session)
    },
  ],
  [
    'unreadable',
    ({ store }) => {
      const { ledger } = store
      store.ledger = (...given) =>
        given[0] === SESSION ? Promise.reject(new Error('checksum mismatch')) : ledger.apply(store, given)
    },
  ],
])('A8 A9 %s is found, with its session and revision, and the walk goes on', async (kind, damage) => {
  const world = await open()
  damage(world)
  const { faults, sessions } = await walk(world)
  expect(sessions).toBe(3)
  expect(faults.length).toBeGreaterThan(0)
  expect(faults.map(fault => fault.kind)).toContain(kind)
  expect(faults.every(fault => fault.sessionId === SESSION && fault.code === 'session_damaged')).toBe(true)
  expect(faults.every(fault => typeof fault.revision === 'number')).toBe(true)
})

test('A8 a root is walked while it is written, shortened and built anew: what is written meanwhile is no fault', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  let revision = 0
  const faults: Fault[] = []
  let walks = 0
  const verify = async (): Promise<void> => {
    const check = await verifySession(world.store, SESSION)
    faults.push(...check.faults)
    walks += 1
  }
  await keepBusy(world, () => {
    if (revision === 2_500) return null
    revision += 1
    if (revision % 250 === 0) void verify()
    const patch = { title: `${'long title '.repeat(16)}${revision}` }
    return world.ok('session.update', { sessionId: SESSION, expectedRevision: revision, patch })
  })
  await settle()
  await verify()
  expect(faults).toEqual([])
  expect(walks).toBeGreaterThan(5)
  expect((await world.store.document(SESSION)).snapshot).not.toBeNull()
})
