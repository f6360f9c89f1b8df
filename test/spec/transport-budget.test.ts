import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { CredentialTable, hashKey, isSameText, keyIdOf, makeTicket } from '../../leader/transport/auth.ts'
import { Door } from '../../leader/transport/door.ts'
import { tcpLists } from '../../leader/transport/http/gate-lists.ts'
import { RateBudget } from '../../leader/transport/link/rate-budget.ts'
import { ConnectionRoster, type RosterEntry } from '../../leader/transport/roster.ts'
import { LIMITS } from '../../schema/limits.ts'

test('Z5 a budget lets a second’s worth through at once and then the rate, never less', () => {
  const budget = new RateBudget(2_000, 0)
  const taken = (nowMs: number) => {
    let count = 0
    while (budget.take(nowMs)) count += 1
    return count
  }
  expect(taken(0)).toBe(2_000)
  let sustained = 0
  for (let nowMs = 1; nowMs <= 5_000; nowMs++) sustained += taken(nowMs)
  expect(sustained).toBe(10_000)
  expect(taken(1e9)).toBe(2_000)
})

test('Z5 a clock that stands or goes back costs nothing', () => {
  const budget = new RateBudget(1, 1_000)
  expect([budget.take(1_000), budget.take(1_000), budget.take(500), budget.take(2_000)]).toEqual([
    true,
    false,
    false,
    true,
  ])
})

test('Z5 commands may come at 2 000 a second and more', () => {
  expect(LIMITS.commandsPerSecond).toBeGreaterThanOrEqual(2_000)
})

/** A connection that nobody is at the other end of. */
function newSocket(): Duplex {
  return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
}

test('Z5 those who wait at the door come in in order, and a place that is free is given once', async () => {
  const limits = { helloTimeoutMs: 60_000, preAuthBytes: 10, preAuthConnections: 2, preAuthWaiting: 3 }
  const served: number[] = []
  const stays = new Map<number, { admit(): void }>()
  const sockets = Array.from({ length: 6 }, newSocket)
  const door = new Door<Duplex>(limits, (socket, stay) => {
    served.push(sockets.indexOf(socket))
    stays.set(sockets.indexOf(socket), stay)
  })
  for (const socket of sockets) door.arrive(socket)
  expect([served, door.standing, door.waiting, sockets.map(socket => socket.destroyed)]).toEqual([
    [0, 1],
    2,
    3,
    [false, false, false, false, false, true],
  ])
  stays.get(1)!.admit()
  stays.get(1)!.admit()
  expect([served, door.standing]).toEqual([[0, 1, 2], 2])
  sockets[3]!.destroy()
  sockets[0]!.destroy()
  await new Promise(resolve => setImmediate(resolve))
  expect([served, door.standing, door.waiting]).toEqual([[0, 1, 2, 4], 2, 0])
  door.close()
  const late = newSocket()
  door.arrive(late)
  expect(late.destroyed).toBe(true)
  for (const stay of stays.values()) stay.admit()
})

test('Z2 a key is found by its text or its key id, and its hash is all that is kept', () => {
  const table = CredentialTable.ofRootToken('root token', 1)
  const keyHash = hashKey('watch key')
  expect(table.add({ id: 'w', scope: 'watch', keyHash, createdAt: 2, lastSeenAt: null })).toBe(true)
  expect([table.findByKey('root token')?.id, table.findByKey('watch key')?.id, table.findByKey('other')?.id]).toEqual([
    'root',
    'w',
    undefined,
  ])
  expect([
    table.findByKeyId(undefined)?.id,
    table.findByKeyId(keyIdOf(keyHash))?.id,
    table.findByKeyId('0')?.id,
  ]).toEqual(['root', 'w', undefined])
  expect(JSON.stringify(table.rows)).not.toMatch(/root token|watch key/)
  expect([table.remove('w'), table.findByKey('watch key')]).toEqual([true, undefined])
})

test('Z2 the table is bounded', () => {
  const table = CredentialTable.ofRootToken('root token', 1)
  const row = (id: string) => ({ id, scope: 'watch' as const, keyHash: hashKey(id), createdAt: 1, lastSeenAt: null })
  for (let i = 1; i < LIMITS.credentials; i++) expect(table.add(row(`k${i}`))).toBe(true)
  expect([table.add(row('one more')), table.add(row('k1')), table.rows.length]).toEqual([
    false,
    true,
    LIMITS.credentials,
  ])
})

test('Z3 a ticket names one key, one connection and one epoch', () => {
  const key = hashKey('k')
  const tickets = [
    makeTicket(key, 'c1', 'e1'),
    makeTicket(hashKey('other'), 'c1', 'e1'),
    makeTicket(key, 'c2', 'e1'),
    makeTicket(key, 'c1', 'e2'),
  ]
  expect(new Set(tickets).size).toBe(4)
  expect([
    makeTicket(key, 'c1', 'e1') === tickets[0],
    isSameText('a', 'b'),
    isSameText('', 'longer'),
    isSameText('a', 'a'),
  ]).toEqual([true, false, false, true])
})

test('V12 the roster counts each client once, however often it leaves', () => {
  const roster = new ConnectionRoster()
  const entry = (connectionId: string, surface: string): RosterEntry => ({
    connectionId,
    actor: { surface, clientInstanceId: 'c' },
    scope: 'full',
    credentialId: 'root',
    ticket: connectionId,
  })
  const counts: number[] = []
  const stop = roster.onChange(count => counts.push(count))
  const [first, second] = [entry('1', 'tui'), entry('2', 'my own')]
  roster.add(first)
  roster.add(second)
  expect(roster.countBySurface()).toEqual({ desktop: 0, tui: 1, run: 0, acp: 0, other: 1 })
  roster.remove(first)
  roster.remove(first)
  stop()
  roster.remove(second)
  expect([counts, roster.count, roster.findByTicket('1')]).toEqual([[1, 2, 1], 0, undefined])
})

test('Z4 a browser leaves out the port of its scheme, and only that one', () => {
  const names = { host: '127.0.0.1', isTls: false, allowedHosts: [], publicUrl: undefined }
  expect([...tcpLists(names, 80).hosts]).toEqual(['127.0.0.1', '127.0.0.1:80'])
  expect([...tcpLists({ ...names, isTls: true }, 443).origins]).toEqual(['https://127.0.0.1', 'https://127.0.0.1:443'])
  expect([...tcpLists(names, 20_000).hosts]).toEqual(['127.0.0.1:20000'])
  expect([...tcpLists({ ...names, host: '::1' }, 20_000).hosts]).toEqual(['[::1]:20000'])
})
