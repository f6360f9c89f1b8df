/** The transitions that the cells of the connection's table are made of. Each gives the next state and what to do. */
import { LIMITS } from '../../../schema/limits.ts'
import { CLOSE_CODES, closeReaction } from '../../../schema/wire/close-codes.ts'
import type {
  CloseCause,
  Effect,
  EventOf,
  MachineEvent,
  MachineState,
  Policy,
  StateOf,
  Step,
  TimerName,
} from './machine.ts'

/** Timers that belong to a socket and end with it. */
const SOCKET_TIMERS: readonly TimerName[] = ['handshake', 'ping', 'silence', 'stable']

/** A silence longer than the dead link's by this much means that this process slept: ask before giving up. Unit: ms. */
const SLEPT_MS = LIMITS.deadLinkMs + LIMITS.wakeProbeMs

/** Nothing changes. */
export const stay = (state: MachineState): Step => ({ state, effects: [] })
const disarm = (...timers: TimerName[]): Effect[] => timers.map(timer => ({ kind: 'disarm', timer }))
const carried = ({ attempt, serial, hasBeenReady, isOrderly }: MachineState) => ({
  attempt,
  serial,
  hasBeenReady,
  isOrderly,
})

function close(state: MachineState, cause: CloseCause, effects: readonly Effect[] = []): Step {
  const all = [...disarm(...SOCKET_TIMERS, 'goodbye', 'deadline', 'back_off'), ...effects]
  return { state: { ...carried(state), kind: 'closed', cause }, effects: all }
}

/**
 * Looks for a leader. None is started in place of one that left on purpose, nor at the first try after a loss: the leader may well be there.
 */
function locate(state: MachineState, effects: readonly Effect[] = []): Step {
  const maySpawn = !state.hasBeenReady || (!state.isOrderly && state.attempt > 1)
  return {
    state: { ...carried(state), kind: 'locating' },
    effects: [...effects, { kind: 'locate', maySpawn }],
  }
}

interface Loss {
  readonly atLeastMs?: number
  readonly isOrderly?: boolean
  readonly cause?: CloseCause
  readonly effects?: readonly Effect[]
}

/** The attempt or the connection is over: wait and try again, or end where nobody wants to wait. */
function lose(state: MachineState, policy: Policy, loss: Loss = {}): Step {
  const { atLeastMs = 0, isOrderly = state.isOrderly, cause = 'lost', effects = [] } = loss
  const goesOn = state.hasBeenReady ? policy.reconnect : policy.isPatient
  if (!goesOn) return close(state, cause, effects)
  const pace = state.hasBeenReady ? 'reconnect' : 'start'
  const back: Effect = { kind: 'back_off', pace, attempt: state.attempt, atLeastMs }
  return {
    state: { ...carried(state), kind: 'waiting', attempt: state.attempt + 1, isOrderly },
    effects: [...disarm(...SOCKET_TIMERS), ...effects, back],
  }
}

function drop(state: MachineState): Effect[] {
  return [{ kind: 'drop', socket: state.serial }]
}

/** The socket closed: its code says whether to stop or to try again, and how soon. Source: W6. */
export function onDropped(state: MachineState, event: EventOf<'dropped'>, policy: Policy): Step {
  if (event.code === CLOSE_CODES.unauthorized) return close(state, 'unauthorized')
  if (event.code === CLOSE_CODES.incompatible) return close(state, 'incompatible')
  if (closeReaction(event.code) === 'stop') return close(state, 'lost')
  const isDraining = event.code === CLOSE_CODES.draining
  const isOrderly = isDraining || state.isOrderly
  return lose(state, policy, { atLeastMs: event.retryAfterMs, isOrderly, cause: isOrderly ? 'draining' : 'lost' })
}

/** The hello was turned down. A stranger is no reason to give up a leader that was proved once. Source: W3, Z3. */
export function onRefused(state: MachineState, event: EventOf<'refused'>, policy: Policy): Step {
  if (event.why === 'incompatible') return close(state, 'incompatible', drop(state))
  if (event.why === 'unauthorized') return close(state, 'unauthorized', drop(state))
  if (event.why === 'stranger') return lose(state, policy, { cause: 'unauthorized', effects: drop(state) })
  return lose(state, policy, { isOrderly: true, cause: 'draining', effects: drop(state) })
}

const LIVENESS: readonly Effect[] = [
  { kind: 'arm', timer: 'ping', afterMs: LIMITS.pingIntervalMs },
  { kind: 'arm', timer: 'silence', afterMs: LIMITS.deadLinkMs },
]

function becomeReady(state: MachineState, effects: readonly Effect[]): Step {
  const stable: Effect = { kind: 'arm', timer: 'stable', afterMs: LIMITS.reconnectResetMs }
  return {
    state: { ...carried(state), kind: 'ready', isProbing: false, hasBeenReady: true, isOrderly: false },
    effects: [...disarm('deadline'), ...effects, stable],
  }
}

/** The handshake is over; the leader may still be recovering. Source: W3. */
export function onAccepted(state: MachineState, event: EventOf<'accepted'>, policy: Policy): Step {
  if (event.hostState === 'draining') {
    return lose(state, policy, { isOrderly: true, cause: 'draining', effects: drop(state) })
  }
  const begin: Effect[] = [...disarm('handshake'), { kind: 'ping', socket: state.serial }, ...LIVENESS]
  if (event.hostState === 'ready') return becomeReady(state, begin)
  return { state: { ...carried(state), kind: 'preparing', isProbing: false }, effects: begin }
}

type Alive = StateOf<'preparing'> | StateOf<'ready'>

/** Asks for a sign of life and arms the next question. Source: V9. */
export function onPingDue(state: Alive): Step {
  return {
    state,
    effects: [
      { kind: 'ping', socket: state.serial },
      { kind: 'arm', timer: 'ping', afterMs: LIMITS.pingIntervalMs },
    ],
  }
}

/** Asks for a sign of life and waits for it only a short time. Source: V9. */
export function probe(state: Alive): Step {
  return {
    state: { ...state, isProbing: true },
    effects: [
      { kind: 'ping', socket: state.serial },
      { kind: 'arm', timer: 'silence', afterMs: LIMITS.wakeProbeMs },
    ],
  }
}

/** Nothing may have come for too long: dead, or this process slept and asks first. Source: V9. */
export function onSilenceDue(state: Alive, event: EventOf<'silence_due'>, policy: Policy): Step {
  const limitMs = state.isProbing ? LIMITS.wakeProbeMs : LIMITS.deadLinkMs
  if (event.silentMs < limitMs) {
    const afterMs = LIMITS.deadLinkMs - event.silentMs
    return { state: { ...state, isProbing: false }, effects: [{ kind: 'arm', timer: 'silence', afterMs }] }
  }
  if (!state.isProbing && event.silentMs >= SLEPT_MS) return probe(state)
  return lose(state, policy, { effects: drop(state) })
}

/** Tells the leader and waits for its confirmation. Source: V12. */
export function sayGoodbye(state: MachineState): Step {
  return {
    state: { ...carried(state), kind: 'closing' },
    effects: [
      ...disarm(...SOCKET_TIMERS, 'deadline'),
      { kind: 'bye', socket: state.serial },
      { kind: 'arm', timer: 'goodbye', afterMs: LIMITS.closeConfirmMs },
    ],
  }
}

/** Opens the next socket. */
export function dial(state: MachineState): Step {
  const socket = state.serial + 1
  return {
    state: { ...carried(state), kind: 'dialling', serial: socket },
    effects: [
      { kind: 'dial', socket },
      { kind: 'arm', timer: 'handshake', afterMs: LIMITS.deadLinkMs },
    ],
  }
}

/** Ends at once; there is nobody to tell. */
export const closeNow = (state: MachineState): Step => close(state, 'closed')
/** Ends at once with the socket. */
export const dropAndClose = (state: MachineState): Step => close(state, 'closed', drop(state))
/** The first connection took too long. */
export const giveUp = (state: MachineState): Step => (state.hasBeenReady ? stay(state) : close(state, 'lost'))
/** The first connection took too long, with a socket on its way. */
export const dropAndGiveUp = (state: MachineState): Step =>
  state.hasBeenReady ? stay(state) : close(state, 'lost', drop(state))
/** The attempt took too long. */
export const loseSocket = (state: MachineState, _event: MachineEvent, policy: Policy): Step =>
  lose(state, policy, { effects: drop(state) })
/** The first look for a leader, under the deadline. Source: E3. */
export const startNow = (state: MachineState, _event: MachineEvent, policy: Policy): Step =>
  locate(state, [{ kind: 'arm', timer: 'deadline', afterMs: policy.deadlineMs }])

/** No leader was found. */
export const onAbsent = (state: MachineState, event: EventOf<'absent'>, policy: Policy): Step =>
  event.isFinal && !state.hasBeenReady ? close(state, 'lost') : lose(state, policy)
/** The socket is open. */
export const sayHello = (state: MachineState): Step => ({
  state: { ...carried(state), kind: 'handshaking' },
  effects: [{ kind: 'hello', socket: state.serial }],
})
/** A leader that was recovering moved on. */
export function onPreparingHostState(state: MachineState, event: EventOf<'host_state'>, policy: Policy): Step {
  if (event.hostState === 'ready') return becomeReady(state, [])
  if (event.hostState !== 'draining') return stay(state)
  return lose(state, policy, { isOrderly: true, cause: 'draining', effects: drop(state) })
}
/** A leader that starts to drain still answers; its end will be on purpose. */
export const onReadyHostState = (state: StateOf<'ready'>, event: EventOf<'host_state'>): Step =>
  stay(event.hostState === 'draining' ? { ...state, isOrderly: true } : state)
/** The connection held; the next loss starts with the shortest wait. */
export const becomeStable = (state: MachineState): Step => stay({ ...state, attempt: 0 })
/** The wait is over. */
export const tryAgain = (state: MachineState): Step => locate(state)
/** A user or a wake signal does not want to wait; a leader may be started again. Source: V9. */
export const tryNow = (state: MachineState): Step => locate({ ...state, isOrderly: false }, disarm('back_off'))
