import { openMemoryStore } from '../../../leader/log/memory-store.ts'
import { recoverSessions } from '../../../leader/recovery.ts'
import type { Caller, Reply } from '../../../leader/transport/host-port.ts'
import { verifyRoot } from '../../../leader/verify/verify-root.ts'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { LedgerRecord } from '../../../schema/events.ts'
import { SessionReader } from '../../../schema/projection/read.ts'
import type { RefCommand } from '../../model/reference/commands.ts'
import type { Observed } from '../../model/reference/explore.ts'
import { RoomSocket } from '../room-socket.ts'
import type { PuppetRun } from '../session/puppet-runs.ts'
import { SessionWorld, settle } from '../session/session-world.ts'

/** A write that fails while commands are under way, and after how many good ones. */
export interface WriteFault {
  readonly failure: 'failed' | 'full' | 'unknown_stored' | 'unknown_absent'
  readonly after: number
}

interface Following {
  socket: RoomSocket
  reader: SessionReader
  isCut: boolean
}

/** A leader in this process over a store in memory, which is killed by leaving it alone with its disk held. */
export class MemoryStage {
  world: SessionWorld
  epochs = 1
  readonly #following = new Map<string, Following>()

  private constructor(world: SessionWorld) {
    this.world = world
  }

  static async open(): Promise<MemoryStage> {
    return new MemoryStage(await SessionWorld.inMemory())
  }

  /** Gives commands in this order, all at once. */
  async give(commands: readonly RefCommand[], fault: WriteFault | null): Promise<readonly Observed[]> {
    const { world } = this
    if (fault !== null) world.store.faults.hold()
    const replies = Promise.all(commands.map(command => this.#call(command)))
    if (fault !== null) {
      await this.#pass(fault.after)
      // Armed for the write that hangs, and only for it.
      if (await this.#isWriting()) world.store.faults.failNext(fault.failure)
      world.store.faults.release()
      await world.advance(66)
      if (fault.failure === 'full') world.store.faults.freeSpace()
    }
    const observed = (await world.during(replies)).map(observe)
    await world.advance(99)
    return observed
  }

  /** Gives commands and kills the leader after so many writes; whoever has no answer then gets none. */
  async giveAndDie(commands: readonly RefCommand[], writes: number): Promise<readonly Observed[]> {
    const { world } = this
    world.store.faults.hold()
    const observed: Observed[] = commands.map(() => ({ kind: 'unanswered' }))
    let isDead = false
    for (const [i, command] of commands.entries()) {
      void this.#call(command).then(reply => {
        if (!isDead) observed[i] = observe(reply)
      })
    }
    await this.#pass(writes)
    isDead = true
    for (const { socket } of this.#following.values()) socket.close(1006, 'the leader is dead')
    return observed
  }

  /** Another leader takes the disk over; the first `halves` of them die after so many writes of their own recovery. */
  async restart(halves: readonly number[] = []): Promise<void> {
    for (const writes of halves) {
      const half = await this.#next()
      half.store.faults.hold()
      void half.catalog.load().then(() => recoverSessions(half.sessions, () => {}))
      await this.#passOf(half, writes)
    }
    const next = await this.#next()
    await next.catalog.load()
    await recoverSessions(next.sessions, () => {})
    this.world = next
    await next.advance(99)
  }

  /** The run of a turn in this epoch. */
  run(turnId: string): PuppetRun {
    const { started } = this.world.runs
    const run = started.filter(({ port }) => port.turnId === turnId)
    if (run.length !== 1) throw new Error(`${turnId} has ${run.length} runs`)
    return run[0] as PuppetRun
  }

  /** What somebody sees who opens the session now. */
  async fresh(sessionId: string): Promise<SessionProjection> {
    const socket = await this.world.join(sessionId)
    await settle()
    const view = read(socket, new SessionReader(socket.doc))
    socket.membership?.leave()
    return view
  }

  /** A replica's view of a session, which it follows from now on; null while its link is cut. */
  async view(replica: string, sessionId: string): Promise<SessionProjection | null> {
    const key = `${replica} ${sessionId}`
    let following = this.#following.get(key)
    if (following?.isCut === true) return null
    if (following === undefined || following.socket.closed !== undefined) following = await this.#follow(key, sessionId)
    await settle()
    return read(following.socket, following.reader)
  }

  /** Cuts or mends a replica's links; a mended one goes on with the document it has. */
  setCut(replica: string, isCut: boolean): void {
    for (const [key, following] of this.#following) {
      if (!key.startsWith(`${replica} `)) continue
      if (isCut && !following.isCut) following.socket.close(1006, 'cut')
      following.isCut = isCut
    }
  }

  async ledger(sessionId: string): Promise<readonly LedgerRecord[]> {
    return await this.world.ledger(sessionId)
  }

  /** What a walk of the whole root finds. */
  async verify(): Promise<readonly unknown[]> {
    const faults: unknown[] = []
    for await (const fault of verifyRoot(this.world.store)) faults.push(fault)
    return faults
  }

  #call({ operation, input, actor }: RefCommand): Promise<Reply> {
    const caller: Caller = { actor, connectionId: `of-${actor.clientInstanceId}`, scope: 'full' }
    return this.world.host.execute(operation, input, caller)
  }

  async #next(): Promise<SessionWorld> {
    this.world.store.faults.hold()
    await settle()
    this.epochs += 1
    const { clock, store: old } = this.world
    const store = await openMemoryStore({ disk: old.disk })
    return new SessionWorld({ store, clock, epochNumber: this.epochs })
  }

  async #follow(key: string, sessionId: string): Promise<Following> {
    const old = this.#following.get(key)?.socket
    let socket = await this.#join(key, sessionId, old)
    // Another build of the document: everything is asked for anew.
    if (socket.closed !== undefined) socket = await this.#join(key, sessionId, undefined)
    const following = { socket, reader: new SessionReader(socket.doc), isCut: false }
    this.#following.set(key, following)
    return following
  }

  async #join(key: string, sessionId: string, old: RoomSocket | undefined): Promise<RoomSocket> {
    const socket = new RoomSocket(`${key}-${this.epochs}`, old?.doc)
    const generation = old?.awareness.at(-1)?.generation
    const request = generation === undefined ? {} : { generation }
    const outcome = await this.world.host.joinSession(sessionId, request, socket)
    if (outcome.kind === 'refused') socket.close(outcome.closeCode, outcome.reason)
    else {
      socket.membership = outcome.membership
      socket.ask()
    }
    await settle()
    return socket
  }

  /** Lets so many writes through, as far as there are any. */
  #pass(writes: number): Promise<void> {
    return this.#passOf(this.world, writes)
  }

  async #passOf(world: SessionWorld, writes: number): Promise<void> {
    const { faults } = world.store
    for (let i = 0; i < writes; i++) {
      await this.#quiet(world)
      faults.release()
      faults.hold()
    }
    await this.#quiet(world)
  }

  async #isWriting(): Promise<boolean> {
    const held = this.world.store.faults.held().then(() => true)
    return await Promise.race([held, settle().then(() => false)])
  }

  async #quiet(world: SessionWorld): Promise<void> {
    for (let i = 0; i < 4; i++) await settle()
    await world.advance(33)
  }
}

function observe(reply: Reply): Observed {
  return reply.ok ? { kind: 'ok', result: reply.result } : { kind: 'refused', code: reply.error.code }
}

function read(socket: RoomSocket, reader: SessionReader): SessionProjection {
  const told = socket.awareness.at(-1)
  if (told === undefined) throw new Error(`${socket.connectionId} was told nothing`)
  const { hostEpoch, baseRevision } = told
  const view = reader.read({ hostEpoch, baseRevision, presence: [], presenceCount: 0 })
  if (view === null) throw new Error(`${socket.connectionId} has an empty document`)
  return view
}
