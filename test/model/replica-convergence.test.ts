import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { LeaderConnection, SessionSubscription, SubscriptionFrame } from '../../replica/client/types.ts'
import type { SessionProjection } from '../../schema/entities/projection.ts'
import { newDocument } from '../../schema/projection/layout.ts'
import { SessionReader } from '../../schema/projection/read.ts'
import { readPosition } from '../../schema/projection/replicated.ts'
import { encodeSyncUpdate } from '../../schema/wire/sync.ts'
import { type SeededRandom, seededRandom, testSeed } from '../support/random.ts'
import type { ReceivedCommand } from '../support/replica/fake-leader.ts'
import { SessionWriter } from '../support/replica/session-writer.ts'
import { SESSION, World } from '../support/replica/world.ts'

const REPLICAS = 3
const STEPS = 120
const RUNS = 25

interface Replica {
  readonly connection: LeaderConnection
  readonly session: SessionSubscription
  readonly settled: string[]
  lastRevision: number
}

/** A leader with receipts, replicas on a bad network, and what must hold at every moment. */
class Model {
  readonly world = new World()
  readonly random: SeededRandom
  readonly replicas: Replica[] = []
  readonly truths = new Map<string, string>()
  readonly receipts = new Map<string, number>()
  readonly executed: string[] = []
  readonly faults: string[] = []
  readonly ended: string[] = []
  writer = new SessionWriter('s1', 'g0')
  #isHealed = false
  #builds = 0
  #epochs = 1
  #commands = 0

  constructor(random: SeededRandom) {
    this.random = random
  }

  async open(): Promise<void> {
    this.#serve()
    this.#remember()
    for (let i = 0; i < REPLICAS; i++) {
      const connection = await this.world.connect()
      const opened = connection.openSessionSubscription({ sessionId: 's1' })
      const session = await this.world.during(opened)
      const replica: Replica = { connection, session, settled: [], lastRevision: 0 }
      session.onChange(() => this.#check(replica))
      this.#read(replica).catch((error: { reason?: string }) => this.ended.push(String(error.reason)))
      this.replicas.push(replica)
    }
  }

  async step(): Promise<void> {
    const { random, world } = this
    world.random = random.next()
    const dice = random.between(0, 99)
    if (dice < 30) this.#publish(this.writer.retitle(`title ${random.between(0, 1e6)}`), dice < 6)
    else if (dice < 50)
      this.#publish(this.writer.delta({ [`b${random.between(0, 2)}`]: `${random.between(0, 99)} ` }), dice < 34)
    else if (dice < 70) this.#command()
    else if (dice < 76) world.network.cutAll()
    else if (dice < 80) this.#rebuild()
    else if (dice < 84) this.#restart()
    else if (dice < 87) world.network.isBlackHole = !world.network.isBlackHole
    else await world.pass(random.between(1, 40) * 100, 500)
    for (let i = random.between(0, 12); i > 0; i--) world.network.step()
    if (dice % 3 === 0) await world.network.flush()
  }

  async heal(): Promise<void> {
    this.world.network.isBlackHole = false
    this.world.random = 0.5
    this.#isHealed = true
    for (let i = 0; i < 12; i++) {
      await this.world.pass(4_000, 500)
      this.world.leader.publish(SESSION, Uint8Array.of(0, 0))
    }
    // A loss that no later update shows cannot be noticed; a real network does not lose without closing.
    this.#publish(this.writer.retitle('the end'), false)
    await this.world.network.flush()
  }

  /** What a whole replica of the leader's document shows, beside the facts of the epoch and of presence. */
  truth(): string {
    const doc = newDocument()
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(this.writer.doc))
    const view = { hostEpoch: '', baseRevision: 1, presence: [], presenceCount: 0 }
    return comparable(new SessionReader(doc).read(view) as SessionProjection)
  }

  #serve(): void {
    this.world.leader.serve(SESSION, this.writer.doc)
    this.world.leader.onCommand = command => this.#execute(command)
  }

  #remember(): void {
    const position = readPosition(this.writer.doc)
    this.truths.set(`${position?.generation}/${position?.revision}/${position?.delta}`, this.truth())
  }

  /** `isLossy`: some who follow do not get it, and nothing tells them. */
  #publish(update: Uint8Array, isLossy: boolean): void {
    this.#remember()
    if (!isLossy) {
      this.world.leader.publish(SESSION, update)
      return
    }
    for (const follower of this.world.leader.followers(SESSION)) {
      if (this.random.next() < 0.5) follower.send(encodeSyncUpdate(update))
    }
  }

  #command(): void {
    const replica = this.random.pick(this.replicas)
    this.#commands += 1
    const runId = `c${this.#commands}`
    replica.connection.stopTurn({ sessionId: 's1', turnId: 't1', runId }).then(
      () => {
        replica.settled.push(runId)
        const { freshness, current } = replica.session
        const revision = this.receipts.get(runId) ?? Number.NaN
        if (freshness.state === 'live' && !(current.revision >= revision))
          this.faults.push(`${runId} resolved too early`)
      },
      (error: { code: string }) => {
        if (error.code !== 'offline') this.faults.push(`${runId} rejected ${error.code}`)
      },
    )
  }

  #execute(command: ReceivedCommand): void {
    const id = String(command.input.runId)
    if (!this.receipts.has(id)) {
      this.executed.push(id)
      const update = this.writer.retitle(`by ${id}`)
      this.receipts.set(id, this.writer.head.revision)
      this.#publish(update, false)
    }
    const dice = this.#isHealed ? 0.5 : this.random.next()
    if (dice < 0.15) command.end.close(4502, '{"retryAfterMs":100}')
    else if (dice < 0.85) this.world.leader.reply(command, {}, this.receipts.get(id))
    else this.world.network.cutAll()
  }

  #rebuild(): void {
    this.#builds += 1
    this.writer = new SessionWriter('s1', `g${this.#builds}`, this.#builds + 1, this.writer)
    this.#remember()
    this.#serve()
  }

  #restart(): void {
    this.#epochs += 1
    this.world.kill()
    this.world.start({ hostEpoch: `epoch-${this.#epochs}` })
    this.#serve()
  }

  #check({ session }: Replica): void {
    if (session.freshness.state !== 'live') return
    const position = readPosition(session.doc)
    const { generation, revision } = session.current
    const key = `${generation}/${revision}/${position?.delta}`
    if (position?.generation !== generation || position.revision !== revision) this.faults.push(`torn at ${key}`)
    else if (this.truths.get(key) !== comparable(session.current)) this.faults.push(`wrong at ${key}`)
  }

  async #read(replica: Replica): Promise<void> {
    for await (const frame of replica.session) this.#checkFrame(replica, frame)
  }

  #checkFrame(replica: Replica, { kind, revision }: SubscriptionFrame): void {
    const known = replica.lastRevision
    replica.lastRevision = revision
    if (known === 0 || kind === 'subscription.session_resynced') return
    const next = kind === 'subscription.session_projection' ? known + 1 : known
    if (revision !== next) this.faults.push(`${kind} ${revision} after ${known}`)
  }
}

function comparable(value: SessionProjection): string {
  const { hostEpoch: _epoch, presence: _rows, presenceCount: _count, queue, projectionRevision: _own, ...rest } = value
  return JSON.stringify({ ...rest, queue: { ...queue, hostEpoch: '' } })
}

test('V3 V5 V6 V7 V8 A5 A10 replicas on a bad network show only what was true, once, and end equal to the leader', async () => {
  const first = testSeed()
  for (let seed = first; seed < first + RUNS; seed++) {
    const model = new Model(seededRandom(seed))
    await model.open()
    for (let i = 0; i < STEPS; i++) await model.step()
    await model.heal()
    const truth = model.truth()
    const ends = model.replicas.map(({ session }) => [session.freshness.state, comparable(session.current) === truth])
    const settled = model.replicas.flatMap(replica => replica.settled).sort()
    expect({ seed, faults: model.faults, ends, settled }).toEqual({
      seed,
      faults: [],
      ends: model.replicas.map(() => ['live', true]),
      settled: [...model.executed].sort(),
    })
    expect(new Set(model.executed).size).toBe(model.executed.length)
    for (const { connection } of model.replicas) void connection.close()
    await model.world.pass(3_000, 500)
    expect(model.world.clock.scheduled).toBe(0)
  }
})
