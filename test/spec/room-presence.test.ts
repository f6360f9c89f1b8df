import * as decoding from 'lib0/decoding'
import { expect, test } from 'vitest'
import { Awareness, applyAwarenessUpdate } from 'y-protocols/awareness'
import { Room, type RoomOptions } from '../../leader/projection/room.ts'
import { SessionDocument } from '../../leader/projection/session-document.ts'
import { RoomSocket } from '../support/room-socket.ts'
import { createdState } from '../support/session-walk.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

function stage(options: Partial<RoomOptions> = {}) {
  const clock = new VirtualClock()
  const document = SessionDocument.create('generation-1')
  document.apply(null, createdState())
  const facts = { hostEpoch: 'epoch-1', baseRevision: 1, generation: 'generation-1', isDamaged: false }
  const room = new Room({ document, clock, facts: () => facts, onAhead: () => {}, ...options })
  const join = (id: string, isAsking = true): RoomSocket => {
    const socket = new RoomSocket(id)
    const outcome = room.join({}, socket)
    if (outcome.kind === 'joined') socket.membership = outcome.membership
    if (isAsking) socket.ask()
    return socket
  }
  return { clock, room, facts, join }
}

const ids = (socket: RoomSocket): string[] | undefined => socket.awareness.at(-1)?.presence.map(row => row.connectionId)

test('V1 presence goes out at most once a second, and whoever comes sees itself at once', () => {
  const { clock, join } = stage()
  const first = join('a')
  clock.advance(1_000)
  expect(first.look()).toEqual(['sync_step_2', 'awareness'])
  join('b')
  clock.advance(0)
  expect([first.look(), ids(first)]).toEqual([['awareness'], ['a', 'b']])
  for (let i = 0; i < 9; i++) {
    const socket = join(`c${i}`)
    expect(ids(socket)?.at(-1)).toBe(`c${i}`)
    clock.advance(100)
    expect(first.look()).toEqual([])
  }
  clock.advance(100)
  expect(first.look()).toEqual(['awareness'])
  expect(first.awareness.at(-1)?.presenceCount).toBe(11)
  clock.advance(17_000)
  expect(first.look()).toEqual([])
})

test('V1 presence is renewed every 20 s without a change, with a clock that grows', () => {
  const { clock, join } = stage()
  const socket = join('a')
  socket.look()
  const at: number[] = []
  for (let i = 0; i < 3; i++) {
    clock.advance(19_999)
    expect(socket.look()).toEqual([])
    clock.advance(1)
    expect(socket.look()).toEqual(['awareness'])
    at.push(socket.awareness.at(-1)?.at ?? 0)
  }
  expect(at).toEqual([20_000, 40_000, 60_000].map(ms => 1_764_540_000_000 + ms))
})

test('V1 every awareness of a room is of one writer with a growing clock', () => {
  const { clock, join } = stage()
  const socket = join('a')
  clock.advance(20_000)
  socket.membership?.queryAwareness()
  const awareness = new Awareness(socket.doc)
  awareness.setLocalState(null)
  let changes = 0
  awareness.on('update', () => {
    changes += 1
  })
  const told = socket.messages.filter(message => message[0] === 1)
  for (const message of told) {
    const decoder = decoding.createDecoder(message)
    decoding.readVarUint(decoder)
    applyAwarenessUpdate(awareness, decoding.readVarUint8Array(decoder), 'test')
  }
  const states = [...awareness.getStates().values()]
  expect([told.length, changes]).toEqual([3, 3])
  awareness.destroy()
  expect(states).toEqual([socket.awareness.at(-1)])
})

test('A7 nothing is scheduled while nobody is attached', () => {
  const { clock, room, join } = stage()
  expect(clock.scheduled).toBe(0)
  const a = join('a')
  const b = join('b', false)
  expect(clock.scheduled).toBe(1)
  a.membership?.leave()
  a.membership?.leave()
  expect([clock.scheduled, room.presence.count]).toEqual([1, 1])
  b.membership?.leave()
  expect([clock.scheduled, room.presence.count, room.subscribers]).toEqual([0, 0, 0])
  clock.advance(60_000)
  expect(clock.scheduled).toBe(0)
  const again = join('c')
  again.look()
  clock.advance(20_000)
  expect(again.look()).toEqual(['awareness'])
})

test('A7 presence shows the 32 newest clients and counts all; two sockets of one connection are one client', () => {
  const { clock, room, join } = stage()
  const sockets = Array.from({ length: 40 }, (_, i) => join(`c${i}`))
  const twin = join('c39')
  clock.advance(1_000)
  expect(sockets[0]?.awareness.at(-1)?.presenceCount).toBe(40)
  expect(ids(sockets[0] as RoomSocket)).toEqual(Array.from({ length: 32 }, (_, i) => `c${i + 8}`))
  expect([room.subscribers, room.presence.count]).toEqual([41, 40])
  twin.membership?.leave()
  expect(room.presence.count).toBe(40)
  sockets[39]?.membership?.leave()
  clock.advance(1_000)
  expect(ids(sockets[0] as RoomSocket)).toEqual(Array.from({ length: 32 }, (_, i) => `c${i + 7}`))
})

test('D1 a session that turns out damaged is told so to all that follow it', () => {
  const { clock, room, facts, join } = stage()
  const socket = join('a')
  clock.advance(5_000)
  socket.look()
  facts.isDamaged = true
  room.announce()
  clock.advance(0)
  expect(socket.look()).toEqual(['awareness'])
  expect(socket.awareness.at(-1)?.isDamaged).toBe(true)
  expect(socket.awareness[0]).not.toHaveProperty('isDamaged')
})
