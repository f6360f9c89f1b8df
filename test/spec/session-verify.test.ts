import { expect, test } from 'vitest'
import { Artifacts } from '../../leader/host/artifacts.ts'
import { encodeJson } from '../../leader/session/record.ts'
import { deriveSession } from '../../leader/verify/derive-session.ts'
import { verifyRoot } from '../../leader/verify/verify-root.ts'
import { verifySession } from '../../leader/verify/verify-session.ts'
import type { Fault } from '../../schema/commands/host.ts'
import { LIMITS } from '../../schema/limits.ts'
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

async function walk(world: SessionWorld, count = 3): Promise<{ faults: Fault[]; sessions: number; records: number }> {
  const faults: Fault[] = []
  const progress: number[] = []
  const steps = verifyRoot(world.store, ({ sessions }) => progress.push(sessions))
  for (;;) {
    const step = await steps.next()
    if (step.done) {
      expect(progress).toEqual(Array.from({ length: count }, (_, index) => index + 1))
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
    const frozen = await world.store.freeze()
    const check = await verifySession(frozen, SESSION).finally(() => frozen.close())
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

test('D2 S7 an old place of a session in the order of the list is named, and the list shows the session once', async () => {
  const world = await SessionWorld.inMemory()
  for (const id of ['s-0', SESSION]) {
    await world.create(id)
    await world.advance(1_000)
  }
  const places = (): Promise<string[]> =>
    world.ok('session.list', {}).then(({ sessions }) => sessions.map(({ sessionId }) => sessionId))
  const before = await places()
  const stale = { kind: 'activity' as const, id: `u.000000000000001.${SESSION}`, value: encodeJson(SESSION) }
  await world.store.putRows('', [stale, { kind: 'active', id: 'nobody', value: encodeJson({ since: 1 }) }])
  expect(await places()).toEqual(before)
  const { faults } = await walk(world, 2)
  expect(faults).toEqual([
    expect.objectContaining({
      kind: 'row_orphan',
      sessionId: 'nobody',
      message: 'the row active nobody names no session',
    }),
    expect.objectContaining({ kind: 'row_orphan', sessionId: SESSION }),
  ])
})

test('D2 L5 an artifact that a session names and that is missing, and one that is not what its name says, are named', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const artifacts = new Artifacts(world.store, world.sessions.env.artifacts, () => world.clock.now())
  const put = async (text: string): Promise<string> => (await artifacts.put(Buffer.from(text), 'text/plain')).hash
  const [kept, missing, changed] = [await put('kept'), await put('missing'), await put('changed')]
  const attachments = [kept, missing, changed].map(artifact => ({
    kind: 'file' as const,
    name: 'f',
    mimeType: 'text/plain',
    bytes: 4,
    ref: { artifact },
  }))
  await world.ok('turn.start', { sessionId: SESSION, turnId: 't', content: { text: 'look', attachments } })
  expect((await walk(world, 1)).faults).toEqual([])
  await world.store.putArtifactPiece(changed, 0, Buffer.from('CHANGED'))
  await world.store.removeArtifact(missing, [])
  expect((await walk(world, 1)).faults).toEqual([
    expect.objectContaining({ kind: 'artifact_missing', sessionId: SESSION, revision: 2 }),
    expect.objectContaining({ kind: 'artifact_damaged', message: expect.stringContaining(changed) }),
  ])
})

test('D2 A7 rows that take more memory than they may are looked at in parts, and not one fault is lost or told twice', async () => {
  const world = await open()
  const damaged = await world.store.rowIds('turn', SESSION, { limit: 10 })
  await world.store.putRows(SESSION, [
    { kind: 'turn', id: 't-1', value: encodeJson({}) },
    ...Array.from({ length: 40 }, (_, i) => ({
      kind: 'entry' as const,
      id: `e-${i}`,
      value: encodeJson({ fate: 'removed' }),
    })),
  ])
  const whole = await rowFaults(world, LIMITS.verifyRowBytes)
  expect(damaged).toContain('t-1')
  expect(whole.length).toBe(41)
  expect((await rowFaults(world, 900)).sort()).toEqual(whole.sort())
})

async function rowFaults(world: SessionWorld, rowBytes: number): Promise<string[]> {
  const { revision } = await world.store.head(SESSION)
  const derivation = await deriveSession(world.store, SESSION, { through: revision, note: () => {}, rowBytes })
  const found: string[] = []
  for await (const { fault, kind, id } of derivation.rowFaults()) found.push(`${fault} ${kind} ${id}`)
  return found
}
