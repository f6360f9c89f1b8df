import { expect, test } from 'vitest'
import type * as Y from 'yjs'
import type { MemoryFailure } from '../../leader/log/memory-store.ts'
import type { Reply } from '../../leader/transport/host-port.ts'
import { SessionReader } from '../../schema/projection/read.ts'
import type { RoomSocket } from '../support/room-socket.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'
/** What the batch that hangs would make visible: a title, a queued message and a piece of text. */
const SECRETS = ['secret title', 'text of secret-message', 'secret answer']

interface Hanging {
  readonly world: SessionWorld
  readonly early: readonly RoomSocket[]
  readonly replies: Map<string, Reply>
  readonly text: Promise<'stored' | 'lost'>
}

/** A session with a running turn and two replicas, and a batch that hangs with a command, a message and streamed text in it. */
async function hang(): Promise<Hanging> {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  const run = await world.start(SESSION, 't-1')
  await world.during(run.text('visible answer'))
  const early = [await world.join(SESSION), await world.join(SESSION)]
  for (const socket of early) socket.look()

  world.store.faults.hold()
  const replies = new Map<string, Reply>()
  const send = (name: string, reply: Promise<Reply>): void => void reply.then(got => replies.set(name, got))
  send('update', update(world))
  send('submit', world.submit(SESSION, 'secret-message'))
  await world.store.faults.held()
  const text = run.text(' secret answer').then(
    () => 'stored' as const,
    () => 'lost' as const,
  )
  await world.advance(66)
  return { world, early, replies, text }
}

function update(world: SessionWorld): Promise<Reply> {
  const patch = { title: 'secret title' }
  return world.call('session.update', { sessionId: SESSION, operationId: 'op-1', expectedRevision: 2, patch })
}

function hasSeen(socket: RoomSocket): readonly string[] {
  const bytes = Buffer.concat(socket.messages)
  return SECRETS.filter(secret => bytes.includes(secret))
}

function shown(doc: Y.Doc): unknown {
  const view = { hostEpoch: 'e', baseRevision: 1, presence: [], presenceCount: 0 }
  return new SessionReader(doc).read(view)
}

async function assertHidden({ world, early, replies }: Hanging, late: readonly RoomSocket[]): Promise<void> {
  expect([...replies.keys()]).toEqual([])
  // Who is there is no part of the document.
  const ofDocument = [...early, ...late].flatMap(socket => socket.look().filter(kind => kind !== 'awareness'))
  expect(ofDocument).toEqual([])
  const answers = [
    await world.call('session.get', { sessionId: SESSION }),
    await world.call('session.list', {}),
    await world.call('transcript.page', { sessionId: SESSION, limit: 100 }),
    await world.call('ledger.page', { sessionId: SESSION, limit: 100 }),
    await world.call('turn.query', { sessionId: SESSION, turnId: 't-1' }),
  ]
  expect(answers.every(answer => answer.ok)).toBe(true)
  const said = JSON.stringify(answers)
  expect(SECRETS.filter(secret => said.includes(secret))).toEqual([])
  for (const [operation, id] of [
    ['session.update', 'op-1'],
    ['turn.message.submit', 'secret-message'],
  ] as const) {
    const { stored } = await world.ok('receipt.query', { sessionId: SESSION, operation, id })
    expect(stored).toBe(false)
  }
}

/** Everybody shows what is on disk. */
async function assertEqual(world: SessionWorld, sockets: readonly RoomSocket[]): Promise<void> {
  const onDisk = shown((await world.onDisk(SESSION)).document.doc)
  const fresh = await world.join(SESSION)
  await settle()
  for (const socket of [...sockets, fresh]) {
    expect(socket.closed).toBeUndefined()
    expect(shown(socket.doc)).toEqual(onDisk)
  }
}

const CODES: Readonly<Record<Exclude<MemoryFailure, 'unknown_stored'>, string>> = {
  failed: 'persistence_failed',
  full: 'storage_full',
  unknown_absent: 'persistence_failed',
}

test.each(Object.entries(CODES))(
  'A2 A5 E7 V13 a batch hangs, replicas join, query and retry, then it fails (%s): nobody ever saw anything of it, and all are equal afterwards',
  async (failure, code) => {
    const hanging = await hang()
    const { world, early, replies } = hanging
    const late = [await world.join(SESSION), await world.join(SESSION)]
    // The same commands again, from clients that got no answer.
    const retries: Reply[] = []
    void update(world).then(reply => retries.push(reply))
    void world.submit(SESSION, 'secret-message').then(reply => retries.push(reply))
    await world.advance(99)
    await assertHidden(hanging, late)
    expect(retries).toEqual([])

    world.store.faults.failNext(failure as MemoryFailure)
    world.store.faults.release()
    expect(await world.during(hanging.text)).toBe('lost')
    await world.advance(99)
    expect([replies.get('update'), replies.get('submit')]).toMatchObject([
      { ok: false, error: { code } },
      { ok: false, error: { code } },
    ])
    if (failure === 'full') {
      expect(retries).toMatchObject([
        { ok: false, error: { code } },
        { ok: false, error: { code } },
      ])
      expect(await world.call('session.get', { sessionId: SESSION })).toMatchObject({ ok: true })
      world.store.faults.freeSpace()
      await world.advance(99)
      retries.length = 0
      retries.push(await update(world), await world.submit(SESSION, 'secret-message'))
    }
    // A retry that waited was decided on what is on disk, as if the first one had never been sent.
    expect(retries).toMatchObject([{ ok: true }, { ok: true }])
    await world.during(world.loop(SESSION).then(({ core }) => core.whenDurable()))
    await assertEqual(world, [...early, ...late])
    const events = (await world.ledger(SESSION)).flatMap(record => record.events)
    const count = (type: string, word: string): number =>
      events.filter(e => e.type === type && JSON.stringify(e.payload).includes(word)).length
    expect(count('session_updated', 'secret title')).toBe(1)
    expect(count('queue_entry_added', 'secret-message') + count('turn_admitted', 'secret-message')).toBeGreaterThan(0)
    expect(count('text_sealed', 'secret answer')).toBe(0)
  },
)

test.each(['failed', 'full', 'unknown_absent'] as const)(
  'A2 E7 what was lost (%s) never left: its bytes are in no message to any replica',
  async failure => {
    const hanging = await hang()
    const { world, early } = hanging
    const late = await world.join(SESSION)
    world.store.faults.failNext(failure)
    world.store.faults.release()
    await world.during(hanging.text)
    await world.advance(99)
    expect([...early, late].flatMap(hasSeen)).toEqual([])
    if (failure === 'full') world.store.faults.freeSpace()
    await world.advance(99)
    await assertEqual(world, [...early, late])
    expect((await world.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })) as object).toMatchObject({
      status: 'failed',
      failureClass: 'storage',
    })
  },
)

test('A2 A5 E7 a batch whose outcome was unknown turns out to be stored: published and answered as if nothing had happened', async () => {
  const hanging = await hang()
  const { world, early, replies } = hanging
  const late = await world.join(SESSION)
  const retry = update(world)
  await world.advance(33)
  await assertHidden(hanging, [late])
  world.store.faults.failNext('unknown_stored')
  world.store.faults.release()
  await world.advance(33)
  expect(replies.get('update')).toMatchObject({ ok: true, result: { kind: 'committed' } })
  expect(replies.get('submit')).toMatchObject({ ok: true, result: { disposition: 'followup' } })
  const { result } = replies.get('update') as { result: unknown }
  expect(await retry).toMatchObject({ ok: true, result })
  await world.during(hanging.text)
  await assertEqual(world, [...early, late])
  const events = (await world.ledger(SESSION)).flatMap(record => record.events)
  expect(events.filter(e => e.type === 'session_updated' && 'title' in (e.payload.patch as object))).toHaveLength(2)
})

test('A2 E7 a step decided on top of a lost one is lost with it, in every session of the batch and in no other', async () => {
  const world = await SessionWorld.inMemory()
  for (const id of ['s-1', 's-2', 's-3']) await world.create(id)
  world.store.faults.hold()
  const first = world.call('session.update', { sessionId: 's-1', expectedRevision: 1, patch: { title: 'one' } })
  const other = world.call('session.update', { sessionId: 's-2', expectedRevision: 1, patch: { title: 'two' } })
  await world.store.faults.held()
  const dependent = world.call('session.update', { sessionId: 's-1', expectedRevision: 2, patch: { title: 'three' } })
  const unrelated = world.call('session.update', { sessionId: 's-3', expectedRevision: 1, patch: { title: 'four' } })
  await settle()
  world.store.faults.failNext('failed')
  world.store.faults.release()
  expect(await world.during(Promise.all([first, other, dependent, unrelated]))).toMatchObject([
    { ok: false, error: { code: 'persistence_failed' } },
    { ok: false, error: { code: 'persistence_failed' } },
    { ok: false, error: { code: 'persistence_failed' } },
    { ok: true, result: { kind: 'committed', session: { title: 'four' } } },
  ])
  const titles = (await world.ok('session.list', {})).sessions.map(session => session.title)
  expect(titles.toSorted()).toEqual(['', '', 'four'])
})
