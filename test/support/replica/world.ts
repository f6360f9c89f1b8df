import { connectWith } from '../../../replica/client/connect.ts'
import { credentialOfToken } from '../../../replica/client/link/credential.ts'
import type { Policy } from '../../../replica/client/link/machine.ts'
import type { Endpoint, Located, Surroundings } from '../../../replica/client/ports.ts'
import type { ConnectResult, LeaderConnection } from '../../../replica/client/types.ts'
import '../../../schema/projection/replicated.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { FakeLeader, type FakeLeaderOptions } from './fake-leader.ts'
import { MemoryNetwork } from './network.ts'

/** Where a session's document is followed. */
export const SESSION = '/v1/sync/session/s1'

/** How a replica of a test connects. `endpoint` differs from the local one; `located` is asked instead of it. */
export interface WorldOptions {
  readonly policy?: Partial<Policy>
  readonly token?: string
  readonly endpoint?: Partial<Endpoint>
  readonly located?: () => Located
}

/** A clock, a network and a leader, all of which stand still until the test moves them. */
export class World {
  readonly clock = new VirtualClock()
  readonly network = new MemoryNetwork()
  random = 0.5
  leader: FakeLeader
  #sleptMs = 0
  #ids = 0

  constructor(options: Partial<FakeLeaderOptions> = {}) {
    this.leader = this.start(options)
  }

  /** Puts a new leader behind the address. */
  start(options: Partial<FakeLeaderOptions> = {}): FakeLeader {
    this.leader = FakeLeader.at(this.network, { now: () => this.clock.now(), ...options })
    return this.leader
  }

  /** Ends the leader as `kill -9` does. */
  kill(): void {
    this.network.leader = undefined
    this.network.cutAll()
  }

  get surroundings(): Surroundings {
    return {
      clock: {
        now: () => this.clock.monotonicMs() + this.#sleptMs,
        after: (delayMs, run) => this.clock.schedule(delayMs, run),
      },
      random: () => this.random,
      randomBytes: count => crypto.getRandomValues(new Uint8Array(count)),
      newId: () => {
        this.#ids += 1
        return `id-${this.#ids}`
      },
    }
  }

  /** The machine sleeps: time goes on, no timer runs, and those that wait will be late. */
  sleep(ms: number): void {
    this.#sleptMs += ms
  }

  /** Begins to connect a replica. */
  async connecting(options: WorldOptions = {}, signal?: AbortSignal): Promise<ConnectResult> {
    const endpoint: Endpoint = {
      address: 'localhost',
      isLocal: true,
      open: (path, protocols, events) => this.network.open(path, protocols, events),
      http: async request => {
        if (this.network.leader === undefined) throw new Error('refused')
        return this.network.leader.http(request)
      },
      download: () => Promise.reject(new Error('refused')),
      ...options.endpoint,
    }
    const credential = options.token === undefined ? {} : { credential: await credentialOfToken(options.token) }
    return connectWith(
      {
        who: { surface: 'test', clientInstanceId: 'i1', protocol: { min: 1, max: 1 }, ...credential },
        policy: { reconnect: true, isPatient: false, deadlineMs: 45_000, ...options.policy },
        locate: async () => options.located?.() ?? { kind: 'found', endpoint },
        surroundings: this.surroundings,
      },
      signal,
    )
  }

  /** A connected replica. */
  async connect(options: WorldOptions = {}): Promise<LeaderConnection> {
    const result = await this.during(this.connecting(options))
    if (result.kind !== 'connected') throw new Error(`not connected: ${JSON.stringify(result)}`)
    return result.connection
  }

  /** Moves the network until the promise has settled; it must need no time. */
  async during<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = promise.finally(() => {
      isSettled = true
    })
    settled.catch(() => {})
    // Proofs are made on other threads: their time is real, if short.
    const deadlineMs = performance.now() + 5_000
    for (let i = 0; !isSettled && (i < 50 || performance.now() < deadlineMs); i++) await this.network.flush()
    if (!isSettled) throw new Error('the promise needs more than the network')
    return settled
  }

  /** Lets time pass in steps, with everything the network carries in between. */
  async pass(ms: number, stepMs = 100): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, ms - passed))
      await this.network.flush()
    }
  }
}
