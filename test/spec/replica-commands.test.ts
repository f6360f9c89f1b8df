import { expect, test } from 'vitest'
import { readInput } from '../../replica/client/commands/inputs.ts'
import { ReplicaOperationError, ReplicaProtocolError } from '../../replica/client/types.ts'
import { SessionWriter } from '../support/replica/session-writer.ts'
import { SESSION, World } from '../support/replica/world.ts'

const TURN = { sessionId: 's1', turnId: 't1', content: { text: 'hello' } }

/** The code a promise rejects with; undefined while nothing happened, `ok` when it resolved. */
function watch(promise: Promise<unknown>): { code: string | undefined } {
  const outcome: { code: string | undefined } = { code: undefined }
  promise.then(
    () => {
      outcome.code = 'ok'
    },
    (error: { code?: string }) => {
      outcome.code = error.code
    },
  )
  return outcome
}

test('W2 a command travels as a frame and resolves to its result', async () => {
  const world = new World()
  const connection = await world.connect()
  const turn = { sessionId: 's1', turnId: 't1', runId: 'r1', status: 'running' }
  world.leader.onCommand = command => world.leader.reply(command, { kind: 'started', turn })
  expect(await world.during(connection.startTurn(TURN))).toEqual({ kind: 'started', turn })
  const [{ end: _end, ...frame } = { end: null }] = world.leader.commands
  expect(frame).toEqual({ requestId: 'r1', operation: 'turn.start', input: TURN })
})

test('W2 a refusal keeps its code, its words and its detail; an unknown code is an internal failure', async () => {
  const world = new World()
  const connection = await world.connect()
  const detail = { turn: { turnId: 't0' } }
  world.leader.onCommand = command => world.leader.refuse(command, 'session_busy', detail)
  const busy = await world.during(connection.startTurn(TURN).catch((error: unknown) => error))
  expect(busy).toBeInstanceOf(ReplicaOperationError)
  expect(busy).toMatchObject({ code: 'session_busy', message: 'refused: session_busy', detail })
  world.leader.onCommand = command => world.leader.refuse(command, 'a_code_of_a_later_version')
  const unknown = await world.during(connection.startTurn(TURN).catch((error: unknown) => error))
  expect(unknown).toMatchObject({ code: 'internal_failure', message: 'refused: a_code_of_a_later_version' })
})

test('W2 an input that does not fit is rejected with the path of its first fault, and nothing is sent', async () => {
  const world = new World()
  const connection = await world.connect()
  const faults: [string, unknown, string][] = [
    ['turn.start', { ...TURN, extra: 1 }, 'extra'],
    ['turn.start', { sessionId: 's1', turnId: 't1' }, 'content'],
    ['turn.start', { ...TURN, content: { text: '' } }, 'content.text'],
    ['turn.start', { ...TURN, content: { text: 'a', quotes: [{ text: 'q' }, { text: 3 }] } }, 'content.quotes[1].text'],
    ['turn.start', { ...TURN, sessionId: '__proto__' }, 'sessionId'],
    ['session.archive', null, ''],
  ]
  for (const [operation, input, path] of faults) {
    const error = await connection.request(operation as 'turn.start', input as typeof TURN).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ReplicaProtocolError)
    expect([operation, (error as ReplicaProtocolError).path]).toEqual([operation, path])
  }
  await expect(connection.request('no.such' as 'turn.start', TURN)).rejects.toBeInstanceOf(ReplicaProtocolError)
  await world.network.flush()
  expect(world.leader.commands).toEqual([])
})

test('A5 an operationId is made where it identifies the command and the caller gave none', () => {
  const input = { sessionId: 's1' }
  expect(readInput('session.archive', input, () => 'made')).toEqual({ sessionId: 's1', operationId: 'made' })
  expect(readInput('session.archive', { ...input, operationId: 'mine' }, () => 'made')).toEqual({
    sessionId: 's1',
    operationId: 'mine',
  })
  expect(readInput('queue.retract', { ...input, retractId: 'x' }, () => 'made')).toEqual({ ...input, retractId: 'x' })
  expect(readInput('host.status', {}, () => 'made')).toEqual({})
  expect(input).toEqual({ sessionId: 's1' })
})

test('A5 BL-02 a command whose answer was lost is sent again under the same identity and settled once', async () => {
  const world = new World()
  const connection = await world.connect()
  const mine = { sessionId: 's1' }
  const archived = watch(connection.request('session.archive', mine))
  await world.network.flush()
  mine.sessionId = 'changed-by-the-caller'
  for (const epoch of ['epoch-2', 'epoch-3']) {
    world.kill()
    const dead = world.leader
    await world.pass(300)
    world.start({ hostEpoch: epoch })
    await world.pass(3_000)
    expect(world.leader.commands.map(({ operation, input }) => ({ operation, input }))).toEqual(
      dead.commands.map(({ operation, input }) => ({ operation, input })),
    )
    expect(world.leader.commands.map(c => c.requestId)).not.toEqual(dead.commands.map(c => c.requestId))
  }
  const [command] = world.leader.commands
  expect(command?.input).toEqual({ sessionId: 's1', operationId: expect.stringMatching(/^id-\d+$/) })
  world.leader.reply(command as never, { session: {} })
  world.leader.reply(command as never, { session: {} })
  await world.network.flush()
  expect(archived.code).toBe('ok')
})

test('A5 a leader that is not ready for a command sent before does not settle it', async () => {
  const world = new World()
  const connection = await world.connect()
  const outcome = watch(connection.startTurn(TURN))
  await world.network.flush()
  world.kill()
  world.start({ hostEpoch: 'epoch-2' })
  world.leader.onCommand = command => world.leader.refuse(command, 'host_draining')
  await world.pass(1_000)
  expect([world.leader.commands.length, outcome.code]).toEqual([1, undefined])
  world.kill()
  world.start({ hostEpoch: 'epoch-3' })
  world.leader.onCommand = command => world.leader.refuse(command, 'session_archived')
  await world.pass(3_000)
  expect(outcome.code).toBe('session_archived')
  world.leader.onCommand = command => world.leader.refuse(command, 'host_draining')
  await expect(world.during(connection.startTurn(TURN))).rejects.toMatchObject({ code: 'host_draining' })
})

test('E5 giving up the waiting is a timeout here and no cancel there', async () => {
  const world = new World()
  const connection = await world.connect()
  const abort = new AbortController()
  const aborted = watch(connection.startTurn(TURN, { signal: abort.signal }))
  const late = watch(connection.startTurn({ ...TURN, turnId: 't2' }, { timeoutMs: 1_000 }))
  const query = watch(connection.queryTurn({ sessionId: 's1', turnId: 't1' }, { timeoutMs: 1_000 }))
  await world.network.flush()
  abort.abort()
  await world.pass(1_100)
  expect([aborted.code, late.code, query.code]).toEqual(['timeout', 'timeout', 'timeout'])
  world.kill()
  world.start({ hostEpoch: 'epoch-2' })
  await world.pass(1_000)
  expect(world.leader.commands.map(command => command.input.turnId)).toEqual(['t1', 't2'])
  await expect(connection.startTurn(TURN, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'timeout' })
})

test('A5 while there is no leader a new command is offline at once, an old one stays', async () => {
  const world = new World()
  const connection = await world.connect()
  const old = watch(connection.startTurn(TURN))
  await world.network.flush()
  world.kill()
  await world.network.flush()
  await expect(connection.startTurn({ ...TURN, turnId: 't2' })).rejects.toMatchObject({ code: 'offline' })
  expect(old.code).toBe(undefined)
  world.start({ hostEpoch: 'epoch-2' })
  await world.pass(1_000)
  expect(world.leader.commands.map(command => command.input.turnId)).toEqual(['t1'])
})

test('A5 a command without an answer when the connection is closed has an unknown outcome', async () => {
  const world = new World()
  const connection = await world.connect()
  const outcome = watch(connection.startTurn(TURN))
  await world.network.flush()
  await world.during(connection.close())
  expect(outcome.code).toBe('outcome_unknown')
  await expect(connection.startTurn(TURN)).rejects.toMatchObject({ code: 'offline' })
})

test('A5 M2 a shutdown is never sent to a successor', async () => {
  const world = new World()
  const connection = await world.connect()
  const stop = watch(connection.request('host.shutdown', {}))
  const status = watch(connection.status())
  await world.network.flush()
  world.kill()
  world.start({ hostEpoch: 'epoch-2' })
  await world.pass(1_000)
  expect([stop.code, status.code]).toEqual(['outcome_unknown', undefined])
  expect(world.leader.commands.map(command => command.operation)).toEqual(['host.status'])
})

test('W2 at most 64 commands are in flight, the rest follows in order, and more than fit are refused', async () => {
  const world = new World()
  const connection = await world.connect()
  const outcomes = Array.from({ length: 64 + 1_024 + 1 }, (_, i) =>
    watch(connection.startTurn({ ...TURN, turnId: `t${i}` })),
  )
  await world.network.flush()
  expect(world.leader.commands.length).toBe(64)
  expect(outcomes.map(outcome => outcome.code).filter(code => code !== undefined)).toEqual(['rate_limited'])
  const [first, second] = world.leader.commands
  world.leader.reply(second as never, {})
  world.leader.reply(first as never, {})
  await world.network.flush()
  expect(world.leader.commands.map(command => command.input.turnId)).toEqual(
    Array.from({ length: 66 }, (_, i) => `t${i}`),
  )
  world.kill()
  world.start({ hostEpoch: 'epoch-2' })
  world.leader.onCommand = command => world.leader.reply(command, {})
  await world.pass(1_000)
  const sent = world.leader.commands.map(command => command.input.turnId)
  expect(sent).toEqual(Array.from({ length: 1_086 }, (_, i) => `t${i + 2}`))
  expect(outcomes.filter(outcome => outcome.code === 'ok').length).toBe(1_088)
})

test('W2 progress of a long request reaches its caller', async () => {
  const world = new World()
  const connection = await world.connect()
  const seen: unknown[] = []
  const verified = connection.request('root.verify', {}, { onProgress: progress => seen.push(progress) })
  await world.network.flush()
  const [command] = world.leader.commands
  world.leader.push(command as never, { sessions: 1 })
  world.leader.push(command as never, { sessions: 2 })
  world.leader.reply(command as never, { sessions: 2, records: 4, documents: 2, faults: [] })
  expect(await world.during(verified)).toEqual({ sessions: 2, records: 4, documents: 2, faults: [] })
  expect(seen).toEqual([{ sessions: 1 }, { sessions: 2 }])
})

test('V8 a command resolves when the projection that is followed includes it, or is not live any more', async () => {
  const world = new World()
  const connection = await world.connect()
  const writer = new SessionWriter('s1', 'g1')
  world.leader.serve(SESSION, writer.doc)
  const session = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  world.leader.onCommand = command => world.leader.reply(command, {}, writer.head.revision)

  const update = writer.retitle('new')
  let seen = ''
  const renamed = connection.startTurn(TURN).then(() => {
    seen = session.current.session.title
  })
  await world.network.flush()
  expect(seen).toBe('')
  world.leader.publish(SESSION, update)
  await world.during(renamed)
  expect(seen).toBe('new')

  writer.retitle('lost on the way')
  const outcome = watch(connection.startTurn({ ...TURN, turnId: 't2' }))
  await world.network.flush()
  expect([session.freshness.state, outcome.code]).toEqual(['live', undefined])
  world.kill()
  await world.network.flush()
  expect([session.freshness.state, outcome.code]).toEqual(['offline', 'ok'])
})

test('V8 a document that stays behind an answer is synced again instead of keeping the caller', async () => {
  const world = new World()
  const connection = await world.connect()
  const writer = new SessionWriter('s1', 'g1')
  world.leader.serve(SESSION, writer.doc)
  const session = await world.during(connection.openSessionSubscription({ sessionId: 's1' }))
  world.leader.onCommand = command => world.leader.reply(command, {}, writer.head.revision)
  writer.retitle('the update never came')
  const outcome = watch(connection.startTurn(TURN))
  for (let i = 0; i < 3; i++) {
    // The leader's sign of life: the socket is not dead, only this update is missing.
    await world.pass(4_000)
    world.leader.publish(SESSION, Uint8Array.of(0, 0))
  }
  await world.pass(1_000)
  expect([outcome.code, session.current.session.title, session.freshness.state]).toEqual([
    'ok',
    'the update never came',
    'live',
  ])
})
