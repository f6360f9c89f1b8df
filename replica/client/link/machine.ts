import type { HostState } from '../../../schema/commands/host.ts'
import type { Pace } from './back-off.ts'

/**
 * The machine of one connection to a leader, as plain data.
 *
 *   idle ─▶ locating ─▶ dialling ─▶ handshaking ─▶ preparing ─▶ ready ─▶ closing ─▶ closed
 *              ▲            │             └───────────────────────▲│
 *              └─ waiting ◀─┴───────────── any loss ───────────────┘
 *
 * `locating` looks for a leader (and may start one), `preparing` has shaken hands with a leader that still recovers, `waiting` is the
 * back-off. Carried through all: `attempt` counts failures since the connection was last stable; `serial` numbers the sockets, so that what
 * an old one still reports is known as old; `hasBeenReady` parts connecting from reconnecting; `isOrderly` is set when the leader
 * left on purpose: then none is started in its place until somebody asks.
 */
interface Carried {
  readonly attempt: number
  readonly serial: number
  readonly hasBeenReady: boolean
  readonly isOrderly: boolean
}

/** Why a connection is closed for good. `lost`: no leader, and nobody wants to wait for one. */
export type CloseCause = 'closed' | 'unauthorized' | 'incompatible' | 'draining' | 'lost'

type Phase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'locating' }
  | { readonly kind: 'dialling' }
  | { readonly kind: 'handshaking' }
  | { readonly kind: 'preparing'; readonly isProbing: boolean }
  | { readonly kind: 'ready'; readonly isProbing: boolean }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'closing' }
  | { readonly kind: 'closed'; readonly cause: CloseCause }

/** What a connection is at; immutable. */
export type MachineState = Carried & Phase
/** The names of the states. */
export type StateKind = Phase['kind']

/** Why a leader turned a hello down, or was turned down: `stranger` could not prove that it knows the key. */
export type Refusal = 'unauthorized' | 'incompatible' | 'draining' | 'stranger'

/** The timers of a connection; arming one again replaces it. */
export type TimerName = 'handshake' | 'ping' | 'silence' | 'stable' | 'goodbye' | 'deadline' | 'back_off'

interface OfSocket {
  readonly socket: number
}

/** What can happen to a connection. `silentMs` is how long nothing came from the leader, `retryAfterMs` what it asked for. */
export type MachineEvent =
  | { readonly kind: 'start' }
  | { readonly kind: 'located' }
  | { readonly kind: 'absent'; readonly isFinal: boolean }
  | ({ readonly kind: 'opened' } & OfSocket)
  | ({ readonly kind: 'accepted'; readonly hostState: HostState } & OfSocket)
  | ({ readonly kind: 'refused'; readonly why: Refusal } & OfSocket)
  | ({ readonly kind: 'host_state'; readonly hostState: HostState } & OfSocket)
  | ({ readonly kind: 'dropped'; readonly code: number; readonly retryAfterMs: number } & OfSocket)
  | { readonly kind: 'handshake_over' }
  | { readonly kind: 'ping_due' }
  | { readonly kind: 'silence_due'; readonly silentMs: number }
  | { readonly kind: 'stable' }
  | { readonly kind: 'back_off_over' }
  | { readonly kind: 'goodbye_over' }
  | { readonly kind: 'deadline_over' }
  | { readonly kind: 'nudge' }
  | { readonly kind: 'close' }
/** The names of the events. */
export type EventKind = MachineEvent['kind']

/** What the driver has to do; `drop` ends a socket whose later reports do not count. */
export type Effect =
  | { readonly kind: 'locate'; readonly maySpawn: boolean }
  | { readonly kind: 'dial'; readonly socket: number }
  | { readonly kind: 'hello' | 'ping' | 'bye' | 'drop'; readonly socket: number }
  | { readonly kind: 'arm'; readonly timer: TimerName; readonly afterMs: number }
  | { readonly kind: 'disarm'; readonly timer: TimerName }
  | { readonly kind: 'back_off'; readonly pace: Pace; readonly attempt: number; readonly atLeastMs: number }

/** What the caller wants. `isPatient`: the first connection waits for a leader until its deadline. Unit: ms. */
export interface Policy {
  readonly reconnect: boolean
  readonly isPatient: boolean
  readonly deadlineMs: number
}

/** The outcome of one event. */
export interface Step {
  readonly state: MachineState
  readonly effects: readonly Effect[]
}

/** A state of this name. */
export type StateOf<S extends StateKind> = Extract<MachineState, { kind: S }>
/** An event of this name. */
export type EventOf<E extends EventKind> = Extract<MachineEvent, { kind: E }>

/** Before `start`. */
export const INITIAL_STATE: MachineState = Object.freeze({
  kind: 'idle',
  attempt: 0,
  serial: 0,
  hasBeenReady: false,
  isOrderly: false,
})
