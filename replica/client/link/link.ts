import type { HostState } from '../../../schema/commands/host.ts'
import { CLOSE_CODES, readRetryAfterMs } from '../../../schema/wire/close-codes.ts'
import { type AcceptedFrame, LeaderFrame } from '../../../schema/wire/frames.ts'
import { SUBPROTOCOL } from '../../../schema/wire/sync.ts'
import type { CacheSink, ClientSocket, Endpoint, Locate, SocketEvents, Surroundings } from '../ports.ts'
import type { VersionRange } from '../types.ts'
import { backOffMs } from './back-off.ts'
import { Handshake, type HandshakeStep, type Introduction } from './handshake.ts'
import {
  type CloseCause,
  type Effect,
  INITIAL_STATE,
  type MachineEvent,
  type MachineState,
  type Policy,
  type TimerName,
} from './machine.ts'
import { stepMachine } from './machine-table.ts'
import { Timers } from './timers.ts'

/** Where commands travel. */
export const COMMANDS_PATH = '/v1/commands'

/** What a link needs. */
export interface LinkOptions {
  readonly who: Introduction
  readonly policy: Policy
  readonly locate: Locate
  readonly surroundings: Surroundings
  /** Where copies of what is shown are kept, and under which address; absent: nowhere. Source: O1. */
  readonly copies?: { readonly sink: CacheSink; readonly address: string }
}

/** The leader now connected: where it is, and what it said of itself. */
export interface LinkedLeader {
  readonly endpoint: Endpoint
  readonly accepted: AcceptedFrame
}

/** What a link tells. `dark` comes once for each `ready`; `frame` gets what is no handshake and no liveness: replies and progress. */
export interface LinkListener {
  ready(leader: LinkedLeader): void
  dark(): void
  frame(frame: Readonly<Record<string, unknown>>): void
  changed(): void
  closed(cause: CloseCause): void
}

const TIMER_EVENTS = {
  handshake: { kind: 'handshake_over' },
  ping: { kind: 'ping_due' },
  stable: { kind: 'stable' },
  goodbye: { kind: 'goodbye_over' },
  deadline: { kind: 'deadline_over' },
  back_off: { kind: 'back_off_over' },
} as const satisfies Record<Exclude<TimerName, 'silence'>, MachineEvent>

/** One socket and what belongs to it. */
interface Line {
  readonly serial: number
  readonly socket: ClientSocket
  readonly endpoint: Endpoint
  readonly handshake: Handshake
  accepted: AcceptedFrame | undefined
  heardAt: number
  pings: number
}

/** Drives the connection machine with real sockets, timers and proofs. Source: W3, V9, V12, Z3. */
export class Link {
  readonly #options: LinkOptions
  readonly #listener: LinkListener
  readonly #timers: Timers<TimerName>
  #state: MachineState = INITIAL_STATE
  #endpoint: Endpoint | undefined
  #line: Line | undefined
  #search: AbortController | undefined
  #leaderTime: number | null = null
  #reason = 'not started'
  #leaderRange: VersionRange | undefined

  constructor(options: LinkOptions, listener: LinkListener) {
    this.#options = options
    this.#listener = listener
    this.#timers = new Timers(options.surroundings.clock)
  }

  get state(): MachineState {
    return this.#state
  }

  /** The leader's clock in its newest pong, or null. Unit: ms. */
  get leaderTime(): number | null {
    return this.#leaderTime
  }

  /** Why the newest attempt failed, for people. */
  get reason(): string {
    return this.#reason
  }

  /** What an incompatible leader speaks. */
  get leaderRange(): VersionRange | undefined {
    return this.#leaderRange
  }

  start(): void {
    this.#take({ kind: 'start' })
  }

  /** Ends for good; `closed` follows when the leader confirmed it, or after 2 s. Source: V12. */
  close(): void {
    this.#take({ kind: 'close' })
  }

  /** A wake signal or a user action. Source: V9. */
  nudge(): void {
    this.#take({ kind: 'nudge' })
  }

  /** Sends a frame if the leader is ready. */
  send(text: string): void {
    if (this.#state.kind === 'ready') this.#line?.socket.send(text)
  }

  #take(event: MachineEvent): void {
    const before = this.#state
    const { state, effects } = stepMachine(before, event, this.#options.policy)
    this.#state = state
    for (const effect of effects) this.#do(effect)
    if (state.kind !== before.kind) this.#announce(before)
  }

  #announce(before: MachineState): void {
    const { kind } = this.#state
    if (before.kind === 'ready') this.#listener.dark()
    if (kind === 'ready' && this.#line?.accepted !== undefined) {
      this.#listener.ready({ endpoint: this.#line.endpoint, accepted: this.#line.accepted })
    }
    this.#listener.changed()
    if (this.#state.kind === 'closed') {
      this.#search?.abort()
      this.#timers.disarmAll()
      this.#listener.closed(this.#state.cause)
    }
  }

  #do(effect: Effect): void {
    switch (effect.kind) {
      case 'locate':
        void this.#locate(effect.maySpawn)
        break
      case 'dial':
        this.#dial(effect.socket)
        break
      case 'hello':
        this.#line?.socket.send(this.#line.handshake.hello())
        break
      case 'ping':
        this.#ping()
        break
      case 'bye':
        this.#line?.socket.send(JSON.stringify({ kind: 'bye' }))
        break
      case 'drop':
        this.#line?.socket.abort()
        break
      case 'arm':
        this.#arm(effect.timer, effect.afterMs)
        break
      case 'disarm':
        this.#timers.disarm(effect.timer)
        break
      case 'back_off':
        this.#arm('back_off', backOffMs({ ...effect, random: this.#options.surroundings.random() }))
    }
  }

  #arm(timer: TimerName, afterMs: number): void {
    this.#timers.arm(timer, afterMs, () => {
      if (timer === 'handshake') this.#reason = 'the leader did not answer in time'
      const silentMs = this.#options.surroundings.clock.now() - (this.#line?.heardAt ?? 0)
      this.#take(timer === 'silence' ? { kind: 'silence_due', silentMs } : TIMER_EVENTS[timer])
    })
  }

  async #locate(maySpawn: boolean): Promise<void> {
    this.#search?.abort()
    const search = new AbortController()
    this.#search = search
    const located = await this.#options.locate({ maySpawn, signal: search.signal })
    if (search.signal.aborted) return
    if (located.kind === 'absent') {
      this.#reason = located.reason
      this.#take({ kind: 'absent', isFinal: located.isFinal })
    } else {
      this.#endpoint = located.endpoint
      this.#take({ kind: 'located' })
    }
  }

  #dial(serial: number): void {
    const endpoint = this.#endpoint as Endpoint
    const { who, surroundings } = this.#options
    const handshake = new Handshake(who, endpoint, count => surroundings.randomBytes(count))
    const events: SocketEvents = {
      open: () => this.#take({ kind: 'opened', socket: serial }),
      message: message => this.#read(serial, message),
      close: (code, reason) => this.#dropped(serial, code, reason),
    }
    const socket = endpoint.open(COMMANDS_PATH, [SUBPROTOCOL], events)
    const heardAt = surroundings.clock.now()
    this.#line = { serial, socket, endpoint, handshake, accepted: undefined, heardAt, pings: 0 }
  }

  #dropped(serial: number, code: number, reason: string): void {
    if (serial !== this.#state.serial) return
    this.#reason = `the connection was closed (${code}${reason === '' ? '' : `: ${reason}`})`
    this.#take({ kind: 'dropped', socket: serial, code, retryAfterMs: readRetryAfterMs(reason) ?? 0 })
  }

  #ping(): void {
    const line = this.#line
    if (line === undefined) return
    line.pings += 1
    line.socket.send(JSON.stringify({ kind: 'ping', id: line.pings }))
  }

  #read(serial: number, message: string | Uint8Array): void {
    const line = this.#line
    if (line === undefined || line.serial !== serial) return
    line.heardAt = this.#options.surroundings.clock.now()
    const frame = typeof message === 'string' ? parseFrame(message) : undefined
    if (frame === undefined) this.#breakOff(line, 'the leader sent what is no frame')
    else if ('requestId' in frame) this.#listener.frame(frame)
    else {
      const parsed = LeaderFrame.safeParse(frame)
      // A kind that a later protocol adds is no reason to break off.
      if (parsed.success) this.#readLeaderFrame(line, parsed.data)
    }
  }

  #breakOff(line: Line, reason: string): void {
    line.socket.abort()
    this.#dropped(line.serial, CLOSE_CODES.malformed, reason)
  }

  #readLeaderFrame(line: Line, frame: LeaderFrame): void {
    if (frame.kind === 'ping') line.socket.send(JSON.stringify({ kind: 'pong', id: frame.id }))
    else if (frame.kind === 'pong') this.#takePong(line, frame.at)
    else if (frame.kind === 'state') this.#takeHostState(line, frame.state)
    else if (line.accepted === undefined) this.#shakeHands(line, frame)
  }

  #takePong(line: Line, at: number | undefined): void {
    if (at === undefined || line.accepted === undefined) return
    this.#leaderTime = at
    this.#listener.changed()
  }

  #takeHostState(line: Line, hostState: HostState): void {
    if (line.accepted === undefined) return
    line.accepted = { ...line.accepted, state: hostState }
    this.#take({ kind: 'host_state', socket: line.serial, hostState })
  }

  #shakeHands(line: Line, frame: LeaderFrame): void {
    const step = line.handshake.read(frame)
    if (!(step instanceof Promise)) this.#takeHandshake(line, step)
    else
      step.then(
        proved => this.#takeHandshake(line, proved),
        () => this.#breakOff(line, 'the proof could not be made'),
      )
  }

  #takeHandshake(line: Line, step: HandshakeStep): void {
    if (this.#line !== line || line.accepted !== undefined) return
    if (step.kind === 'send') line.socket.send(step.frame)
    else if (step.kind === 'accepted') {
      line.accepted = step.accepted
      this.#leaderTime = step.accepted.at ?? this.#leaderTime
      this.#take({ kind: 'accepted', socket: line.serial, hostState: step.accepted.state })
    } else if (step.kind === 'refused') {
      this.#reason = `the leader refused: ${step.why}`
      this.#leaderRange = step.leader ?? this.#leaderRange
      this.#take({ kind: 'refused', socket: line.serial, why: step.why })
    } else if (step.kind === 'another_root') this.#breakOff(line, 'another root lives at this address')
  }
}

function parseFrame(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
