import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { SessionState } from '../../leader/domain/state.ts'
import { Room, type RoomOptions } from '../../leader/projection/room.ts'
import { type DocumentUpdate, SessionDocument } from '../../leader/projection/session-document.ts'
import type { JoinRequest } from '../../leader/transport/host-port.ts'
import { newDocument, readHead } from '../../schema/projection/layout.ts'
import { CLOSE_CODES } from '../../schema/wire/close-codes.ts'
import { readLeaderSyncMessage } from '../../schema/wire/sync.ts'
import { RoomSocket } from '../support/room-socket.ts'
import { createdState } from '../support/session-walk.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

/** A session whose updates become durable when the test says so. */
class Stage {
  readonly log: DocumentUpdate[] = []
  readonly clock = new VirtualClock()
  readonly room: Room
  document = SessionDocument.create('generation-1')
  state: SessionState = createdState()
  encodes = 0
  ahead = 0
  generation = 'generation-1'
  durableNumber = 1

  constructor(options: Partial<RoomOptions> = {}) {
    this.log.push(this.document.apply(null, this.state))
    this.room = new Room({
      document: this.counted(),
      clock: this.clock,
      facts: () => ({ hostEpoch: 'epoch-1', baseRevision: 1, generation: this.generation }),
      onAhead: () => {
        this.ahead += 1
      },
      ...options,
    })
  }

  /** The document as the room sees it; counts what is encoded. */
  counted() {
    const stage = this
    const { document } = this
    return {
      get number() {
        return document.number
      },
      encode(stateVector?: Uint8Array) {
        stage.encodes += 1
        return document.encode(stateVector)
      },
      isAhead: (stateVector: Uint8Array) => document.isAhead(stateVector),
    }
  }

  /** Decides one transition: the document runs ahead of the disk. */
  decide(): void {
    const next = { ...this.state, revision: this.state.revision + 1, at: this.state.at + 1 }
    this.log.push(this.document.apply(this.state, next))
    this.state = next
  }

  /** The batch with the next update is durable. */
  commit(): void {
    const update = this.log[this.durableNumber]
    if (update === undefined) throw new Error('nothing in flight')
    this.durableNumber += 1
    this.room.publish(update.number, update.bytes)
  }

  /** The batch failed: everything decided on top of it is gone. */
  fail(): void {
    this.log.splice(this.durableNumber)
    this.document = SessionDocument.load({ snapshot: null, updates: this.log })
    const revision = this.document.readState()?.head.revision ?? 0
    this.state = { ...this.state, revision }
    this.room.replaceDocument(this.counted(), this.durableNumber)
  }

  join(socket: RoomSocket, request: JoinRequest = {}): RoomSocket {
    const outcome = this.room.join(request, socket)
    if (outcome.kind === 'refused') throw new Error(`refused ${outcome.closeCode}`)
    socket.membership = outcome.membership
    return socket
  }
}

const revision = (doc: Y.Doc): number | undefined => readHead(doc)?.revision

test('V13 an answer waits for its revision, then come its awareness and exactly the updates after it', () => {
  const stage = new Stage()
  stage.decide()
  stage.decide()
  const socket = stage.join(new RoomSocket('a'))
  socket.ask()
  expect(socket.look()).toEqual([])
  stage.decide()
  stage.commit()
  expect(socket.look()).toEqual([])
  stage.commit()
  expect(socket.look()).toEqual(['sync_step_2', 'awareness'])
  expect(revision(socket.doc)).toBe(3)
  stage.commit()
  expect(socket.look()).toEqual(['update'])
  expect(revision(socket.doc)).toBe(4)
})

test('V13 before its first answer a socket gets nothing, neither updates nor awareness', () => {
  const stage = new Stage()
  const socket = stage.join(new RoomSocket('a'))
  stage.decide()
  stage.commit()
  socket.membership?.queryAwareness()
  stage.clock.advance(60_000)
  expect(socket.look()).toEqual([])
})

test('A2 an answer at a durable revision leaves at once, and an awareness query is answered after it', () => {
  const stage = new Stage()
  const socket = stage.join(new RoomSocket('a'))
  socket.ask()
  expect(socket.look()).toEqual(['sync_step_2', 'awareness'])
  socket.membership?.queryAwareness()
  expect(socket.look()).toEqual(['awareness'])
  expect(socket.awareness.at(-1)).toEqual({
    hostEpoch: 'epoch-1',
    baseRevision: 1,
    generation: 'generation-1',
    presence: [{ connectionId: 'a', surface: 'tui', clientInstanceId: 'client-a', since: stage.clock.now() }],
    presenceCount: 1,
    at: stage.clock.now(),
  })
})

test('V13 several updates of one batch reach a waiting socket as its answer and the rest', () => {
  const stage = new Stage()
  stage.decide()
  const socket = stage.join(new RoomSocket('a'))
  socket.ask()
  stage.decide()
  stage.decide()
  for (let i = 0; i < 3; i++) stage.commit()
  expect(socket.look()).toEqual(['sync_step_2', 'awareness', 'update', 'update'])
  expect(revision(socket.doc)).toBe(4)
})

test('V13 a socket that asks again while it waits is answered twice, and misses and repeats nothing', () => {
  const stage = new Stage()
  const socket = stage.join(new RoomSocket('a'))
  socket.ask()
  stage.decide()
  socket.ask()
  stage.decide()
  socket.ask()
  socket.ask()
  socket.look()
  stage.commit()
  expect(socket.look()).toEqual(['sync_step_2', 'awareness'])
  expect(revision(socket.doc)).toBe(2)
  stage.commit()
  expect(socket.look()).toEqual(['sync_step_2', 'awareness'])
  expect(revision(socket.doc)).toBe(3)
  stage.decide()
  stage.commit()
  expect(socket.look()).toEqual(['update'])
})

test('V10 a resync sends the whole newest state under the same rule, without a gap for what was dropped', () => {
  const stage = new Stage()
  const socket = stage.join(new RoomSocket('a'))
  socket.ask()
  stage.decide()
  stage.decide()
  socket.look()
  socket.membership?.resync()
  stage.commit()
  expect(socket.look()).toEqual([])
  stage.commit()
  expect(socket.look()).toEqual(['sync_step_2', 'awareness'])
  const message = readLeaderSyncMessage(socket.messages.at(-2) as Uint8Array)
  const whole = newDocument()
  if (message.kind === 'sync_step_2') Y.applyUpdate(whole, message.update)
  expect(Y.encodeStateAsUpdate(whole)).toEqual(stage.document.encode())
})

test('E7 after a storage error waiting answers are made anew from what is durable, and live sockets stay', () => {
  const stage = new Stage()
  const live = stage.join(new RoomSocket('live'))
  live.ask()
  live.look()
  stage.decide()
  stage.decide()
  const waiting = stage.join(new RoomSocket('waiting'))
  waiting.ask()
  stage.commit()
  stage.fail()
  expect(waiting.look()).toEqual(['sync_step_2', 'awareness'])
  expect(live.look()).toEqual(['update'])
  expect([revision(live.doc), revision(waiting.doc)]).toEqual([2, 2])
  stage.decide()
  stage.commit()
  expect([live.look(), waiting.look()]).toEqual([['update'], ['update']])
  expect(live.closed).toBeUndefined()
  for (const { doc } of [live, waiting]) {
    expect(Y.encodeStateAsUpdate(doc)).toEqual(stage.document.encode())
    expect(doc.store.pendingStructs).toBeNull()
  }
})

test('V6 a replica that lacks something gets only what is missing', () => {
  const stage = new Stage()
  const doc = newDocument()
  Y.applyUpdate(doc, stage.log[0]?.bytes as Uint8Array)
  stage.decide()
  stage.commit()
  const socket = stage.join(new RoomSocket('a', doc), { generation: 'generation-1' })
  socket.ask()
  expect(socket.messages[0]?.length).toBeLessThan(80)
  expect(revision(doc)).toBe(2)
})

test('V6 two hundred replicas that reconnect together cost one encode and get the same bytes', () => {
  const stage = new Stage()
  stage.decide()
  const sockets = Array.from({ length: 200 }, (_, i) => stage.join(new RoomSocket(`s${i}`)))
  for (const socket of sockets) socket.ask()
  stage.commit()
  expect(stage.encodes).toBe(1)
  expect(new Set(sockets.map(socket => socket.messages[0])).size).toBe(1)
  stage.decide()
  stage.commit()
  expect(new Set(sockets.map(socket => socket.messages.at(-1))).size).toBe(1)
  expect(sockets.map(socket => revision(socket.doc))).toEqual(sockets.map(() => 3))
  const late = stage.join(new RoomSocket('late'))
  late.ask()
  expect([stage.encodes, revision(late.doc)]).toEqual([2, 3])
})

test('V6 another generation is refused before anything is sent', () => {
  const stage = new Stage()
  const outcome = stage.room.join({ generation: 'generation-0' }, new RoomSocket('a'))
  expect(outcome).toEqual({ kind: 'refused', closeCode: 4410, reason: 'other_generation' })
  expect(stage.room.subscribers).toBe(0)
  expect(stage.clock.scheduled).toBe(0)
})

test('V6 a copy that is ahead is closed 4410 and never answered; within the same generation the leader is told', () => {
  const stage = new Stage()
  const copy = SessionDocument.load({ snapshot: null, updates: stage.log })
  copy.apply(stage.state, { ...stage.state, revision: 2 })
  const stock = stage.join(new RoomSocket('stock', copy.doc))
  stock.ask()
  expect([stock.look(), stage.ahead]).toEqual([['close 4410'], 0])
  const ours = stage.join(new RoomSocket('ours', copy.doc), { generation: 'generation-1' })
  ours.ask()
  expect([ours.look(), stage.ahead]).toEqual([['close 4410'], 1])
  expect([stage.room.subscribers, stage.clock.scheduled]).toEqual([0, 0])
})

test('A4 a state vector that cannot be read closes the socket 1007, one over its limit 1009', () => {
  const stage = new Stage()
  const torn = stage.join(new RoomSocket('torn'))
  torn.membership?.syncStep1(Uint8Array.of(5, 1))
  const large = stage.join(new RoomSocket('large'))
  large.membership?.syncStep1(new Uint8Array(16 * 1024 + 1))
  expect([torn.closed?.code, large.closed?.code]).toEqual([CLOSE_CODES.malformed, CLOSE_CODES.too_large])
  expect(stage.encodes).toBe(0)
})

test('V7 a new generation closes the sockets of the old build and serves its own', () => {
  const stage = new Stage()
  const old = stage.join(new RoomSocket('old'), { generation: 'generation-1' })
  old.ask()
  old.look()
  stage.document = stage.document.rebuild(stage.state, 'generation-2')
  stage.generation = 'generation-2'
  stage.room.newGeneration(stage.counted())
  expect(old.look()).toEqual(['close 4410'])
  expect(stage.room.join({ generation: 'generation-1' }, old).kind).toBe('refused')
  const fresh = stage.join(new RoomSocket('fresh'))
  fresh.ask()
  expect(Y.encodeStateAsUpdate(fresh.doc)).toEqual(stage.document.encode())
  stage.decide()
  stage.commit()
  expect(fresh.look()).toEqual(['sync_step_2', 'awareness', 'update'])
})

test('V13 updates are published in order, or the room says so', () => {
  const stage = new Stage()
  stage.decide()
  stage.commit()
  expect(() => stage.room.publish(2, new Uint8Array(2))).toThrow('published after')
})

test('E6 closing the room closes every socket once and leaves nothing scheduled', () => {
  const stage = new Stage()
  const sockets = ['a', 'b'].map(id => stage.join(new RoomSocket(id)))
  sockets[0]?.ask()
  for (const socket of sockets) socket.look()
  stage.room.closeAll(CLOSE_CODES.draining, 'draining')
  expect(sockets.map(socket => socket.look())).toEqual([['close 4500'], ['close 4500']])
  expect([stage.room.subscribers, stage.room.presence.count, stage.clock.scheduled]).toEqual([0, 0, 0])
  for (const { membership } of sockets) {
    membership?.syncStep1(Uint8Array.of(0))
    membership?.resync()
    membership?.queryAwareness()
    membership?.leave()
  }
  expect(sockets.map(socket => socket.look())).toEqual([[], []])
})
