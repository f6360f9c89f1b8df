import { expect, test } from 'vitest'
import { backOffCeilingMs, backOffMs } from '../../replica/client/link/back-off.ts'
import type {
  Effect,
  EventKind,
  MachineEvent,
  MachineState,
  Policy,
  StateKind,
} from '../../replica/client/link/machine.ts'
import { stepMachine } from '../../replica/client/link/machine-table.ts'

const CARRIED = { attempt: 3, serial: 7, hasBeenReady: true, isOrderly: false }

const STATES: { readonly [S in StateKind]: MachineState } = {
  idle: { ...CARRIED, kind: 'idle' },
  locating: { ...CARRIED, kind: 'locating' },
  dialling: { ...CARRIED, kind: 'dialling' },
  handshaking: { ...CARRIED, kind: 'handshaking' },
  preparing: { ...CARRIED, kind: 'preparing', isProbing: false },
  ready: { ...CARRIED, kind: 'ready', isProbing: false },
  waiting: { ...CARRIED, kind: 'waiting' },
  closing: { ...CARRIED, kind: 'closing' },
  closed: { ...CARRIED, kind: 'closed', cause: 'closed' },
}

const EVENTS: { readonly [E in EventKind]: MachineEvent } = {
  start: { kind: 'start' },
  located: { kind: 'located' },
  absent: { kind: 'absent', isFinal: false },
  opened: { kind: 'opened', socket: 7 },
  accepted: { kind: 'accepted', socket: 7, hostState: 'ready' },
  refused: { kind: 'refused', socket: 7, why: 'unauthorized' },
  host_state: { kind: 'host_state', socket: 7, hostState: 'ready' },
  dropped: { kind: 'dropped', socket: 7, code: 1006, retryAfterMs: 0 },
  handshake_over: { kind: 'handshake_over' },
  ping_due: { kind: 'ping_due' },
  silence_due: { kind: 'silence_due', silentMs: 12_000 },
  stable: { kind: 'stable' },
  back_off_over: { kind: 'back_off_over' },
  goodbye_over: { kind: 'goodbye_over' },
  deadline_over: { kind: 'deadline_over' },
  nudge: { kind: 'nudge' },
  close: { kind: 'close' },
}

/**
 * What the machine has to do, written from the rules and not from its code: `state event → state: effects`. Every pair that is not listed
 * changes nothing. Disarming is left out.
 */
const TABLE = `
  idle         start          → locating:    arm deadline 45000, locate spawn
  idle         close          → closed

  locating     located        → dialling:    dial 8, arm handshake 12000
  locating     absent         → waiting:     back_off reconnect 3 0
  locating     close          → closed

  dialling     opened         → handshaking: hello 7
  dialling     dropped        → waiting:     back_off reconnect 3 0
  dialling     handshake_over → waiting:     drop 7, back_off reconnect 3 0
  dialling     close          → closed:      drop 7

  handshaking  accepted       → ready:       ping 7, arm ping 5000, arm silence 12000, arm stable 10000
  handshaking  refused        → closed:      drop 7
  handshaking  dropped        → waiting:     back_off reconnect 3 0
  handshaking  handshake_over → waiting:     drop 7, back_off reconnect 3 0
  handshaking  close          → closed:      drop 7

  preparing    host_state     → ready:       arm stable 10000
  preparing    dropped        → waiting:     back_off reconnect 3 0
  preparing    ping_due       → preparing:   ping 7, arm ping 5000
  preparing    silence_due    → waiting:     drop 7, back_off reconnect 3 0
  preparing    nudge          → preparing:   ping 7, arm silence 3000
  preparing    close          → closing:     bye 7, arm goodbye 2000

  ready        dropped        → waiting:     back_off reconnect 3 0
  ready        ping_due       → ready:       ping 7, arm ping 5000
  ready        silence_due    → waiting:     drop 7, back_off reconnect 3 0
  ready        nudge          → ready:       ping 7, arm silence 3000
  ready        close          → closing:     bye 7, arm goodbye 2000

  waiting      back_off_over  → locating:    locate spawn
  waiting      nudge          → locating:    locate spawn
  waiting      close          → closed

  closing      dropped        → closed
  closing      goodbye_over   → closed:      drop 7
`

const POLICY: Policy = { reconnect: true, isPatient: true, deadlineMs: 45_000 }

function words(effect: Effect): string {
  switch (effect.kind) {
    case 'locate':
      return effect.maySpawn ? 'locate spawn' : 'locate'
    case 'arm':
      return `arm ${effect.timer} ${effect.afterMs}`
    case 'disarm':
      return ''
    case 'back_off':
      return `back_off ${effect.pace} ${effect.attempt} ${effect.atLeastMs}`
    case 'dial':
    case 'hello':
    case 'ping':
    case 'bye':
    case 'drop':
      return `${effect.kind} ${effect.socket}`
  }
}

function take(state: MachineState, event: MachineEvent, policy = POLICY): string {
  const step = stepMachine(state, event, policy)
  const effects = step.effects.map(words).filter(text => text !== '')
  return `${step.state.kind}${effects.length === 0 ? '' : `: ${effects.join(', ')}`}`
}

function readTable(): Map<string, string> {
  const expected = new Map<string, string>()
  for (const line of TABLE.split('\n')) {
    const [pair, outcome] = line.split('→')
    if (pair === undefined || outcome === undefined) continue
    expected.set(pair.trim().replace(/ +/, ' '), outcome.trim().replace(/: +/, ': '))
  }
  return expected
}

test('V9 V12 E3 every state and every event do what the table says', () => {
  const expected = readTable()
  const all = new Map<string, string>()
  const wanted = new Map<string, string>()
  for (const [kind, state] of Object.entries(STATES)) {
    for (const [name, event] of Object.entries(EVENTS)) {
      const pair = `${kind} ${name}`
      all.set(pair, take(state, event))
      wanted.set(pair, expected.get(pair) ?? kind)
      expected.delete(pair)
    }
  }
  expect([...expected.keys()]).toEqual([])
  expect(Object.fromEntries(all)).toEqual(Object.fromEntries(wanted))
})

test('V9 what an old socket still reports changes nothing', () => {
  const old: MachineEvent[] = [
    { kind: 'dropped', socket: 6, code: 4401, retryAfterMs: 0 },
    { kind: 'accepted', socket: 6, hostState: 'ready' },
    { kind: 'refused', socket: 6, why: 'incompatible' },
    { kind: 'host_state', socket: 6, hostState: 'draining' },
    { kind: 'opened', socket: 6 },
  ]
  for (const state of Object.values(STATES)) {
    for (const event of old) expect(stepMachine(state, event, POLICY)).toEqual({ state, effects: [] })
  }
})

test('E3 a first connection without patience ends at once and says why', () => {
  const policy = { ...POLICY, isPatient: false }
  const first = { ...CARRIED, hasBeenReady: false }
  const cause = (state: MachineState, event: MachineEvent) => {
    const next = stepMachine(state, event, policy).state
    return next.kind === 'closed' ? next.cause : next.kind
  }
  const handshaking: MachineState = { ...first, kind: 'handshaking' }
  expect([
    cause({ ...first, kind: 'locating' }, { kind: 'absent', isFinal: false }),
    cause({ ...first, kind: 'dialling' }, EVENTS.dropped),
    cause(handshaking, { kind: 'refused', socket: 7, why: 'draining' }),
    cause(handshaking, { kind: 'refused', socket: 7, why: 'stranger' }),
    cause(handshaking, { kind: 'refused', socket: 7, why: 'incompatible' }),
    cause(handshaking, { kind: 'accepted', socket: 7, hostState: 'draining' }),
    cause(handshaking, { kind: 'accepted', socket: 7, hostState: 'recovering' }),
    cause({ ...first, kind: 'preparing', isProbing: false }, { kind: 'deadline_over' }),
  ]).toEqual(['lost', 'lost', 'draining', 'unauthorized', 'incompatible', 'draining', 'preparing', 'lost'])
})

test('E3 a patient first connection waits through draining and absence, with the short pace', () => {
  const first = { ...CARRIED, attempt: 0, hasBeenReady: false }
  expect(take({ ...first, kind: 'locating' }, { kind: 'absent', isFinal: false })).toBe('waiting: back_off start 0 0')
  expect(take({ ...first, kind: 'locating' }, { kind: 'absent', isFinal: true })).toBe('closed')
  const drained = stepMachine(
    { ...first, kind: 'handshaking' },
    { kind: 'refused', socket: 7, why: 'draining' },
    POLICY,
  )
  expect(drained.state).toEqual({ ...first, kind: 'waiting', attempt: 1, isOrderly: true })
  expect(take(drained.state, { kind: 'back_off_over' })).toBe('locating: locate spawn')
  expect(take({ ...first, kind: 'waiting' }, { kind: 'deadline_over' })).toBe('closed')
})

test('E3 a leader that left on purpose is awaited, not replaced, until somebody asks', () => {
  const draining: MachineEvent = { kind: 'host_state', socket: 7, hostState: 'draining' }
  const ready = stepMachine(STATES.ready, draining, POLICY).state
  expect(ready).toEqual({ ...CARRIED, kind: 'ready', isProbing: false, isOrderly: true })
  const close: MachineEvent = { kind: 'dropped', socket: 7, code: 4500, retryAfterMs: 250 }
  expect(take(ready, close)).toBe('waiting: back_off reconnect 3 250')
  const waiting = stepMachine(STATES.ready, close, POLICY).state
  expect(take(waiting, { kind: 'back_off_over' })).toBe('locating: locate')
  expect(take(waiting, { kind: 'nudge' })).toBe('locating: locate spawn')
})

test('E3 the first try after a loss starts no leader: it may well be there', () => {
  const lost = stepMachine({ ...STATES.ready, attempt: 0 }, EVENTS.dropped, POLICY).state
  expect(take(lost, { kind: 'back_off_over' })).toBe('locating: locate')
})

test('V11 W6 refusals and codes that stop end the connection; codes that retry do not', () => {
  const after = (code: number) => {
    const { state } = stepMachine(STATES.ready, { kind: 'dropped', socket: 7, code, retryAfterMs: 0 }, POLICY)
    return state.kind === 'closed' ? state.cause : state.kind
  }
  const codes = [4401, 4406, 4404, 4408, 4500, 4501, 4502, 1006, 1007, 1008, 1009, 1000]
  expect(codes.map(after)).toEqual([
    'unauthorized',
    'incompatible',
    'lost',
    ...Array.from({ length: 9 }, () => 'waiting'),
  ])
  const final = stepMachine(STATES.ready, EVENTS.dropped, { ...POLICY, reconnect: false }).state
  expect(final).toEqual({ ...CARRIED, kind: 'closed', cause: 'lost' })
})

test('Z3 a stranger at the address is no reason to give up a leader that was proved once', () => {
  const stranger: MachineEvent = { kind: 'refused', socket: 7, why: 'stranger' }
  expect(take(STATES.handshaking, stranger)).toBe('waiting: drop 7, back_off reconnect 3 0')
})

test('V9 a silence is over when something came, asks first after a sleep, and gives up when the answer stays out', () => {
  const silence = (silentMs: number): MachineEvent => ({ kind: 'silence_due', silentMs })
  expect(take(STATES.ready, silence(4_000))).toBe('ready: arm silence 8000')
  expect(take(STATES.ready, silence(3_600_000))).toBe('ready: ping 7, arm silence 3000')
  const probing = stepMachine(STATES.ready, silence(3_600_000), POLICY).state
  expect(take(probing, silence(2_990))).toBe('ready: arm silence 9010')
  expect(take(probing, silence(3_603_000))).toBe('waiting: drop 7, back_off reconnect 3 0')
})

test('V9 the failures are forgotten when a connection held, not when it was made', () => {
  const accepted = stepMachine(STATES.handshaking, EVENTS.accepted, POLICY).state
  expect(accepted.attempt).toBe(3)
  expect(stepMachine(accepted, { kind: 'stable' }, POLICY).state.attempt).toBe(0)
})

test('V9 E3 back-off doubles from the first to the cap and takes its full width from chance', () => {
  const ceilings = [0, 1, 2, 3, 4, 5, 6, 7, 8, 1_000].map(attempt => backOffCeilingMs('reconnect', attempt))
  expect(ceilings).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000])
  expect([0, 1, 2, 3, 4, 5].map(attempt => backOffCeilingMs('start', attempt))).toEqual([20, 40, 80, 160, 250, 250])
  const wait = (random: number) => backOffMs({ pace: 'reconnect', attempt: 9, random, atLeastMs: 500 })
  expect([wait(0), wait(0.5), wait(0.999)]).toEqual([500, 5_500, 10_490])
})
