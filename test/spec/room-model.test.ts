import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { Room } from '../../leader/projection/room.ts'
import { SessionDocument } from '../../leader/projection/session-document.ts'
import { type DocumentHead, readHead } from '../../schema/projection/layout.ts'
import { assertProperty } from '../support/property.ts'
import { RoomSocket } from '../support/room-socket.ts'
import { SessionWalk, type WalkStep, walkSteps } from '../support/session-walk.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const EVENTS = ['decide', 'decide', 'commit', 'commit', 'fail', 'join', 'ask', 'resync', 'leave', 'rejoin'] as const

interface Event {
  readonly kind: (typeof EVENTS)[number]
  readonly pick: number
}

const events = fc.array(fc.record({ kind: fc.constantFrom(...EVENTS), pick: fc.nat(1_000) }), {
  maxLength: 80,
  size: 'max',
})

/** A leader with a slow, failing disk and replicas that come and go. Every socket checks what it is sent when it is sent. */
class World {
  readonly walk = new SessionWalk(SessionDocument.create('generation-1'))
  readonly sockets: RoomSocket[] = []
  readonly steps: readonly WalkStep[]
  readonly room: Room
  /** The walk's state after each durable update, to go back to. */
  durable: { state: SessionWalk['state']; delta: number; blocks: [string, { open: never; text: string }][] }
  durableNumber = 1
  #kept: World['durable'][] = []
  #stepped = 0

  constructor(steps: readonly WalkStep[]) {
    this.steps = steps
    this.durable = this.#moment()
    this.room = new Room({
      document: this.walk.document,
      clock: new VirtualClock(),
      facts: () => ({ hostEpoch: 'epoch-1', baseRevision: 1, generation: 'generation-1' }),
      onAhead: () => {
        throw new Error('a replica is ahead of the leader: it saw what was not durable')
      },
    })
  }

  run({ kind, pick }: Event): void {
    const socket = this.sockets[pick % Math.max(1, this.sockets.length)]
    if (kind === 'decide') this.#decide()
    else if (kind === 'commit') this.#commit()
    else if (kind === 'fail') this.#fail()
    else if (kind === 'join') this.#join(new RoomSocket(`s${pick}`))
    else if (socket === undefined) return
    else if (kind === 'ask') socket.ask()
    else if (kind === 'resync') socket.membership?.resync()
    else this.#leave(socket, kind === 'rejoin')
  }

  settle(): void {
    while (this.walk.updates.length > this.durableNumber) this.#commit()
  }

  #moment(): World['durable'] {
    const blocks = [...this.walk.blocks].map(([id, block]) => [id, { ...block }])
    return { state: this.walk.state, delta: this.walk.delta, blocks: blocks as World['durable']['blocks'] }
  }

  #decide(): void {
    const step = this.steps[this.#stepped++ % Math.max(1, this.steps.length)]
    this.walk.step(step ?? { kind: 'nothing', pick: 0, text: '' })
    this.#kept.push(this.#moment())
  }

  #commit(): void {
    const update = this.walk.updates[this.durableNumber]
    const moment = this.#kept.shift()
    if (update === undefined || moment === undefined) return
    this.durableNumber += 1
    this.durable = moment
    this.room.publish(update.number, update.bytes)
  }

  #fail(): void {
    const { walk } = this
    walk.updates.splice(this.durableNumber)
    walk.document = SessionDocument.load({ snapshot: null, updates: walk.updates })
    walk.state = this.durable.state
    walk.delta = this.durable.delta
    walk.blocks.clear()
    for (const [id, block] of this.durable.blocks) walk.blocks.set(id, { ...block })
    this.#kept = []
    this.room.replaceDocument(walk.document, this.durableNumber)
  }

  /** The socket goes, and with `isBack` a new one of the same client comes with what the old one had. */
  #leave(socket: RoomSocket, isBack: boolean): void {
    socket.membership?.leave()
    this.sockets.splice(this.sockets.indexOf(socket), 1)
    if (isBack) this.#join(new RoomSocket(socket.connectionId, socket.doc))
  }

  #join(socket: RoomSocket): void {
    const outcome = this.room.join({ generation: 'generation-1' }, socket)
    if (outcome.kind !== 'joined') throw new Error('refused')
    socket.membership = outcome.membership
    let last: DocumentHead | null = null
    socket.onDocument = kind => {
      const head = readHead(socket.doc) as DocumentHead
      const { state, delta } = this.durable
      const newest = [state.revision, delta] as const
      expect(socket.doc.store.pendingStructs).toBeNull()
      expect(head.revision < newest[0] || (head.revision === newest[0] && head.delta <= newest[1])).toBe(true)
      if (kind === 'update') expect(isNext(last, head)).toBe(true)
      last = head
    }
    this.sockets.push(socket)
  }
}

function isNext(before: DocumentHead | null, after: DocumentHead): boolean {
  if (before === null) return false
  if (after.revision === before.revision) return after.delta === before.delta + 1
  return after.revision === before.revision + 1 && after.delta === 0
}

test('V13 A2 with a slow and failing disk replicas see durable states only, each following update is the next, and all converge', () => {
  assertProperty(
    fc.property(events, walkSteps, (list, steps) => {
      const world = new World(steps)
      for (const event of list) world.run(event)
      world.settle()
      for (const socket of world.sockets) socket.ask()
      const whole = world.walk.document.encode()
      for (const socket of world.sockets) expect(Y.encodeStateAsUpdate(socket.doc)).toEqual(whole)
      expect(world.room.subscribers).toBe(world.sockets.length)
    }),
    300,
  )
})
