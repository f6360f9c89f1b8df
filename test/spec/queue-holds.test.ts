import { expect, test } from 'vitest'
import type { Caller } from '../../leader/transport/host-port.ts'
import { ConnectionRoster, type RosterEntry } from '../../leader/transport/roster.ts'
import type { Input } from '../../schema/commands/index.ts'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { PuppetRun } from '../support/session/puppet-runs.ts'
import { CALLER, SessionWorld, settle } from '../support/session/session-world.ts'

const EDITOR: Caller = {
  actor: { surface: 'tui', clientInstanceId: 'editor-1' },
  connectionId: 'connection-2',
  scope: 'full',
}

interface Stage {
  readonly world: SessionWorld
  readonly roster: ConnectionRoster
  readonly run: PuppetRun
  readonly connection: RosterEntry
}

function connect(roster: ConnectionRoster, ticket: string): RosterEntry {
  const { actor, connectionId } = EDITOR
  const entry: RosterEntry = { connectionId, actor, scope: 'full', credentialId: 'root', ticket }
  roster.add(entry)
  return entry
}

/** A running turn, the messages m1 and m2 behind it, and an editor that is connected. */
async function stage(): Promise<Stage> {
  const roster = new ConnectionRoster()
  const world = await SessionWorld.inMemory({ env: { presence: roster } })
  await world.create('s')
  const run = await world.start('s', 't1')
  for (const id of ['m1', 'm2']) await world.submit('s', id)
  return { world, roster, run, connection: connect(roster, 'ticket-1') }
}

let serial = 0

function hold({ world }: Stage, entryId: string, changes: Partial<Input<'queue.hold'>> = {}, caller = EDITOR) {
  const input = { sessionId: 's', operationId: `hold-${++serial}`, entryId, expectedEntryRevision: 1, ...changes }
  return world.call('queue.hold', input, caller)
}

async function queue({ world }: Stage): Promise<readonly QueueEntry[]> {
  return (await world.loop('s')).core.durable.queue.map(record => record.entry)
}

const waiting = async (on: Stage): Promise<readonly string[]> =>
  (await queue(on)).map(({ entryId, heldBy }) => (heldBy === undefined ? entryId : `${entryId} held`))

const inputs = ({ world }: Stage): readonly unknown[] =>
  world.runs.started.map(({ port }) => port.admission.normalizedInput?.text)

test('Q6 BL-03 a message that is being edited is not consumed when the turn ends, until the edit is committed', async () => {
  const on = await stage()
  const { world, run } = on
  expect(await hold(on, 'm1')).toMatchObject({ ok: true, result: { entry: { heldBy: EDITOR.actor, revision: 1 } } })
  await run.end()
  await settle()
  expect(inputs(on)).toEqual(['prompt of t1', 'text of m2'])
  await world.runs.started[1]?.end()
  await settle()
  expect(await waiting(on)).toEqual(['m1 held'])
  const edit = { sessionId: 's', entryId: 'm1', expectedEntryRevision: 1, content: { text: 'edited' } }
  expect(await world.call('queue.edit', edit, CALLER)).toMatchObject({
    error: { code: 'operation_conflict', detail: { heldBy: EDITOR.actor } },
  })
  expect(await world.call('queue.edit', edit, EDITOR)).toMatchObject({ ok: true, result: { entry: { revision: 2 } } })
  await settle()
  expect(inputs(on)).toEqual(['prompt of t1', 'text of m2', 'edited'])
  expect(await waiting(on)).toEqual([])
})

test('Q6 BL-03 an edit that is abandoned lets the message go as it was', async () => {
  const on = await stage()
  await hold(on, 'm2')
  await on.run.end()
  await settle()
  await on.world.runs.started[1]?.end()
  expect(await waiting(on)).toEqual(['m2 held'])
  await hold(on, 'm2', { release: true })
  await settle()
  expect(inputs(on)).toEqual(['prompt of t1', 'text of m1', 'text of m2'])
})

test('Q6 a hold ends 60 s after it was last asked for', async () => {
  const on = await stage()
  await hold(on, 'm1')
  await on.world.advance(LIMITS.queueHoldMs - 100)
  const revision = (await on.world.ledger('s')).length
  expect(await hold(on, 'm1')).toMatchObject({ ok: true })
  expect((await on.world.ledger('s')).length).toBe(revision)
  await on.world.advance(LIMITS.queueHoldMs - 100)
  expect(await waiting(on)).toEqual(['m1 held', 'm2'])
  await on.world.advance(200)
  expect(await waiting(on)).toEqual(['m1', 'm2'])
  expect((await on.world.ledger('s')).at(-1)).toMatchObject({
    actor: 'leader',
    events: [{ type: 'queue_entry_released', payload: { entryId: 'm1' } }],
  })
})

test('Q6 BL-03 a hold ends 15 s after the last connection of its holder, and starts the hand-off', async () => {
  const on = await stage()
  const { roster, connection, world } = on
  const second = connect(roster, 'ticket-2')
  for (const id of ['m1', 'm2']) await hold(on, id)
  await on.run.end()
  roster.remove(connection)
  await world.advance(LIMITS.queueHolderGoneMs + 100)
  expect(await waiting(on)).toEqual(['m1 held', 'm2 held'])
  roster.remove(second)
  await world.advance(LIMITS.queueHolderGoneMs - 100)
  // A holder that comes back in time keeps its hold.
  const third = connect(roster, 'ticket-3')
  await world.advance(LIMITS.queueHolderGoneMs)
  expect(await waiting(on)).toEqual(['m1 held', 'm2 held'])
  roster.remove(third)
  await world.advance(LIMITS.queueHolderGoneMs + 100)
  await settle()
  expect(inputs(on)[1]).toBe('text of m1\n\ntext of m2')
  expect((await waiting(on)).filter(id => id.endsWith('held'))).toEqual([])
})

test('Q6 a holder that was gone before its hold was stored does not keep it', async () => {
  const on = await stage()
  on.roster.remove(on.connection)
  await hold(on, 'm1')
  await on.world.advance(LIMITS.queueHolderGoneMs + 100)
  expect(await waiting(on)).toEqual(['m1', 'm2'])
})

test('Q6 E7 a hold whose end could not be stored ends when the storage is well', async () => {
  const on = await stage()
  await hold(on, 'm1')
  on.world.store.faults.failNext('failed')
  await on.world.advance(LIMITS.queueHoldMs + 100)
  await settle()
  await on.world.advance(2_000)
  expect(await waiting(on)).toEqual(['m1', 'm2'])
  await on.world.onDisk('s')
})

test('Q6 X10 X14 a restart and a drain end all holds', async () => {
  const on = await stage()
  await hold(on, 'm1')
  const next = await SessionWorld.after(on.world)
  const entries = (await next.loop('s')).core.durable.queue.map(record => record.entry)
  expect(entries.map(({ state, heldBy }) => [state, heldBy])).toEqual([
    ['parked', undefined],
    ['parked', undefined],
  ])
  const other = await stage()
  await hold(other, 'm1')
  other.world.isDraining = true
  await (await other.world.loop('s')).runs.drain(0)
  expect((await queue(other)).map(({ state, heldBy }) => [state, heldBy])).toEqual([
    ['parked', undefined],
    ['parked', undefined],
  ])
  expect(await other.world.store.rows('active', '')).toEqual([])
})

test('Q6 the leader knows which clients have gone, and forgets the longest gone', () => {
  const roster = new ConnectionRoster()
  const moved: string[] = []
  const off = roster.onMove(id => moved.push(`${id} ${roster.standingOf(id)}`))
  const entry = (clientInstanceId: string, ticket: string): RosterEntry => ({
    connectionId: ticket,
    actor: { surface: 'tui', clientInstanceId },
    scope: 'full',
    credentialId: 'root',
    ticket,
  })
  const [a, b] = [entry('x', 'a'), entry('x', 'b')]
  for (const one of [a, b]) roster.add(one)
  for (const one of [a, a, b]) roster.remove(one)
  expect(moved).toEqual(['x here', 'x gone'])
  off()
  for (let i = 0; i < LIMITS.departedClients; i++) {
    const one = entry(`y${i}`, `t${i}`)
    roster.add(one)
    roster.remove(one)
  }
  expect([roster.standingOf('x'), roster.standingOf('y0'), roster.standingOf('nobody')]).toEqual([
    'unknown',
    'gone',
    'unknown',
  ])
})
