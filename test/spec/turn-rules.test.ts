import { expect, test } from 'vitest'
import { BackendFailure } from '../../leader/index.ts'
import { TurnSnapshot } from '../../schema/entities/turn.ts'
import { LIMITS } from '../../schema/limits.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { ADA, BOB, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

async function handLeader(hand = new HandBackend()): Promise<{ leader: TestLeader; hand: HandBackend }> {
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  return { leader, hand }
}

const start = (turnId: string, text = 'hi', rest: object = {}) => ({
  sessionId: 's',
  turnId,
  content: { text },
  ...rest,
})

test('T1 T3 a start is two transitions; the reply comes when the run is durable', async () => {
  const { leader, hand } = await handLeader()
  const answer = await leader.call('turn.start', start('t1', 'hi', { maxSteps: 3 }))
  const { runId } = await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })
  const turn = { sessionId: 's', turnId: 't1', runId, status: 'running' }
  expect(answer).toMatchObject({ status: 200, result: { kind: 'started', turn }, revision: 3 })
  expect(await leader.transitions('s', 2)).toEqual([
    ['turn_admitted', 'session_updated'],
    ['run_started', 'user_message_appended'],
  ])
  const [, admitted, started] = await leader.ledger('s')
  const { admission } = (admitted?.events[0]?.payload ?? {}) as { admission: Record<string, unknown> }
  expect(admission).toEqual({
    turnId: 't1',
    runId,
    userMessageId: expect.any(String),
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: { text: 'hi' },
    sourceMessages: [
      {
        messageId: admission.userMessageId,
        content: { text: 'hi' },
        placement: 'next_turn',
        disposition: 'turn_started',
        submittedBy: ADA,
      },
    ],
    submittedBy: ADA,
    admittedAt: expect.any(Number),
    maxSteps: 3,
  })
  expect([admitted?.actor, started?.actor]).toEqual([ADA, 'leader'])
  const { context } = await hand.run('t1')
  expect([context.runId, context.input, context.maxSteps]).toEqual([runId, { text: 'hi' }, 3])
})

const MISSHAPEN: readonly [object, string][] = [
  [{}, 'turnId'],
  [{ turnId: 't' }, 'content'],
  [{ turnId: 't', content: { text: '' } }, 'content.text'],
  [{ turnId: 't', content: { text: 7 } }, 'content.text'],
  [{ turnId: 'a b', content: { text: 'x' } }, 'turnId'],
  [{ turnId: 'toString', content: { text: 'x' } }, 'turnId'],
  [{ turnId: 'x'.repeat(129), content: { text: 'x' } }, 'turnId'],
  [{ turnId: 't', content: { text: 'x' }, maxSteps: 0 }, 'maxSteps'],
  [{ turnId: 't', content: { text: 'x' }, surplus: 1 }, 'surplus'],
  [{ turnId: 't', content: { text: 'x', surplus: 1 } }, 'content.surplus'],
  [{ turnId: 't', content: { text: 'x', quotes: [{ text: 'q' }, { label: 'l' }] } }, 'content.quotes[1].text'],
]

test('T2 W2 W4 shape is checked at the door: the first fault is named, nothing is stored', async () => {
  const { leader } = await handLeader()
  for (const [input, path] of MISSHAPEN) {
    const answer = await leader.call('turn.start', { sessionId: 's', ...input })
    expect([input, answer]).toMatchObject([
      input,
      { status: 400, error: { code: 'invalid_request', message: expect.stringContaining(path), detail: { path } } },
    ])
  }
  expect(await leader.revision('s')).toBe(1)
})

test('T2 the order of refusals: not_found, archived, busy', async () => {
  const { leader } = await handLeader()
  expect((await leader.call('turn.start', { ...start('t1'), sessionId: 'nobody' })).status).toBe(404)
  await leader.ok('turn.start', start('t1'))
  const busy = await leader.call('turn.start', start('t2'))
  expect(busy).toMatchObject({
    status: 409,
    error: { code: 'session_busy', detail: { turnId: 't1', status: 'running' } },
  })
  const { runId } = await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId })
  await leader.ok('session.archive', { sessionId: 's' })
  expect((await leader.refused('turn.start', start('t2'))).code).toBe('session_archived')
})

test('T5 concurrent starts have one winner, and the losers leave nothing durable', async () => {
  const { leader } = await handLeader()
  const ids = Array.from({ length: 16 }, (_, i) => `t${i}`)
  const answers = await Promise.all(ids.map((id, i) => leader.call('turn.start', start(id), i % 2 === 0 ? ADA : BOB)))
  const winner = ids[answers.findIndex(answer => answer.ok)] as string
  expect(answers.filter(answer => answer.ok)).toHaveLength(1)
  for (const answer of answers) {
    if (!answer.ok) expect(answer.error).toMatchObject({ code: 'session_busy', detail: { turnId: winner } })
  }
  expect(await leader.revision('s')).toBe(3)
  for (const id of ids.filter(id => id !== winner)) {
    expect(await leader.ok('receipt.query', { sessionId: 's', operation: 'turn.start', id })).toEqual({ stored: false })
    expect((await leader.refused('turn.query', { sessionId: 's', turnId: id })).code).toBe('not_found')
  }
})

test('T6 a repeated start is the turn as it is: running, ended, while another runs, restarted, archived', async () => {
  const { leader, hand } = await handLeader()
  const first = await leader.ok('turn.start', start('t1'))
  expect(await leader.ok('turn.start', start('t1'), BOB)).toEqual(first)
  ;(await hand.run('t1')).fail(new BackendFailure('network', 'unreachable'))
  const turn = await leader.ended('s', 't1')
  expect(turn).toEqual({
    ...first.turn,
    status: 'failed',
    failureClass: 'network',
    failureMessage: 'unreachable',
    terminalEventId: expect.any(String),
  })
  const again = { kind: 'started', turn }
  expect(await leader.ok('turn.start', start('t1'))).toEqual(again)
  const second = await leader.ok('turn.start', start('t2'))
  expect(await leader.ok('turn.start', start('t1'))).toEqual(again)
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't2', runId: second.turn.runId })
  await leader.restart({ backends: [hand] })
  expect(await leader.ok('turn.start', start('t1'))).toEqual(again)
  await leader.ok('session.archive', { sessionId: 's' })
  const revision = await leader.revision('s')
  expect(await leader.ok('turn.start', start('t1'))).toEqual(again)
  const displayed = { sessionId: 's', turnId: 't1', content: { text: 'hi', displayText: 'hi', attachments: [] } }
  expect(await leader.ok('turn.start', displayed)).toEqual(again)
  for (const other of [start('t1', 'bye'), start('t1', 'hi', { maxSteps: 1 })]) {
    expect((await leader.refused('turn.start', other)).code).toBe('operation_conflict')
  }
  expect(await leader.revision('s')).toBe(revision)
})

test('T6 a turn that a message started cannot be started again under its id', async () => {
  const { leader, hand } = await handLeader()
  const submitted = await leader.submit('s', 'm1', 'next_turn', 'hi')
  const { turnId } = submitted as { turnId: string }
  expect((await leader.refused('turn.start', start(turnId, 'mine'))).code).toBe('operation_conflict')
  ;(await hand.run(turnId)).complete()
  await leader.ended('s', turnId)
  await leader.ok('turn.start', start('t2'))
  await leader.restart({ backends: [hand] })
  expect((await leader.refused('turn.start', start(turnId, 'mine'))).code).toBe('operation_conflict')
  expect(await leader.ok('turn.start', start(turnId, 'hi'))).toMatchObject({ turn: { turnId, status: 'completed' } })
  expect((await leader.ledger('s')).flatMap(r => r.events).filter(e => e.type === 'turn_admitted')).toHaveLength(2)
})

test('T8 turn.stop: unknown, another run, active, again, ended', async () => {
  const { leader, hand } = await handLeader()
  const { runId } = (await leader.ok('turn.start', start('t1'))).turn
  const stop = (turnId: string, id: string) => leader.call('turn.stop', { sessionId: 's', turnId, runId: id })
  expect(await stop('nobody', runId)).toMatchObject({ status: 404, error: { code: 'not_found' } })
  expect(await stop('t1', 'r')).toMatchObject({ status: 409, error: { code: 'operation_conflict', detail: { runId } } })
  const stopped = await stop('t1', runId)
  const keys = { sessionId: 's', turnId: 't1', runId, terminalEventId: expect.any(String) }
  expect(stopped).toMatchObject({ ok: true, result: { ...keys, status: 'cancelled', abortSource: 'user_stop' } })
  expect(stopped.ok && (await leader.ok('turn.query', { sessionId: 's', turnId: 't1' }))).toEqual(
    stopped.ok && stopped.result,
  )
  expect(await stop('t1', runId)).toEqual(stopped)
  const second = (await leader.ok('turn.start', start('t2'))).turn
  ;(await hand.run('t2')).complete()
  const ended = await leader.ended('s', 't2')
  expect(await leader.ok('turn.stop', { sessionId: 's', turnId: 't2', runId: second.runId })).toEqual(ended)
  const types = (await leader.ledger('s')).flatMap(r => r.events.map(e => e.type))
  expect(types.filter(type => type.startsWith('run_c'))).toEqual(['run_cancelled', 'run_completed'])
})

test('T8 Q9 I5 a stop parks the queue and closes what is pending in one transition, before the end', async () => {
  const { leader, hand } = await handLeader()
  const { runId } = (await leader.ok('turn.start', start('t1'))).turn
  const { context } = await hand.run('t1')
  const asked = context.ask({ questions: [{ question: 'Which?', options: [] }] }).catch(error => error)
  await leader.submit('s', 'm1', 'next_turn')
  await waitFor(async () => (await leader.ok('interaction.list', {})).interactions.length === 1)
  const from = (await leader.revision('s')) + 1
  await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId })
  expect(await leader.transitions('s', from)).toEqual([
    ['queue_entries_parked', 'interaction_closed'],
    ['run_cancelled', 'turn_settled'],
  ])
  expect(await asked).toBe(context.signal.reason)
})

test('T9 a backend that ignores its stop is cut off after 5 s; what it sends later changes nothing', async () => {
  const { leader, hand } = await handLeader(new HandBackend({ ignoresStop: true }))
  const { runId } = (await leader.ok('turn.start', start('t1'))).turn
  const run = await hand.run('t1')
  await run.context.text('before')
  const begun = performance.now()
  const turn = await leader.ok('turn.stop', { sessionId: 's', turnId: 't1', runId })
  const elapsedMs = performance.now() - begun
  expect(turn).toMatchObject({ status: 'cancelled', abortSource: 'user_stop' })
  expect(elapsedMs).toBeGreaterThan(LIMITS.stopCutoffMs - 100)
  const ledger = await leader.ledger('s')
  const late = [
    run.context.text('late'),
    run.context.notice('late'),
    run.context.toolStart({ toolCallId: 'c', name: 'n', title: 't' }),
    run.context.ask({ questions: [{ question: 'late?', options: [] }] }),
    run.context.pullSteering(),
  ]
  for (const outcome of await Promise.allSettled(late)) expect(outcome.status).toBe('rejected')
  run.complete()
  await leader.ok('turn.start', start('t2'))
  ;(await hand.run('t2')).complete()
  await leader.ended('s', 't2')
  expect((await leader.ledger('s')).slice(0, ledger.length)).toEqual(ledger)
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 10 })
  expect(page.entries.map(entry => ('text' in entry ? entry.text : entry.kind))).toEqual(['user', 'before', 'user'])
  expect(await leader.ok('turn.query', { sessionId: 's', turnId: 't1' })).toEqual(turn)
})

test('T11 every end is one event, and every place shows the same snapshot', async () => {
  const { leader, hand } = await handLeader()
  const ends = [
    [(run: Awaited<ReturnType<HandBackend['run']>>) => run.complete(), 'run_completed'],
    [run => run.fail(new BackendFailure('rate_limit', 'x'.repeat(5_000))), 'run_failed'],
    [run => run.fail(new Error('broken')), 'run_failed'],
  ] as const satisfies readonly (readonly [(run: Awaited<ReturnType<HandBackend['run']>>) => void, string])[]
  for (const [i, [end, type]] of ends.entries()) {
    const turnId = `t${i}`
    await leader.ok('turn.start', start(turnId))
    end(await hand.run(turnId))
    const turn = await leader.ended('s', turnId)
    expect(TurnSnapshot.parse(turn)).toEqual(turn)
    expect((await leader.ok('turn.start', start(turnId))).turn).toEqual(turn)
    const events = (await leader.ledger('s')).flatMap(r => r.events).filter(e => e.payload.turnId === turnId)
    const terminal = events.filter(e => /^run_(completed|failed|cancelled)$/.test(e.type))
    expect(terminal.map(e => [e.type, e.payload.eventId])).toEqual([
      [type, 'terminalEventId' in turn ? turn.terminalEventId : ''],
    ])
    if (i === 1) expect(Buffer.byteLength((turn as { failureMessage: string }).failureMessage)).toBe(1024)
    if (i === 2) expect(turn).toMatchObject({ failureClass: 'backend_error', failureMessage: 'broken' })
  }
})

test('T12 the end of a turn is a transition of its own, the successor the next', async () => {
  const { leader, hand } = await handLeader()
  await leader.ok('turn.start', start('t1'))
  await leader.submit('s', 'm1', 'next_turn')
  const from = (await leader.revision('s')) + 1
  ;(await hand.run('t1')).complete()
  await waitFor(() => hand.runs.length === 2)
  await waitFor(async () => (await leader.revision('s')) >= from + 2)
  expect(await leader.transitions('s', from)).toEqual([
    ['run_completed', 'turn_settled'],
    ['queue_handed_on', 'turn_admitted'],
    ['run_started', 'user_message_appended'],
  ])
})

test('E9 at most 32 turns run at once; the next ones wait as admitted, in order, and can be stopped', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  const ids = Array.from({ length: LIMITS.maxActiveTurns + 3 }, (_, i) => `s${i}`)
  const turns = []
  for (const id of ids) {
    await leader.create(id, 'hand')
    turns.push(await leader.startTurn(id, 't', 'x'))
  }
  expect(turns.map(turn => turn.status)).toEqual(
    ids.map((_, i) => (i < LIMITS.maxActiveTurns ? 'running' : 'admitted')),
  )
  expect((await leader.ok('host.status', {})).activeTurns).toBe(ids.length)
  const [first, second, third] = ids.slice(-3) as [string, string, string]
  const status = async (sessionId: string) => (await leader.ok('turn.query', { sessionId, turnId: 't' })).status
  expect((await leader.ok('session.get', { sessionId: second })).session.status).toBe('running')
  const runId = turns[LIMITS.maxActiveTurns]?.runId as string
  expect(await leader.ok('turn.stop', { sessionId: first, turnId: 't', runId })).toMatchObject({ status: 'cancelled' })
  hand.runs[0]?.complete()
  await waitFor(async () => (await status(second)) === 'running')
  expect(await status(third)).toBe('admitted')
  hand.runs[1]?.complete()
  await waitFor(async () => (await status(third)) === 'running')
  expect(hand.runs.map(run => run.context.session.sessionId).slice(-2)).toEqual([second, third])
})
