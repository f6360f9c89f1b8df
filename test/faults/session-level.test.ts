import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { verifyNow } from '../../leader/host/root-operations.ts'
import { openLevelStore } from '../../leader/log/level-store.ts'
import type { Store, StoreHealth } from '../../leader/log/store.ts'
import { KeptCheck } from '../../leader/root-care/kept-check.ts'
import type { Reply } from '../../leader/transport/host-port.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

const SESSION = 's-1'
type Write = () => Promise<void>

interface OnDisk {
  readonly world: SessionWorld<Store>
  readonly health: StoreHealth[]
  /** The next batch is written in this way instead. */
  next(intercept: (write: Write) => Promise<void>): void
}

/** A world on a real LevelDB whose writes the test can make fail. */
async function open(): Promise<OnDisk> {
  let intercept: ((write: Write) => Promise<void>) | undefined
  const store = await openLevelStore({
    path: join(testTempDir('level'), 'db'),
    create: true,
    fence: 1,
    interceptWrite: write => {
      const given = intercept
      intercept = undefined
      return given === undefined ? write() : given(write)
    },
  })
  onTestFinished(() => store.close())
  const world = new SessionWorld({ store })
  const health: StoreHealth[] = []
  store.on('health', seen => health.push(seen))
  await world.create(SESSION)
  return {
    world,
    health,
    next: given => {
      intercept = given
    },
  }
}

function rename(world: SessionWorld<Store>, title: string, expectedRevision: number): Promise<Reply> {
  const patch = { title }
  return world.call('session.update', { sessionId: SESSION, operationId: `op-${title}`, expectedRevision, patch })
}

const failing = async (): Promise<void> => {
  throw Object.assign(new Error('IO error: the disk does not answer'), { code: 'LEVEL_IO_ERROR' })
}

test('E7 A2 a batch that LevelDB did not write is proved absent: refused, reloaded, and the session goes on', async () => {
  const { world, health, next } = await open()
  const socket = await world.join(SESSION)
  const run = await world.start(SESSION, 't-1')
  socket.look()
  const bytes = socket.messages.length
  next(failing)
  const [lost, alsoLost] = [rename(world, 'lost', 2), world.submit(SESSION, 'm-1')]
  expect(await lost).toMatchObject({ ok: false, error: { code: 'persistence_failed' } })
  expect(await alsoLost).toMatchObject({ ok: false, error: { code: 'persistence_failed' } })
  expect(health).toEqual(['recovering', 'ok'])
  expect(socket.messages).toHaveLength(bytes)
  expect(await rename(world, 'lost', 2)).toMatchObject({ ok: true, result: { kind: 'committed' } })
  expect(await world.submit(SESSION, 'm-1')).toMatchObject({ ok: true, result: { disposition: 'followup' } })
  await run.end()
  await settle()
  const { state } = await world.onDisk(SESSION)
  expect(state).toEqual((await world.loop(SESSION)).core.durable)
  expect(state.header?.title).toBe('lost')
})

test('E7 A2 a batch that was written although the write failed is durable: published and answered', async () => {
  const { world, health, next } = await open()
  const socket = await world.join(SESSION)
  socket.look()
  next(async write => {
    await write()
    await failing()
  })
  expect(await rename(world, 'kept', 1)).toMatchObject({ ok: true, result: { kind: 'committed' } })
  expect(health).toEqual(['recovering', 'ok'])
  expect(socket.look().filter(kind => kind !== 'awareness')).toEqual(['update'])
  // Under new writer ids, and still the same document for who watches.
  expect(await rename(world, 'next', 2)).toMatchObject({ ok: true })
  expect(socket.closed).toBeUndefined()
  const fresh = await world.join(SESSION)
  expect(fresh.doc.getMap('session').toJSON()).toEqual(socket.doc.getMap('session').toJSON())
  expect((await world.onDisk(SESSION)).state.header?.title).toBe('next')
})

test('A2 E7 queries are answered while a batch hangs, and from what was durable', async () => {
  const { world, next } = await open()
  let release = (): void => {}
  let isHanging = (): void => {}
  const hanging = new Promise<void>(resolve => (isHanging = resolve))
  next(async write => {
    isHanging()
    await new Promise<void>(resolve => (release = resolve))
    await write()
  })
  const update = rename(world, 'hangs', 1)
  await hanging
  expect(await world.ok('session.get', { sessionId: SESSION })).toMatchObject({ session: { title: '' } })
  expect((await world.ok('session.list', {})).sessions).toMatchObject([{ title: '' }])
  expect((await world.ok('ledger.page', { sessionId: SESSION, limit: 10 })).records).toHaveLength(1)
  const late = await world.join(SESSION)
  await settle()
  expect(late.look()).toEqual([])
  release()
  expect(await update).toMatchObject({ ok: true })
  expect(late.look()).toEqual(['sync_step_2', 'awareness'])
})

test('E7 A9 D2 a check during which the database had to be opened anew finds nobody damaged', async () => {
  const { world, next, health } = await open()
  const root = testTempDir('kept')
  mkdirSync(join(root, 'evidence', '1'), { recursive: true })
  const log = { info() {}, error() {} }
  const check = new KeptCheck({ root, store: world.store, sessions: world.sessions, log })
  const freeze = world.store.freeze.bind(world.store)
  world.store.freeze = async () => {
    const frozen = await freeze()
    // The list of sessions can still be read, what is in them cannot.
    const rows = frozen.rows.bind(frozen)
    frozen.rows = async (...asked) => {
      const found = await rows(...asked)
      if (asked[0] === 'activity' && frozen.isOpen) {
        next(failing)
        expect(await rename(world, 'lost', 1)).toMatchObject({ error: { code: 'persistence_failed' } })
      }
      return found
    }
    return frozen
  }
  check.start()
  await waitFor(() => health.includes('ok'))
  await check.stop()
  expect(world.sessions.faults).toEqual([])
  expect(check.faults).toEqual([])
  world.store.freeze = async () => {
    const frozen = await freeze()
    next(failing)
    expect(await rename(world, 'again', 1)).toMatchObject({ error: { code: 'persistence_failed' } })
    return frozen
  }
  await expect(verifyNow(world.store)).rejects.toMatchObject({ code: 'storage_fault' })
  world.store.freeze = freeze
  expect(await verifyNow(world.store)).toMatchObject({ sessions: 1, faults: [] })
})
